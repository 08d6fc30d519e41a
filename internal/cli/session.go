package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// sessionCommand holds the commands that open and end a session.
func sessionCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "Open and end sessions",
		Long: `Open a session and end it, for scripts that record what they do. recalld step
records into it; agents do the same through MCP.`,
		Example: "  recalld session start --goal \"Send flow smoke test\" --flow-tags send\n  recalld session end",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(sessionStartCommand(a), sessionEndCommand(a))
	return c
}

// sessionStartCommand opens a session.
func sessionStartCommand(a *App) *cobra.Command {
	var r memory.StartSessionRequest
	var build, launch string
	c := &cobra.Command{
		Use:   "start",
		Short: "Open a session",
		Long: `Open a session: one run of one agent, or of a script. Branch and commit of the
working folder are filled in. Until it ends it is the current session of this
command line in the project; while several are open, name the one that you mean.`,
		Example: `  recalld session start --goal "Send flow smoke test" --flow-tags send --tags smoke
  recalld session start --id nightly-42 --build '{"buildType": "build:test"}' --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if r.Build, err = objectFlag(c, "build", build); err != nil {
				return err
			}
			if r.Launch, err = objectFlag(c, "launch", launch); err != nil {
				return err
			}
			if err := sessionFlag(c, "id", r.SessionID); err != nil {
				return err
			}
			if err := r.Validate(); err != nil {
				return err
			}
			r.Caller = a.caller()
			svc, err := a.service(c.Context())
			if err != nil {
				return err
			}
			state, err := service.StartSession.Do(c.Context(), svc, r)
			if err != nil {
				return err
			}
			return a.answer(state, func(w io.Writer) {
				fmt.Fprintf(w, "Session %s is open in project %s\n", state.ID, memory.ProjectLabel(state.ProjectName, state.Project))
				writeNotes(w, state.Redacted, "files", state.Dir, state.Warning)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.SessionID, "id", "", "the session's id (default: one is made)")
	flags.StringVar(&r.Goal, "goal", "", "what it is for, in a sentence")
	flags.StringSliceVar(&r.FlowTags, "flow-tags", nil, "the flows it is about, of those in the settings: a,b")
	flags.StringSliceVar(&r.Tags, "tags", nil, "a few words to group by: a,b")
	flags.StringVar(&build, "build", "", "facts about the build, a JSON object")
	flags.StringVar(&launch, "launch", "", "how the program under test was started, a JSON object")
	flags.BoolVar(&r.Screenshots, "screenshots", false, "store the pictures that its steps name")
	flags.StringVar(&r.Project, "project", "", "project id or name (default: the working folder's)")
	allowEmpty(c, "id") // refused by its field's name
	a.completeFlowTags(c, "flow-tags")
	a.completeProjects(c, "project")
	return c
}

// sessionEndCommand ends a session.
func sessionEndCommand(a *App) *cobra.Command {
	var r memory.EndSessionRequest
	c := &cobra.Command{
		Use:     "end [SESSION]",
		Short:   "End a session",
		Long:    "End a session, by default the current one of this command line. It stays searchable; ending it again changes nothing.",
		Example: "  recalld session end\n  recalld session end mm-20260115-abc",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				r.SessionID = args[0]
				if err := memory.ValidSessionID("sessionId", r.SessionID); err != nil {
					return err
				}
			}
			if err := r.Validate(); err != nil {
				return err
			}
			r.Caller = a.caller()
			svc, err := a.service(c.Context())
			if err != nil {
				return err
			}
			state, err := service.EndSession.Do(c.Context(), svc, r)
			if err != nil {
				return orOpened(err)
			}
			return a.answer(state, func(w io.Writer) {
				fmt.Fprintf(w, "Session %s of project %s has ended, with %s\n", state.ID,
					memory.ProjectLabel(state.ProjectName, state.Project), memory.Count(state.Steps, "step"))
				writeNotes(w, state.Redacted, "files", state.Dir, state.Warning)
			})
		},
	}
	c.Flags().StringVar(&r.Project, "project", "", "project id or name (default: the working folder's)")
	a.completeProjects(c, "project")
	c.ValidArgsFunction = a.completeSession
	return c
}

// sessionFlag checks a session's id that was given with a flag: an empty one
// would mean that none was.
func sessionFlag(c *cobra.Command, flag, id string) error {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return memory.ValidSessionID("sessionId", id)
}

// objectFlag reads a flag that holds a JSON object; nil if it was not given.
func objectFlag(c *cobra.Command, flag, text string) (json.RawMessage, error) {
	if !c.Flags().Changed(flag) {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, memory.Invalid(flag, "a JSON object", "%q is not one", shortText(text, 60))
	}
	return json.RawMessage(text), nil
}

// writeNotes adds what the writer of a memory should know of it: where its file
// is, and what could not be done beside.
func writeNotes(w io.Writer, redacted bool, what, file, warning string) {
	if redacted {
		fmt.Fprintln(w, "A secret was taken out of the text.")
	}
	if file != "" {
		fmt.Fprintf(w, "%s: %s\n", what, file)
	}
	if warning != "" {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}
