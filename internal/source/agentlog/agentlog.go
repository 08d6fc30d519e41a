// Package agentlog reads the session logs that coding agents keep on disk: Claude Code,
// Codex, Gemini CLI, Qwen Code, Copilot and OpenCode.
//
// Vocabulary. A log is one file of one session, or one session of a database. A call is one
// use of a tool with its result; a call without a result is left out until the result is
// there. A place is the folder in which a client keeps its logs: nothing outside of it is
// read, also not through links. A problem is a line or file that cannot be read; reading goes
// on after it.
package agentlog

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
)

// Bounds of a log.
const (
	maxLine     = 8 << 20   // bytes; a longer line is skipped and reported
	maxDocument = 64 << 20  // bytes of a log that is one JSON value
	maxPending  = 1000      // calls that wait for their results
	maxWaiting  = 32 << 20  // bytes of their inputs
	maxProblems = 20        // reported of one log
	maxText     = 512 << 10 // bytes of one result that are looked at
)

// Log is one file.
type Log struct {
	Client string
	// Place is the folder that the file must lie in, Name its path below it.
	Place, Name string
	// Session names the session of a database; of a file it is empty.
	Session string
	// Size is in bytes; of a session, its parts.
	Size    int64
	Changed time.Time
}

// Session is what a log says of its session so far.
type Session struct {
	ID string
	// Dir is the folder that the agent worked in.
	Dir string
	// Title is the first prompt.
	Title   string
	Branch  string
	Started time.Time
}

// Call is a use of a tool with its result.
type Call struct {
	ID, Tool string
	Input    json.RawMessage
	// Response is the result as the client's hooks have it, Error the text of a failure.
	Response    json.RawMessage
	Error       string
	Failed      bool
	Interrupted bool
	// At is when the result was there.
	At time.Time
}

// Problem is something that cannot be read. Line counts from 1; 0 is the whole file.
type Problem struct {
	Line    int
	Message string
}

// Contents is what a log holds beside its calls.
type Contents struct {
	Session  Session
	Problems []Problem
	// More counts problems that are not listed.
	More int
}

// reader reads one log.
type reader struct {
	Contents
	call    func(Session, Call) error
	pending map[string]Call
	waiting int // bytes of the inputs in pending
	line    int
	err     error // of call
}

// OpenError is returned for a log that cannot be opened now. It may be later.
type OpenError struct{ Err error }

// Error implements error.
func (e *OpenError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *OpenError) Unwrap() error { return e.Err }

// Read reads a log and hands over its calls in the order of their results. The error is
// that of call, or of opening the file.
func Read(l Log, call func(Session, Call) error) (Contents, error) {
	if l.Client == OpenCode {
		r := newReader(call)
		err := r.openCode(l)
		return r.Contents, err
	}
	place, err := fsx.OpenRoot(l.Place)
	if err != nil {
		return Contents{}, &OpenError{fmt.Errorf("open folder of logs: %w", err)}
	}
	defer place.Close() // only read
	f, _, err := fsx.OpenFile(place, l.Name)
	if err != nil {
		return Contents{}, &OpenError{fmt.Errorf("open log: %w", err)}
	}
	defer f.Close() // only read
	return readFrom(f, l.Client, projectRoot(place, l), call)
}

func newReader(call func(Session, Call) error) *reader {
	return &reader{call: call, pending: map[string]Call{}}
}

