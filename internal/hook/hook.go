// Package hook reads the payloads of clients' hooks: small programs that clients run at
// events, with a payload in JSON on standard input. It turns a payload into a request to
// the daemon, and the daemon's advice into the hook's output for the model. It does no I/O;
// the caller sets the deadline.
//
// Vocabulary. An event is a moment of the client's work; a payload is the client's
// description of it. A run is a session from a start to an end. A client that resumes an
// ended session reuses its id, but recalld's session has ended, so the second run has a new
// id.
package hook

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/recalld/recalld/internal/memory"
)

// MaxPayload bounds a payload, in bytes. Longer payloads contain a file or a page.
const MaxPayload = 1 << 20

// Limits for the context that a recall for a prompt may take. They are small because the
// user did not request it.
const (
	promptLessons = 3
	promptTokens  = 400
)

// compactedTokens is the room for a brief after a compaction, which says also what the
// session did.
const compactedTokens = 400

// Request is the request of an event: one field is set, or Start with Brief, or with Recall
// for a prompt that may be the first of its session.
type Request struct {
	Start  *memory.StartSessionRequest
	Step   *memory.RecordStepRequest
	End    *memory.EndSessionRequest
	Recall *memory.RecallRequest
	// Brief asks what the model should know at the start, beside Start.
	Brief *memory.BriefRequest
}

// ErrNothing is returned by Parse for an event that needs no request: one of recalld's own
// tools, or an empty prompt.
var ErrNothing = errors.New("nothing to record")

// Environment is what a hook knows besides its payload.
type Environment struct {
	// ProjectDir is the folder in which the client was started, if known. A session belongs
	// to that folder, even if a tool has changed folders since.
	ProjectDir string
	// Window is the client's window, as memory.Caller has it.
	Window string
	// Tail reads the end of a file that the payload names, its transcript.
	Tail func(path string) ([]byte, error)
}

// Parse reads a client's payload for an event. An error names what is missing or invalid.
func Parse(client, event string, payload []byte, env Environment) (Request, error) {
	c, ok := clientOf(client)
	if !ok {
		return Request{}, fmt.Errorf("client %q has no hooks", client)
	}
	return c.parse(event, payload, env)
}

// maxRuns bounds how often one session is resumed after its end.
const maxRuns = 9

// Run returns the id of a session's n-th run, counted from 1: the first has the session's
// own id.
func Run(session string, n int) string {
	if n <= 1 {
		return session
	}
	return session + "." + strconv.Itoa(n)
}

// sessionID checks a client's id of a session. One that is shorter than recalld's own gets
// the client's name in front, so that its session is not lost.
func sessionID(client, id string) (string, error) {
	if id != "" && len(id) < memory.MinSessionID {
		id = client + "-" + id
	}
	return id, memory.ValidSessionID("session_id", id)
}
