// Package hook reads what clients tell of their work through hooks: small
// programs that they run at events, with a payload in JSON on standard input. It
// turns a payload into what is asked of the daemon, and the daemon's advice into
// what the client hands to its model. It is pure; who runs it has the deadline.
//
// Vocabulary. An event is what a client calls a moment of its work; a payload is
// what it says of it. A run is a session from a start to an end: a client that
// resumes a session after it ended goes on under the same id, which is over for
// recalld, so the second run has an id of its own.
package hook

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/recalld/recalld/internal/memory"
)

// MaxPayload bounds a payload, in bytes. What is longer holds a file or a page.
const MaxPayload = 1 << 20

// What a recall for a prompt may take of the model's context: nobody asked.
const (
	promptLessons = 3
	promptTokens  = 400
)

// Request is what an event asks for: one field is set, or Start and Recall, for a prompt
// that may be the first of its session.
type Request struct {
	Start  *memory.StartSessionRequest
	Step   *memory.RecordStepRequest
	End    *memory.EndSessionRequest
	Recall *memory.RecallRequest
}

// ErrNothing is returned by Parse for an event that asks for nothing: one of
// recalld's own tools, a prompt that is empty.
var ErrNothing = errors.New("nothing to record")

// Environment is what a hook knows beside its payload.
type Environment struct {
	// ProjectDir is the folder that the client was started in, if it says so. A
	// session belongs to that one, wherever a tool has gone meanwhile.
	ProjectDir string
	// Window is the client's window, as memory.Caller has it.
	Window string
}

// Parse reads a client's payload for an event. The errors name what is missing or
// not understood.
func Parse(client, event string, payload []byte, env Environment) (Request, error) {
	if client != claudeCode {
		return Request{}, fmt.Errorf("client %q has no hooks", client)
	}
	return parseClaude(event, payload, env)
}

// MaxRuns bounds how often one session is resumed after it ended.
const MaxRuns = 9

// Run returns the id of a session's run, counted from 1: the first has the
// session's own.
func Run(session string, n int) string {
	if n <= 1 {
		return session
	}
	return session + "." + strconv.Itoa(n)
}
