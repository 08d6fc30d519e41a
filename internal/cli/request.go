package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// checked is a request that says itself what is wrong with it.
type checked[Request any] interface {
	*Request
	Validate() error
}

// call checks a request, before a daemon is started for what it would refuse, and
// makes it. That no session is open is said in the words of a shell.
func call[Request, Answer any, R checked[Request]](
	c *cobra.Command, a *App, request R, op service.Operation[Request, Answer],
) (*Answer, error) {
	if err := request.Validate(); err != nil {
		return nil, err
	}
	svc, err := a.service(c.Context())
	if err != nil {
		return nil, err
	}
	answer, err := op.Do(c.Context(), svc, *request)
	if err != nil {
		return nil, orOpened(err)
	}
	return answer, nil
}

// whichFlags adds the flags that say whose session is meant.
func (a *App) whichFlags(c *cobra.Command, w *memory.SessionRef) {
	c.Flags().StringVar(&w.SessionID, "session", "", "the session's id (default: the current one)")
	allowEmpty(c, "session") // refused by its field's name
	a.completeSessions(c, "session")
	a.projectFlag(c, &w.Project)
}

// which fills in who asks, and refuses a session that was given and is none.
func (a *App) which(c *cobra.Command, w *memory.SessionRef) error {
	w.Caller = a.caller()
	return sessionFlag(c, "session", w.SessionID)
}

// projectFlag adds the flag that names a project.
func (a *App) projectFlag(c *cobra.Command, project *string) {
	c.Flags().StringVar(project, "project", "", "project id or name (default: the working folder's)")
	a.completeProjects(c, "project")
}

// maxInput bounds what a command reads from standard input, in bytes. The daemon takes
// no longer request.
const maxInput = 7 << 20

// readInput reads standard input. Errors name field.
func (a *App) readInput(field string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(a.opts.In, maxInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", field, err)
	case len(text) > maxInput:
		return nil, memory.Invalid(field, "at most "+bytesText(maxInput), "is too long")
	}
	return text, nil
}

// sessionFlag checks a session's id that was given with a flag: an empty one
// would mean that none was.
func sessionFlag(c *cobra.Command, flag, id string) error {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return memory.ValidSessionID("sessionId", id)
}

// givenBool returns what a flag of three values says: true, false, or nothing.
func givenBool(c *cobra.Command, flag string, value bool) *bool {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return &value
}

// givenFloat does the same for a number whose zero means something.
func givenFloat(c *cobra.Command, flag string, value float64) *float64 {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return &value
}
