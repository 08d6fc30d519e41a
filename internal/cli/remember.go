package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// rememberCommand keeps a lesson. The lesson may be given as plain arguments,
// which is how people type, or as a flag, which is how scripts do.
func rememberCommand(a *App) *cobra.Command {
	var r memory.RememberRequest
	var kind, eventType string
	var anchors []string
	c := &cobra.Command{
		Use:   "remember [LESSON...]",
		Short: "Keep a lesson",
		Long: `Keep a lesson: what was attempted, what was learned, and how well it works.
When this returns, the lesson is durable and is found by words and by meaning.
Secrets are taken out of it first. It is also appended to the repository's log of
lessons. A lesson that it supersedes or retracts is kept and no longer recalled.

A lesson is anchored to the files and symbols that it names, or to those of --anchor:
recall says when they changed since or are gone.`,
		Example: `  recalld remember --type error --context "npm install → EACCES" --command "npm install" \
    --lesson "Run npm with the project's own cache" --tags npm,permissions --success-rate 9/10
  recalld remember Delete the lock file before npm ci
  recalld remember --anchor internal/retry.go#Backoff The first wait must not be zero
  recalld remember --supersedes l-4f2a9c Run npm ci: it deletes what is left over`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if r.Lesson != "" {
					return memory.Invalid("lesson", "one of --lesson and the arguments", "is given twice")
				}
				r.Lesson = strings.Join(args, " ")
			}
			r.Type, r.AlsoType = memory.EventType(eventType), memory.EventType(kind)
			for _, text := range anchors {
				r.Anchors = append(r.Anchors, anchorOf(text, a.opts.Dir))
			}
			return answered(c, a, service.Remember, r, func(w io.Writer, kept *memory.Remembered) {
				verb := "Remembered"
				if kept.Merged {
					verb = "Already known, counted again:"
				}
				fmt.Fprintf(w, "%s %s in project %s\n", verb, kept.ID, memory.ProjectLabel(kept.ProjectName, kept.Project))
				if kept.Redacted {
					fmt.Fprintln(w, "Secrets were taken out of the text.")
				}
				if kept.Log != "" {
					fmt.Fprintf(w, "log: %s\n", kept.Log)
				}
				if kept.Warning != "" {
					fmt.Fprintf(w, "warning: %s\n", kept.Warning)
				}
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Repo, "repo", "", "repository it speaks of (default: the working folder's)")
	flags.StringVar(&kind, "type", "", "error, success or pattern (default pattern)")
	flags.StringVar(&eventType, "event-type", "", "the same as --type")
	flags.StringVar(&r.Context, "context", "", "what was being attempted")
	flags.StringVar(&r.Command, "command", "", "the exact command, if there is one")
	flags.StringVar(&r.Lesson, "lesson", "", "what was learned")
	flags.StringSliceVar(&r.Tags, "tags", nil, "a few words to group by: a,b")
	flags.StringVar(&r.SuccessRate, "success-rate", "", "successes of attempts: 9/10")
	flags.StringSliceVar(&r.Supersedes, "supersedes", nil, "ids of lessons that this one replaces")
	flags.StringSliceVar(&r.Retracts, "retracts", nil, "ids of lessons that were found wrong; this one says why")
	for _, flag := range []string{"supersedes", "retracts"} {
		completeFlag(c, flag, a.completeLessons())
	}
	flags.StringVar(&r.AgentID, "agent-id", "", "who writes it")
	flags.StringArrayVar(&anchors, "anchor", nil, "code that it is about: FILE, FILE#SYMBOL or FILE:10-20; may be repeated")
	flags.BoolVar(&r.Private, "private", false, privateUsage)
	a.projectFlag(c, &r.Project)
	allowEmpty(c, "context", "command", "tags", "success-rate", "agent-id")
	completeWords(c, "type", "error", "success", "pattern")
	completeWords(c, "event-type", "error", "success", "pattern")
	return c
}

// anchorOf reads FILE, FILE#SYMBOL or FILE:10-20. A file that exists is taken from the
// working folder, any other from the root of the repository.
func anchorOf(text, dir string) memory.AnchorRequest {
	r := memory.AnchorRequest{Path: text}
	if path, symbol, ok := strings.Cut(text, "#"); ok {
		r.Path, r.Symbol = path, symbol
	} else if i := strings.LastIndexByte(text, ':'); i > 0 {
		from, to, several := strings.Cut(text[i+1:], "-")
		first, err := strconv.Atoi(from)
		last := first
		if several && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err == nil {
			r.Path, r.Lines = text[:i], []int{first, last}
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && !filepath.IsAbs(r.Path) {
		path := filepath.Join(real, r.Path)
		if _, err := os.Lstat(path); err == nil {
			r.Path = path
		}
	}
	return r
}
