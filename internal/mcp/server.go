// Package mcp speaks the Model Context Protocol: the server that the daemon
// offers over streamable HTTP, and the bridge that joins an agent's stdio to
// it.
//
// Vocabulary. A client is the agent's program. A session is one connection of
// a client, opened by initialize; an agent's session is one run of an agent, a
// memory.Session, opened by the tool session_start. The bridge is a pipe: it
// forwards messages and knows the protocol only as far as it must to survive a
// restart of the daemon. A refusal is a tool result with isError set; it names
// the error's code, field and limit, so that an agent can correct itself. The
// knowledge tools follow contract 1, with an answer form of their own. A
// toolset is what settings and clients call a part of the tools; a group is tools
// that are used together. The core is listed to every session, the rest once its
// toolset is named or a search has found its group.
package mcp

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/service"
)

// icon is what clients show beside the server's title.
//
//go:embed icon.svg
var icon []byte

// Path is where the daemon serves MCP.
const Path = "/mcp"

// The headers by which the bridge says what a client over stdio cannot.
const (
	// HeaderDir is the bridge's working folder, percent-encoded.
	HeaderDir = "Recalld-Dir"
	// HeaderWindow names the client's window, as memory.Caller has it: a bridge that
	// knows which process runs it says so with every request.
	HeaderWindow = "Recalld-Window"
	// HeaderProject names the project of calls that name none, percent-encoded: its name,
	// id or folder. Any client may send it, with every request.
	HeaderProject = "Recalld-Project"
	// HeaderRequestID names one request; it stays the same when the bridge
	// sends the request again, and a write is then made once.
	HeaderRequestID = "Recalld-Request-Id"
	// HeaderAgent names the agent's session of a connection. The server sends it
	// with every answer; the bridge hands it back when it replays initialize.
	HeaderAgent = "Recalld-Agent-Session"
	// HeaderToolsets names the toolsets and tools that a client is shown from the
	// start, with commas between, in the place of Options.Toolsets. Any client may
	// send it, with every request.
	HeaderToolsets = "Recalld-Toolsets"
	// HeaderReadOnly refuses the calls that change something, and leaves their tools off
	// the list, unless its value is empty, "false" or "0". Any client may send it, with every
	// request.
	HeaderReadOnly = "Recalld-Read-Only"
	// HeaderFound holds what a connection has found by search_tools, and goes back
	// and forth as HeaderAgent does.
	HeaderFound = "Recalld-Found"
)

// MaxMessage is the longest message in bytes that is read. index_repo with 10,000
// ordinary paths stays well below; a catalogue with more text than that is
// registered in several calls.
const MaxMessage = 8 << 20

// Options configure a Server. Zero values mean the defaults.
type Options struct {
	// Version is what the server calls itself in initialize.
	Version string
	// Logger takes what the server has to say; default: discarded.
	Logger *slog.Logger
	// RootsTimeout is how long a client may take to say its roots before its
	// working folder is used; default 200 ms, for there are clients that never answer.
	RootsTimeout time.Duration
	// SessionTTL is how long an idle session is kept; default 24 h. A client
	// that comes back later initialises again.
	SessionTTL time.Duration
	// MaxSessions bounds the sessions that are open; default 1024. Over it, the longest
	// idle session of the client with the most sessions ends.
	MaxSessions int
	// KnowledgePrefix is what the names of the knowledge tools begin with: up
	// to 40 letters, digits, _ and -, or nothing. Nil is DefaultKnowledgePrefix.
	KnowledgePrefix *string
	// StructuredContent sends every answer as structured content too, and lists its schema.
	// Clients that show their model the structured content in the place of the text then
	// show fields, not the text that is made for it.
	StructuredContent bool
	// FlowTags are those that a session may be started with, for the schema of
	// session_start; empty: the schema does not list them.
	FlowTags []string
	// Notice says what is wrong and concerns every answer, in a line; empty when
	// nothing is. Nil: nothing ever is.
	Notice func() string
	// StaticLists are the beginnings of the names of clients that list tools only when they
	// connect, "*" for all. Their models reach the others by call_tool.
	StaticLists []string
	// Project is that of calls without a folder that name none: its name, id or folder;
	// empty: they are refused.
	Project string
	// Toolsets are the tools that are listed from the start beside the core: core,
	// knowledge, history, tasks, context, admin, all, or names of single tools. The
	// others are found by search_tools, and answer without being listed.
	Toolsets []string
}

// DefaultKnowledgePrefix begins the names of the knowledge tools.
const DefaultKnowledgePrefix = "mm_"

// maxPrefix keeps a tool's name within the 64 characters that clients take,
// with room for what they put before it.
const maxPrefix = 40

