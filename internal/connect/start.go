package connect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// startLimit bounds how long a program may take. A bridge may have to start the daemon,
// which opens the store.
const startLimit = time.Minute

// Check starts the server as a client does, in a folder, and asks it for its tools. It
// returns how many it lists, and CodeUnavailable, with what the program wrote to standard
// error, if it does not answer.
func Check(ctx context.Context, s Server, dir string) (tools int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it did not answer within %s", startLimit))
	defer cancel()
	c := exec.CommandContext(ctx, s.Command, s.Args...)
	c.Dir = dir
	c.WaitDelay = time.Second
	var errs bytes.Buffer
	c.Stderr = &limited{&errs, 4 << 10}
	in, err := c.StdinPipe()
	if err != nil {
		return 0, fmt.Errorf("start server: %w", err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("start server: %w", err)
	}
	if err = c.Start(); err == nil {
		tools, err = askTools(in, out)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		_ = in.Close() // the bridge ends with its input
		if waited := c.Wait(); err == nil && waited != nil && ctx.Err() == nil {
			err = waited
		}
	}
	if err == nil {
		return tools, nil
	}
	text := err.Error()
	if said := strings.TrimSpace(errs.String()); said != "" {
		text += ": " + said
	}
	return 0, &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("the server does not start: %s: %s", strings.Join(append([]string{s.Command}, s.Args...), " "), text),
		Hint: "run it by hand to see why; nothing was connected", Cause: err}
}

// askTools sends the first requests of every client and counts the tools of the answer.
func askTools(in io.Writer, out io.Reader) (int, error) {
	answers := json.NewDecoder(io.LimitReader(out, maxFile))
	const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"recalld-connect","version":"1"}}}`
	// A program that has ended takes no request; what it said before is the better error.
	_, _ = io.WriteString(in, opening+"\n")
	if _, err := answer(answers, "1"); err != nil {
		return 0, err
	}
	const list = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	_, _ = io.WriteString(in, list)
	result, err := answer(answers, "2")
	if err != nil {
		return 0, err
	}
	var tools struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(result, &tools); err != nil {
		return 0, fmt.Errorf("read list of tools: %w", err)
	}
	if len(tools.Tools) == 0 {
		return 0, errors.New("it lists no tools")
	}
	return len(tools.Tools), nil
}

// answer reads messages until the one with an id.
func answer(from *json.Decoder, id string) (json.RawMessage, error) {
	for {
		var m struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		switch err := from.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil, errors.New("it ended without an answer")
		case err != nil:
			return nil, fmt.Errorf("its answer is not MCP: %w", err)
		case string(m.ID) != id:
		case m.Error != nil:
			return nil, errors.New(m.Error.Message)
		default:
			return m.Result, nil
		}
	}
}

// ByClient returns a function for Apply that has Claude Code's own command add the server,
// so that a running Claude Code does not write its file back without it. It is nil where
// recalld edits the file; see docs/decisions for why other clients' commands are not used.
func (c Client) ByClient(ctx context.Context, m Machine, o Options, change Change) func() bool {
	if c.own == nil || o.Scope == Project || change.What != whatServer || m.LookPath == nil || change.follows {
		return nil
	}
	o = c.keepToolsets(m, o)
	p := part{whatServer, c.files(m, o).server, c.server(c.started(o))}
	program, err := m.LookPath(c.programs[0])
	if state, _ := p.state(); err != nil || state != NotConnected {
		return nil // the command refuses to change a server
	}
	return func() bool {
		ctx, cancel := context.WithTimeout(ctx, startLimit)
		defer cancel()
		run := exec.CommandContext(ctx, program, c.own(c.started(o))...)
		run.WaitDelay = time.Second
		run.Dir = cmp.Or(m.Home, os.TempDir())
		err := run.Run()
		state, _ := p.state()
		return err == nil && state == Connected
	}
}

// limited keeps the beginning of what is written to it.
type limited struct {
	to   *bytes.Buffer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(text []byte) (int, error) {
	n := min(len(text), l.left)
	l.left -= n
	l.to.Write(text[:n])
	return len(text), nil
}
