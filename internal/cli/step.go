package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// stepFlags are the flags of step, as they were written.
type stepFlags struct {
	input, target, observation, environment string
	ok                                      bool
	message, code, details                  string
	duration                                time.Duration
	at                                      string
}

// stepCommand records a step.
func stepCommand(a *App) *cobra.Command {
	var r memory.RecordStepRequest
	var f stepFlags
	c := &cobra.Command{
		Use:   "step --tool NAME",
		Short: "Record a step of a session",
		Long: `Record one step: the tool used, on what, and how it ended, for scripts. It goes
into the current session of this command line unless --session names one. Input,
target, observation and details are a JSON object, list or string, or else plain
text. A step that failed is answered with lessons about its error if --advise is
given.`,
		Example: `  recalld step --tool bash --input "npm test" --error "EACCES: permission denied" --advise
  recalld step --tool mm_click --target '{"testId": "confirm"}' --ok --duration 350ms
  recalld step --tool edit --target src/main.go --session nightly-42 --open`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.fill(c, &r); err != nil {
				return err
			}
			r.Caller = a.caller()
			svc, err := a.service(c.Context())
			if err != nil {
				return err
			}
			recorded, err := service.RecordStep.Do(c.Context(), svc, r)
			if err != nil {
				return orOpened(err)
			}
			if a.json && recorded.Advice != nil && len(recorded.Advice.Items) > 0 {
				return a.recorded(recorded, true, nil)
			}
			return a.answer(recorded, func(w io.Writer) { writeRecorded(w, recorded, a.fenced) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Tool.Name, "tool", "", "name of the tool, required")
	flags.StringVar(&f.input, "input", "", "what the tool was given")
	flags.StringVar(&f.target, "target", "", "what it acted on: a file, a button, a selector")
	flags.BoolVar(&f.ok, "ok", true, "it went well; --ok=false if not")
	flags.StringVar(&f.message, "error", "", "the error's message; the step has then failed")
	flags.StringVar(&f.code, "code", "", "the error's code; the step has then failed")
	flags.StringVar(&f.details, "details", "", "more of the error; the step has then failed")
	flags.StringVar(&f.observation, "observation", "", `what was seen: a text, or {"state": {"currentScreen": "home"}}`)
	flags.StringVar(&f.environment, "environment", "", "facts about where it ran, a JSON object")
	flags.DurationVar(&f.duration, "duration", 0, "how long it took: 350ms, 2m")
	flags.StringVar(&r.Screenshot, "screenshot", "", "path of a picture")
	flags.StringVar(&f.at, "at", "", "when it was, an RFC 3339 time (default: now)")
	flags.StringVar(&r.SessionID, "session", "", "the session's id (default: the current one)")
	flags.BoolVar(&r.Open, "open", false, "open the session named if it is not known")
	flags.BoolVar(&r.Advise, "advise", false, "answer a step that failed with lessons about its error")
	flags.StringVar(&r.Project, "project", "", "project id or name (default: the working folder's)")
	// An empty text is something that was seen; --session is refused by its field's name.
	allowEmpty(c, "input", "target", "error", "code", "details", "observation", "environment", "session")
	a.completeSessions(c, "session")
	a.completeProjects(c, "project")
	return c
}

// fill turns flags into a request.
func (f *stepFlags) fill(c *cobra.Command, r *memory.RecordStepRequest) error {
	if err := sessionFlag(c, "session", r.SessionID); err != nil {
		return err
	}
	if r.Open && r.SessionID == "" {
		return memory.Invalid("open", "only with --session", "does not say which session")
	}
	failure := &memory.StepError{Code: f.code, Message: f.message}
	for _, value := range []struct {
		flag, text string
		to         *json.RawMessage
	}{
		{"input", f.input, &r.Tool.Input}, {"target", f.target, &r.Tool.Target},
		{"observation", f.observation, &r.Observation}, {"details", f.details, &failure.Details},
	} {
		if err := valueFlag(c, value.flag, value.text, value.to); err != nil {
			return err
		}
	}
	var err error
	if r.Environment, err = objectFlag(c, "environment", f.environment); err != nil {
		return err
	}
	r.Outcome.OK = f.ok
	if flags := c.Flags(); flags.Changed("error") || flags.Changed("code") || flags.Changed("details") {
		if flags.Changed("ok") && f.ok {
			return memory.Invalid("error", "only for a step that failed", "is given beside --ok")
		}
		r.Outcome = memory.Outcome{Error: failure}
	}
	r.DurationMs = f.duration.Milliseconds()
	if f.at != "" {
		if r.Timestamp, err = time.Parse(time.RFC3339, f.at); err != nil {
			return memory.Invalid("timestamp", "2026-01-31T15:04:05Z", "%q is not a time", f.at)
		}
	}
	// Before a daemon is started for a step that it would refuse.
	return r.Validate()
}

// valueFlag reads a flag that holds a JSON object, list or string, or else plain
// text, which becomes a JSON string: 42 and true are words to who types them.
// What was not given is left alone.
func valueFlag(c *cobra.Command, flag, text string, to *json.RawMessage) error {
	switch {
	case !c.Flags().Changed(flag):
		return nil
	case !utf8.ValidString(text): // encoding would put other characters in its place
		return memory.Invalid(flag, "valid UTF-8", "is not valid UTF-8")
	case strings.ContainsAny(text[:min(1, len(text))], `{["`) && json.Valid([]byte(text)):
		*to = json.RawMessage(text)
		return nil
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("encode %s: %w", flag, err)
	}
	*to = quoted
	return nil
}

func writeRecorded(w io.Writer, r *memory.StepRecorded, fence func(string) string) {
	fmt.Fprintf(w, "Recorded step %s in session %s", r.ID, r.SessionID)
	if len(r.Labels) > 0 {
		fmt.Fprintf(w, " (%s)", strings.Join(r.Labels, ", "))
	}
	fmt.Fprintln(w)
	writeNotes(w, r.Redacted, "file", r.File, r.Warning)
	if r.Advice != nil && len(r.Advice.Items) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(fence(render.Bare(r.Advice.Text))))
	} else if r.Advice != nil {
		writeIncomplete(w, r.Advice.Incomplete, r.Advice.Why)
	}
}