func (o *Options) validate() error {
	o.Version = cmp.Or(o.Version, "dev")
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.RootsTimeout = cmp.Or(o.RootsTimeout, 200*time.Millisecond)
	o.SessionTTL = cmp.Or(o.SessionTTL, 24*time.Hour)
	o.MaxSessions = cmp.Or(o.MaxSessions, 1024)
	o.KnowledgePrefix = cmp.Or(o.KnowledgePrefix, new(DefaultKnowledgePrefix))
	if o.Notice == nil {
		o.Notice = func() string { return "" }
	}
	if prefix := *o.KnowledgePrefix; len(prefix) > maxPrefix || strings.ContainsFunc(prefix, notInName) {
		return fmt.Errorf("mcp options: %q cannot begin a tool's name", prefix)
	}
	return nil
}

// notInName says whether clients refuse a character in a tool's name.
func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// Server offers the operations of a service as MCP tools. It is an http.Handler for Path.
type Server struct {
	svc    service.Service
	opts   Options
	log    *slog.Logger
	mcp    *server.MCPServer
	http   *server.StreamableHTTPServer
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // requests for roots under way

	tools []ownTool
	// handlers are those of the tools, by name, for call_tool.
	handlers map[string]server.ToolHandlerFunc
	first    map[string]bool          // the tools that are listed from the start
	ops      map[string]*service.Spec // of the tools, by name

	mu    sync.Mutex // guards roots, agents, found and sessions
	roots map[string]*roots
	// agents holds the agent's session that each session has started, by the
	// session's id; see agent.go.
	agents map[string]agent
	// found holds what each session has found, by its id; see listing.go.
	found map[string]found
	// sessions are those that are open, by id; see sessions_limit.go.
	sessions map[string]openSession
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a server over svc. Close it when it is no longer served.
func NewServer(svc service.Service, opts Options) (*Server, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	tools := ownTools(*opts.KnowledgePrefix, opts.FlowTags)
	first, err := chooseTools(tools, opts.Toolsets)
	if err != nil {
		return nil, fmt.Errorf("mcp options: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{svc: svc, opts: opts, log: opts.Logger, ctx: ctx, cancel: cancel,
		tools: tools, handlers: map[string]server.ToolHandlerFunc{}, first: first, ops: map[string]*service.Spec{},
		roots: map[string]*roots{}, agents: map[string]agent{}, found: map[string]found{}, sessions: map[string]openSession{}}

	hooks := &server.Hooks{}
	hooks.AddOnRegisterSession(func(ctx context.Context, session server.ClientSession) {
		s.opened(ctx, session.SessionID())
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) {
		s.forget(session.SessionID())
	})
	hooks.AddAfterListTools(s.onListed)
	hooks.AddBeforeCallTool(s.redirect)
	hooks.AddBeforeReadResource(s.onRead)
	hooks.AddBeforeGetPrompt(s.requireArguments)
	s.mcp = server.NewMCPServer("recalld", opts.Version,
		server.WithTitle("recalld: memory for coding agents"),
		server.WithIcons(mcpgo.Icon{Src: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(icon), MIMEType: "image/svg+xml", Sizes: []string{"any"}}),
		server.WithLogging(),
		server.WithInstructions(instructions(*opts.KnowledgePrefix)),
		server.WithToolCapabilities(true),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithResourceCompletionProvider(completions{s}),
		server.WithHooks(hooks),
	)
	for _, t := range tools {
		s.ops[t.name], s.handlers[t.name] = t.op, s.handler(t)
		s.mcp.AddTool(t.describe(opts.StructuredContent), s.handlers[t.name])
	}
	s.mcp.AddTool(describeCallTool(), s.callTool)
	s.addResources()
	s.addPrompts()
	s.addFixtures()
	s.mcp.AddNotificationHandler("notifications/initialized", s.onRootsKnown)
	s.mcp.AddNotificationHandler("notifications/roots/list_changed", s.onRootsKnown)

	s.http = server.NewStreamableHTTPServer(s.mcp,
		server.WithSessionIdManager(new(sessionIDs)),
		server.WithSessionIdleTTL(opts.SessionTTL),
		server.WithStreamableHTTPLogger(slog.New(clientsOwn{opts.Logger.Handler()})),
	)
	return s, nil
}

// ServeHTTP answers one HTTP request. What is not a message of valid JSON in
// valid UTF-8 within MaxMessage is refused before it is taken apart.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		if !s.admit(w, r) {
			return
		}
		s.used(r.Header.Get(server.HeaderKeySessionID))
		answer := &answerWriter{ResponseWriter: w, server: s, request: r}
		w, r = answer, r.WithContext(context.WithValue(r.Context(), answerWriterKey{}, answer))
	}
	s.http.ServeHTTP(w, r)
}

// Close ends all sessions and their open streams. It may be called twice.
func (s *Server) Close(ctx context.Context) error {
	s.cancel()
	err := s.http.Shutdown(ctx)
	s.wg.Wait()
	return err
}
