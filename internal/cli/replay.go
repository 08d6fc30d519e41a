package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// replayCommand asks past questions again under other settings.
func replayCommand(a *App) *cobra.Command {
	var r memory.ReplayRequest
	var since string
	var thresholds []string
	var weight float64
	c := &cobra.Command{
		Use:   "replay --session SESSION | --since TIME",
		Short: "Ask past questions again under other settings",
		Long: `Ask the questions of a session, or since a time, again under other settings. Show what
would change, item by item and in sum. Both the recorded and the new settings run
on today's data, so that effects of new data and of new settings are shown separately.
It changes nothing. Without new settings it shows the effect of new data alone.`,
		Example: `  recalld replay --since 7d --embedder builtin
  recalld replay --session nightly-42 --floor chunk=0.6 --floor lesson=0.4
  recalld replay --since 2026-01-01 --weights 0.1 --limit 200 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if r.Since, err = parseSince("since", since, a.opts.Now()); err != nil {
				return err
			}
			if r.MinRelevance, err = thresholdFlags(thresholds); err != nil {
				return err
			}
			if err := checkSession(c, r.SessionID); err != nil {
				return err
			}
			// A weight of zero is a value: only a flag that is not given keeps the recorded one.
			r.VectorWeight = given(c, "weights", weight)
			if err := memory.Check(&r); err != nil {
				return orHint(err, "since", "name a session with --session, or a time with --since 7d")
			}
			replayed, err := askLong(c.Context(), a, service.Replay, r, "questions", func(shown *progress, p memory.ReplayProgress) {
				shown.show("asking again", int64(p.Done), int64(p.Total))
			})
			if err != nil {
				return err
			}
			replayed.Answers = orEmpty(replayed.Answers)
			return a.recorded(replayed, replayed.Tally.Questions > 0, func(w io.Writer) { writeReplayed(w, replayed) })
		},
	}
	flags := c.Flags()
	a.sessionFlag(c, &r.SessionID, "the questions of this session, by its id")
	flags.StringVar(&since, "since", "", "the questions from then on: "+sinceUsage)
	countFlag(c, &r.Limit, "limit", "most questions, the newest", 1, memory.MaxReplayed, memory.MaxReplayed)
	flags.StringVar(&r.Embedder, "embedder", "", "the one model that answers: builtin, ollama/NAME, or none for words alone")
	flags.StringArrayVar(&thresholds, "floor", nil, "another lowest relevance, 0–1: chunk=0.6; may be given several times")
	flags.Float64Var(&weight, "weights", 0, "the weight of vectors beside words, 0–10 (recall uses 0.1)")
	completeFlag(c, "embedder", a.completeModels(false, "none"))
	a.projectFlag(c, &r.Project)
	return c
}

// thresholdFlags reads KIND=THRESHOLD pairs, and returns nil for none.
func thresholdFlags(texts []string) (map[memory.Kind]float64, error) {
	var thresholds map[memory.Kind]float64
	for _, text := range texts {
		kind, number, _ := strings.Cut(text, "=")
		threshold, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, memory.Invalid("floor", "KIND=0–1", "%s is no threshold", memory.Quote(text))
		}
		if _, twice := thresholds[memory.Kind(kind)]; twice {
			return nil, memory.Invalid("floor", "each kind once", "%s is given twice", memory.Quote(kind))
		}
		if thresholds == nil {
			thresholds = map[memory.Kind]float64{}
		}
		thresholds[memory.Kind(kind)] = threshold
	}
	return thresholds, nil
}

// writeReplayed shows only answers that differ: the others are counted.
func writeReplayed(w io.Writer, r *memory.Replayed) {
	if r.Tally.Questions == 0 {
		fmt.Fprintf(w, "No matching questions in project %s.\n", memory.ProjectLabel(r.ProjectName, r.Project))
		return
	}
	fmt.Fprintf(w, "New settings: %s\n", render.Settings(r.New))
	same := 0
	for _, answer := range r.Answers {
		if !answer.DataChanged && !answer.SettingsChanged && answer.Error == "" {
			same++
			continue
		}
		writeReplayedAnswer(w, &answer)
	}
	if same > 0 {
		fmt.Fprintf(w, "\n%s as before.\n", memory.Count(same, "answer"))
	}
	t := r.Tally
	fmt.Fprintf(w, "\n%s, %d failed; %s the same.\nThe data brought %d and took %d; the settings bring %d, take %d and move %d.\n",
		memory.Count(t.Questions, "question"), t.Failed, memory.Count(t.Same, "item"), t.DataAdded, t.DataRemoved, t.SettingsAdded, t.SettingsRemoved, t.SettingsMoved)
	writeDegraded(w, r.Degraded)
	if r.More {
		fmt.Fprintln(w, "There were more questions: use --limit.")
	}
}

// writeReplayedAnswer writes what differs of one answer.
func writeReplayedAnswer(w io.Writer, answer *memory.ReplayedAnswer) {
	fmt.Fprintf(w, "\n%s  %s  %s\n", answer.Receipt, render.Time(answer.At, "?"), render.ForeignLine(answer.Query, 60))
	if answer.Error != "" {
		fmt.Fprintf(w, "  could not be asked: %s\n", answer.Error)
		return
	}
	rows := [][]string{{"  RECORDED", "TODAY", "NEW", "KIND", "WHAT"}}
	for _, item := range answer.Items {
		if item.Recorded == item.Before && item.Before == item.After {
			continue
		}
		what := cmp.Or(render.ForeignLine(item.Title, 50), item.ID)
		if item.Reason != "" {
			what += " (" + render.ReasonText(item.Reason) + ")"
		}
		rows = append(rows, []string{"  " + rankText(item.Recorded), rankText(item.Before), rankText(item.After), string(item.Kind), what})
	}
	render.FitTable(w, rows)
}

// rankText writes a rank; one that is 0 was not shown.
func rankText(rank int) string {
	if rank == 0 {
		return "-"
	}
	return strconv.Itoa(rank)
}
