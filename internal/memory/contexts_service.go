// The words of contexts (contracts 3, 5 and 6): a host is the program that runs an
// agent and builds its requests. Its catalogue is the rules, references and tools that
// it registered. A session context holds the entries that are always included and
// those added by hand. A request context is built for one message, one turn of a
// session, from the session context and what is relevant to the message. A working
// context is the discovered and used tools and the entities of a session; compaction
// clears it. The ledger keeps a receipt of every context and every answer.

package memory

// Ref identifies an entry: its type, its name and, of a tool, its server.
type Ref struct {
	Type       Kind   `json:"type" enum:"rule,reference,tool"` // rule, reference or tool
	Name       string `json:"name" limit:"1-200"`
	ServerName string `json:"serverName,omitempty" limit:"0-200" desc:"Of a tool; rules and references have none." out:"-"`
}

// ToolRef identifies a tool.
type ToolRef struct {
	ServerName string `json:"serverName" limit:"0-200" mcp:"optional"`
	ToolName   string `json:"toolName" limit:"1-200"`
}

// String writes a tool as contexts show it: "filesystem:read_file".
func (t ToolRef) String() string { return t.ServerName + ":" + t.ToolName }

// Ref returns the tool's identity among all entries.
func (t ToolRef) Ref() Ref { return Ref{Type: Tool, Name: t.ToolName, ServerName: t.ServerName} }

// SessionRef says whose session is meant. SessionID is by default the caller's current
// session; CodeInvalidInput when none is open, CodeNotFound for an unknown id.
type SessionRef struct {
	SessionID string `json:"sessionId,omitempty" limit:"4-200" text:"id" desc:"Default: the current session."`
	Project   string `json:"project,omitempty" limit:"0-4096"`
	Caller    Caller `json:"caller,omitzero"`
}
