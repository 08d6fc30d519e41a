package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	// recordDeadline bounds a hook that records: the client waits for it after
	// every tool. With the start of the process it stays under 50 ms.
	recordDeadline = 40 * time.Millisecond
	// adviseDeadline bounds a hook that is answered with lessons: a step that
	// failed, which is rare and where a lesson saves minutes, or a prompt. It
	// leaves room for a model that is late: recall waits 250 ms for one and then
	// answers without.
	adviseDeadline = 300 * time.Millisecond
	// hookDebug names the file that takes a line for every hook that failed.
	hookDebug = "RECALLD_HOOK_DEBUG"
	// projectDirEnv says where Claude Code was started.
	projectDirEnv = "CLAUDE_PROJECT_DIR"
)

// hookCommand records what a client reports about its work. It fails open: a client
// takes an exit code that is not 0 for an objection, and 2 for a veto, so every
// error of it, wrong usage too, is silence.
func hookCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "hook CLIENT EVENT",
		Short: "Record an event of a coding agent",
		Long: `Read the payload of a client's hook on standard input and record it: a session
that starts or ends, a tool that was used. A tool that failed is answered with
lessons about its error, in the form in which the client hands them to its model.
Clients run this; recalld connect installs it.

It waits ` + fmt.Sprint(recordDeadline) + ` at most, ` + fmt.Sprint(adviseDeadline) + ` for lessons, and starts a daemon only in the background
when a session starts. If something goes wrong, it prints nothing and ends with 0;
` + hookDebug + ` names a file for the errors.`,
		Example: "  recalld hook claude-code PostToolUse < payload.json",
		Args:    cobra.ArbitraryArgs,
		// In the place of the program's own, which refuses an empty flag.
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.begin(c) },
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.hook(c.Context(), args); err != nil && !errors.Is(err, hook.ErrNothing) {
				a.hookFailed(args, err)
			}
			return nil
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.hookFailed(nil, err)
		return nil
	})
	return c
}

// hook does what an event asks for.
func (a *App) hook(ctx context.Context, args []string) (err error) {
	defer func() { // a panic would end the process with 2, the veto
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if len(args) != 2 {
		return errors.New("it takes a client and an event")
	}
	client, event := args[0], args[1]
	began := time.Now()
	payload, err := readPayload(a.opts.In)
	if err != nil {
		return fmt.Errorf("read payload: %w", err)
	}
	if len(payload) > hook.MaxPayload {
		// A client whose pipe breaks may take that for a failure.
		_, _ = io.Copy(io.Discard, a.opts.In)
	}
	req, err := hook.Parse(client, event, payload, hook.Environment{ProjectDir: a.opts.Getenv(projectDirEnv), Window: a.opts.Window()})
	if err != nil {
		return err
	}
	deadline := recordDeadline
	if req.Recall != nil || req.Step != nil && req.Step.Advise {
		deadline = adviseDeadline
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(deadline))
	defer cancel()
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	// Where the deadline ends a start, the daemon goes on starting.
	daemon, err := a.connect(ctx, cfg, req.Start != nil && req.Recall == nil && cfg.Daemon.Autostart)
	if err != nil {
		return err
	}
	defer daemon.Close()
	answer, err := serveHook(ctx, daemon, req)
	if err != nil {
		return err
	}
	out, err := hook.Advice(event, answer)
	if err != nil || out == nil {
		return err
	}
	a.piped = true
	_, err = a.opts.Out.Write(out)
	return err
}

// readPayload reads one JSON value, or what there is if that is none, up to one byte
// over the limit. It does not wait for the end of the input: some clients keep the pipe
// open.
func readPayload(in io.Reader) ([]byte, error) {
	var read bytes.Buffer
	var value json.RawMessage
	err := json.NewDecoder(io.TeeReader(io.LimitReader(in, hook.MaxPayload+1), &read)).Decode(&value)
	_, garbled := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return value, nil
	case garbled, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // hook.Parse says what is wrong
		return read.Bytes(), nil
	}
	return nil, err
}

// serveHook asks the daemon for what an event asks for, and returns the lessons
// that it answers with.
func serveHook(ctx context.Context, daemon Daemon, req hook.Request) (*memory.RecallResponse, error) {
	if req.Start != nil {
		// Of one that has ended, the next step opens the next run.
		if _, err := service.StartSession.Do(ctx, daemon, *req.Start); err != nil && !isOver(err) && req.Recall == nil {
			return nil, err
		}
	}
	switch {
	case req.Step != nil:
		return recordHooked(ctx, daemon, *req.Step)
	case req.End != nil:
		return nil, endRuns(ctx, daemon, *req.End)
	case req.Recall != nil:
		return service.Recall.Do(ctx, daemon, *req.Recall)
	}
	return nil, nil
}

// recordHooked records a step in the run of its session that is open.
func recordHooked(ctx context.Context, daemon Daemon, step memory.RecordStepRequest) (*memory.RecallResponse, error) {
	session := step.SessionID
	for n := 1; ; n++ {
		step.SessionID = hook.Run(session, n)
		step.Caller.Session = step.SessionID
		recorded, err := service.RecordStep.Do(ctx, daemon, step)
		switch {
		case err == nil:
			return recorded.Advice, nil
		case !isOver(err) || n == hook.MaxRuns:
			return nil, err
		}
	}
}

// endRuns ends a session and the runs that it was resumed for.
func endRuns(ctx context.Context, daemon Daemon, end memory.EndSessionRequest) error {
	session := end.SessionID
	for n := 1; n <= hook.MaxRuns; n++ {
		end.SessionID = hook.Run(session, n)
		end.Caller.Session = end.SessionID
		if _, err := service.EndSession.Do(ctx, daemon, end); memory.CodeOf(err) == memory.CodeNotFound {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// isOver says that a session's id is taken or the session has ended.
func isOver(err error) bool {
	e, ok := errors.AsType[*memory.Error](err)
	return ok && e.Code == memory.CodeConflict && e.Field == "sessionId"
}

// hookFailed appends an error to the file that hookDebug names. One write makes the
// line, because hooks run side by side.
func (a *App) hookFailed(args []string, err error) {
	path := a.opts.Getenv(hookDebug)
	if path == "" {
		return
	}
	f, openErr := os.OpenFile(a.absolute(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if openErr != nil {
		return // nothing more can be done
	}
	defer f.Close()
	line := bytes.ReplaceAll(fmt.Appendf(nil, "%s hook %q: %v", a.opts.Now().UTC().Format(time.RFC3339), args, err), []byte("\n"), []byte(" "))
	_, _ = f.Write(append(line, '\n'))
}
