package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/spool"
)

const (
	// recordDeadline bounds a hook that records: the client waits for it after
	// every tool. With the start of the process it stays under 50 ms.
	recordDeadline = 40 * time.Millisecond
	// adviseDeadline bounds a hook that is answered: the start of a session, a step that
	// failed, which is rare and where a lesson saves minutes, or a prompt. It
	// leaves room for a model that is late: recall waits 250 ms for one and then
	// answers without.
	adviseDeadline = 300 * time.Millisecond
	// hookDebug names the file that takes a line for every hook that failed.
	hookDebug = "RECALLD_HOOK_DEBUG"
	// projectDirEnv says where Claude Code was started; Gemini CLI, Qwen Code and Copilot
	// set it too.
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
when a session starts. What the daemon does not take in time waits in the data folder,
and is recorded when it can be. If something goes wrong, it prints nothing and ends with 0;
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
	req, err := hook.Parse(client, event, payload, hook.Environment{ProjectDir: a.opts.Getenv(projectDirEnv), Window: a.opts.Window(), Tail: tailOf})
	if err != nil {
		return err
	}
	deadline := recordDeadline
	if req.Brief != nil || req.Recall != nil || req.Step != nil && req.Step.Advise {
		deadline = adviseDeadline
	}
	if req.Step != nil && req.Step.Timestamp.IsZero() {
		req.Step.Timestamp = a.opts.Now().UTC() // it may wait
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(deadline))
	defer cancel()
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	advice, brief, err := a.askHooked(ctx, cfg, req)
	if err != nil {
		return err
	}
	out, err := hook.Advice(client, event, advice)
	if brief != nil {
		out, err = hook.Brief(client, event, brief)
	}
	if err != nil || out == nil {
		return err
	}
	a.piped = true
	_, err = a.opts.Out.Write(out)
	return err
}

// askHooked records an event and asks what it asks. An event that the daemon does not take
// in time waits in the spool, and so do those after it until the daemon has taken it.
func (a *App) askHooked(ctx context.Context, cfg config.Config, req hook.Request) (advice *memory.RecallResponse, brief *memory.Brief, err error) {
	event, records := req.Event(rand.Text())
	waiting := spool.In(cfg.Paths().Spool)
	behind := records && waiting.Waiting() > 0
	keep := func(err error) error {
		text, encodeErr := event.Encode()
		if encodeErr != nil {
			return errors.Join(err, encodeErr)
		}
		return errors.Join(err, waiting.Put(a.opts.Now(), text))
	}
	// Where the deadline ends a start, the daemon goes on starting.
	daemon, err := a.connect(ctx, cfg, req.Start != nil && req.Recall == nil && cfg.Daemon.Autostart)
	if err != nil {
		if records {
			err = keep(err)
		}
		return nil, nil, err
	}
	defer daemon.Close()
	switch {
	case behind:
		err = keep(nil)
	case records:
		if advice, err = event.Apply(ctx, daemon, a.opts.Now()); err != nil && !hook.IsFinal(err) {
			err = keep(err)
		}
	}
	// What became of the record is no matter of the answer.
	switch {
	case req.Recall != nil:
		advice, err = service.Recall.Do(ctx, daemon, *req.Recall)
	case req.Brief != nil:
		brief, err = service.Brief.Do(ctx, daemon, *req.Brief)
	}
	return advice, brief, err
}

// maxTail is how much of a transcript's end is read, in bytes: the last line holds the
// output that the payload has, too.
const maxTail = 2 * hook.MaxPayload

// tailOf reads the end of a file.
func tailOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe would never end
		return nil, errors.Join(err, errors.New("it is no file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail))
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