// readFrom reads the text of a log. dir is the folder of its session, if a file beside it
// says so.
func readFrom(f io.Reader, client, dir string, call func(Session, Call) error) (Contents, error) {
	r := newReader(call)
	r.Session.Dir = dir
	of, ok := formats[client]
	if !ok {
		return r.Contents, fmt.Errorf("logs of %q cannot be read", client)
	}
	size := 64 << 10
	if client == Gemini {
		size = maxLine // document looks at the first line
	}
	in := bufio.NewReaderSize(f, size)
	if start, _ := in.Peek(len(fsx.ByteOrderMark)); string(start) == fsx.ByteOrderMark { // as some editors put it
		_, _ = in.Discard(len(start))
	}
	if client == Gemini {
		if whole, err := r.document(in); whole || err != nil {
			return r.Contents, err
		}
	}
	for {
		text, long, err := nextLine(in)
		if len(text) > 0 || long {
			r.line++
		}
		switch {
		case long:
			r.problem("the line has over %d bytes", maxLine)
		case len(bytes.TrimSpace(text)) == 0:
		case !bytes.HasSuffix(text, []byte("\n")) && !json.Valid(text):
			// The client is still writing it.
		default:
			if why := of(r, text); why != nil {
				r.problem("%v", why)
			}
		}
		switch {
		case r.err != nil:
			return r.Contents, r.err
		case errors.Is(err, io.EOF):
			return r.Contents, nil
		case err != nil:
			r.problem("%v", err)
			return r.Contents, nil
		}
	}
}

// nextLine returns a line with its end, or skips one that is too long.
func nextLine(in *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			text = append(text, part...)
		}
		if len(text) > maxLine {
			text, long = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

func (r *reader) problem(format string, args ...any) {
	if len(r.Problems) >= maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, Problem{r.line, fmt.Sprintf(format, args...)})
}

// plainTool names recalld's own tools as Claude Code does, whose hooks leave them out: Gemini
// CLI has mcp_recalld_recall, Copilot recalld-recall, OpenCode recalld_recall.
func plainTool(name string) string {
	for _, before := range []string{"mcp_recalld_", "recalld-", "recalld_"} {
		if own, cut := strings.CutPrefix(name, before); cut {
			return "mcp__recalld__" + own
		}
	}
	return name
}

// asks keeps a call until its result is there.
func (r *reader) asks(c Call) {
	if c.ID == "" || c.Tool == "" || len(r.pending) >= maxPending || r.waiting+len(c.Input) > maxWaiting {
		return
	}
	if old, ok := r.pending[c.ID]; ok {
		r.waiting -= len(old.Input)
	}
	c.Tool = plainTool(c.Tool)
	c.Input = bytes.Clone(c.Input)
	r.pending[c.ID] = c
	r.waiting += len(c.Input)
}

// answer completes a call with its result and hands it over. A result without a call, or a
// second one, is left out.
func (r *reader) answer(id string, complete func(*Call)) {
	c, ok := r.pending[id]
	if !ok || r.err != nil {
		return
	}
	delete(r.pending, id)
	r.waiting -= len(c.Input)
	complete(&c)
	if c.At.IsZero() {
		c.At = r.Session.Started
	}
	if r.Session.Started.IsZero() {
		r.Session.Started = c.At
	}
	if r.Session.ID == "" {
		return
	}
	if c.At.IsZero() {
		r.problem("no time can be read before the result of a call")
		return
	}
	r.err = r.call(r.Session, c)
}

// leastStamp is the least number that is a time, the year 2000: less is something else.
const leastStamp = 946684800

// stamp is a time as clients write it. One that cannot be read is zero.
type stamp struct{ time.Time }

// UnmarshalJSON reads a time, or a number of seconds or milliseconds since 1970.
func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	var since float64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		s.Time, _ = fsx.ParseTime(text)
	case json.Unmarshal(raw, &since) == nil && since > leastStamp && since < 1e14:
		if since < 1e11 {
			since *= 1000
		}
		s.Time = time.UnixMilli(int64(since)).UTC()
	}
	return nil
}

// begin keeps the first that is said of the session.
func (r *reader) begin(s Session) {
	r.Session.ID = cmp.Or(r.Session.ID, s.ID)
	r.Session.Dir = cmp.Or(r.Session.Dir, s.Dir)
	r.Session.Branch = cmp.Or(r.Session.Branch, s.Branch)
	r.Session.Title = cmp.Or(r.Session.Title, s.Title)
	if r.Session.Started.IsZero() {
		r.Session.Started = s.Started
	}
}

// head is the part of a long result that is looked at: its begin and its end.
func head(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText/2] + "\n…\n" + text[len(text)-maxText/2:]
}
