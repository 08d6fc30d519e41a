package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// answered asks the daemon and prints what it answers.
func answered[Request, Answer any](c *cobra.Command, a *App, op service.Operation[Request, Answer], request Request, people func(io.Writer, *Answer)) error {
	answer, err := ask(c.Context(), a, op, request)
	if err != nil {
		return err
	}
	return a.answer(answer, func(w io.Writer) { people(w, answer) })
}

// ask completes and validates a request, so that no daemon is started for one that it
// would refuse, and asks the daemon.
func ask[Request, Answer any](ctx context.Context, a *App, op service.Operation[Request, Answer], request Request) (*Answer, error) {
	svc, err := a.serviceFor(ctx, &request)
	if err != nil {
		return nil, err
	}
	answer, err := op.Do(ctx, svc, request)
	return answer, withCommands(err)
}

// askLong is ask for an operation that reports its progress, which show shows; unit is what
// the progress counts.
func askLong[Request, Progress, Answer any](
	ctx context.Context, a *App, op service.Stream[Request, Progress, Answer], request Request, unit string, show func(*progress, Progress),
) (*Answer, error) {
	shown := a.newProgress(unit)
	defer shown.done()
	svc, err := a.serviceFor(ctx, &request)
	if err != nil {
		return nil, err
	}
	answer, err := op.Do(ctx, svc, request, func(p Progress) { show(shown, p) })
	return answer, withCommands(err)
}

// serviceFor returns the daemon for a request that is valid; request points to it. If the
// request names no caller, it gets this command line as its caller.
func (a *App) serviceFor(ctx context.Context, request any) (Daemon, error) {
	if caller := reflect.ValueOf(request).Elem().FieldByName("Caller"); caller.IsValid() && caller.IsZero() {
		caller.Set(reflect.ValueOf(a.caller()))
	}
	if err := memory.Check(request); err != nil {
		return nil, err
	}
	return a.service(ctx)
}

// withCommands replaces a hint that names an operation by one that names a command.
func withCommands(err error) error {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok {
		return err
	}
	switch hint := "run 'recalld sessions' to list them"; {
	case e.Code == memory.CodeNotFound && (e.Field == "sessionId" || e.Field == "scope.sessionId"):
		return orHint(err, e.Field, hint)
	case e.Code == memory.CodeInvalidInput && e.Field == "sessionId":
		return orHint(err, e.Field, "run 'recalld call session_start' to open one, or name one with --session; "+hint)
	case e.Code == memory.CodeInvalidInput && e.Field == "scope":
		return orHint(err, e.Field, "ask with --scope all, or name one with --session; "+hint)
	}
	return err
}

// orHint gives an error about a field another hint.
func orHint(err error, field, hint string) error {
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Field != field || e.Code != memory.CodeInvalidInput && e.Code != memory.CodeNotFound {
		return err
	}
	named := *e
	named.Hint = hint
	return &named
}

// readOrEnd returns what a read of standard input returns, or why the command ends before
// that: a read of a terminal knows nothing of Ctrl-C. What was not awaited ends with the
// process.
func readOrEnd[T any](a *App, read func() (T, error)) (result T, err error) {
	ctx, done := a.runs.Context(), make(chan struct{})
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	var got T
	var failed error
	go func() {
		got, failed = read()
		close(done)
	}()
	select {
	case <-done:
		return got, failed
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// confirm asks a question at the terminal. Everything except y or yes is a no, the end
// of the input too.
func (a *App) confirm(question string) (bool, error) {
	fmt.Fprint(a.opts.Err, question, " [y/N] ")
	if a.answers == nil {
		a.answers = bufio.NewReader(a.opts.In)
	}
	answer, err := readOrEnd(a, func() (string, error) { return a.answers.ReadString('\n') })
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("read answer: %w", err)
	}
	word := strings.ToLower(strings.TrimSpace(answer))
	return word == "y" || word == "yes", nil
}

// sessionFlag adds the flag that names a session by its id.
func (a *App) sessionFlag(c *cobra.Command, id *string, usage string) {
	c.Flags().StringVar(id, "session", "", usage)
	allowEmpty(c, "session") // refused by its field's name
	completeFlag(c, "session", a.completeSessions())
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
	text, err := readOrEnd(a, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.opts.In, maxInput+1)) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", field, err)
	case len(text) > maxInput:
		return nil, memory.Invalid(field, "at most "+render.Bytes(maxInput), "is too long")
	}
	return text, nil
}

// checkSession checks an id that was given with --session: an empty one would mean that none
// was.
func checkSession(c *cobra.Command, id string) error {
	if !c.Flags().Changed("session") {
		return nil
	}
	return memory.ValidSessionID("sessionId", id)
}

// given returns the value of a flag whose zero means something, nil if it was not given.
func given[T any](c *cobra.Command, flag string, value T) *T {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return &value
}
