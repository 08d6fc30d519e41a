package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// reasons says in words why something was withheld.
var reasons = map[memory.Reason]string{
	memory.BelowFloor: "not relevant enough",
	memory.Gone:       "is no longer there",
	memory.Outside:    "lies outside of its folder",
	memory.Binary:     "is no longer text",
	memory.Changed:    "has changed since it was indexed",
	memory.Unreadable: "cannot be read",
	memory.Duplicate:  "says nearly the same as what was shown",
	memory.OverBudget: "did not fit into the budget",
	memory.OverLimit:  "came after the last that was asked for",
	memory.TooSlow:    "could not be checked in time",
}

// ReasonText says in words why something was withheld; a reason that is not known
// stands for itself.
func ReasonText(r memory.Reason) string {
	if text, ok := reasons[r]; ok {
		return text
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

// purposes says in words what a receipt is of.
var purposes = map[memory.Purpose]string{
	memory.PurposeRecall: "answer", memory.PurposeContext: "context", memory.PurposeTools: "search for tools",
}

// Explain tells of one receipt what was asked, with which settings, what was shown
// with its scores and verdicts, and what was withheld and why. It ends with a line's
// end.
func Explain(r memory.Receipt) string {
	var b strings.Builder
	what, ok := purposes[r.Purpose]
	if !ok {
		what = string(r.Purpose)
	}
	fmt.Fprintf(&b, "Receipt %s: %s of %s", r.ID, what, r.At.UTC().Format(time.RFC3339))
	if r.Session != "" {
		fmt.Fprintf(&b, ", session %s, turn %d", r.Session, r.Turn)
	}
	fmt.Fprintf(&b, "\nAsked: %s\n", strconv.Quote(r.Request.Query))
	line(&b, "Narrowed", narrowed(r.Request))
	line(&b, "Settings", settings(r))
	line(&b, "Found by", found(r))
	for _, d := range r.Degraded {
		line(&b, "Missing", d.Part+": "+d.Reason)
	}
	for _, j := range r.Judged {
		if j.Item == "" {
			line(&b, "Verdict", judgedText(j)+", on all of it")
		}
	}
	fmt.Fprintf(&b, "\nShown (%d, %d tokens):\n", len(r.Items), r.Tokens)
	for i, item := range r.Items {
		shown(&b, i+1, item, r.Judged)
	}
	if len(r.Withheld) > 0 {
		fmt.Fprintf(&b, "\nWithheld (%d):\n", len(r.Withheld))
		for _, w := range r.Withheld {
			fmt.Fprintf(&b, "  %s %s: %s (relevance %.2f)\n", w.Kind, named(w.ID, w.Name, w.Server, w.Path), ReasonText(w.Reason), w.NearestScore)
		}
	}
	return b.String()
}

// line writes a line of its own, nothing for an empty text.
func line(b *strings.Builder, what, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s: %s\n", what, text)
	}
}

// named is an id, and what else it goes by.
func named(id, name, server, path string) string {
	switch {
	case name != "" && name != id:
		return strings.TrimSpace(id + " " + nameOf(name, server))
	case path != "":
		return id + " " + path
	}
	return id
}

// narrowed is what a question was narrowed to.
func narrowed(q memory.RecallRequest) string {
	var parts []string
	add := func(what, value string) {
		if value != "" {
			parts = append(parts, what+" "+value)
		}
	}
	add("kinds", join(q.Kinds))
	add("repo", q.Repo)
	add("project", q.Project)
	if s := q.Scope; s != nil {
		add("scope", s.Name)
		add("session", s.Session)
	}
	if f := q.Filters; f != nil {
		add("flow tag", f.FlowTag)
		add("tag", f.Tag)
		add("screen", f.Screen)
		add("branch", f.GitBranch)
		add("language", f.Lang)
		add("path", f.Path)
		if f.SinceHours > 0 {
			add("the last", strconv.Itoa(f.SinceHours)+" hours")
		}
		if !f.Since.IsZero() {
			add("since", f.Since.UTC().Format(time.RFC3339))
		}
	}
	return strings.Join(parts, ", ")
}

func join(kinds []memory.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, " ")
}

// settings are those that the answer was made with.
func settings(r memory.Receipt) string {
	var parts []string
	if r.Request.Limit > 0 {
		parts = append(parts, fmt.Sprintf("limit %d", r.Request.Limit))
	}
	if r.Request.MaxTokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", r.Request.MaxTokens))
	}
	if s := r.Settings; s != nil {
		for _, kind := range slices.Sorted(maps.Keys(s.MinRelevance)) {
			parts = append(parts, fmt.Sprintf("floor of %s %.2f", kind, s.MinRelevance[kind]))
		}
		parts = append(parts, fmt.Sprintf("vector weight %.3g", s.VectorWeight))
		if s.Embedder != "" {
			parts = append(parts, "embedder "+s.Embedder)
		}
	}
	return strings.Join(parts, ", ")
}

// found says with what and on what it was found.
func found(r memory.Receipt) string {
	parts := []string{"words"}
	parts = append(parts, r.Spaces...)
	if r.Calibration != "" {
		parts = append(parts, "calibration "+r.Calibration)
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; up to update %d; in %s", r.Seq, r.Took.Duration().Round(time.Microsecond))
}

// shown writes an item with its scores and verdicts.
func shown(b *strings.Builder, number int, item memory.ReceiptItem, judged []memory.Judged) {
	fmt.Fprintf(b, "%3d. %s %s", number, item.Kind, named(item.ID, item.Name, item.Server, ""))
	if item.Mode != "" {
		b.WriteString(" [" + string(item.Mode) + "]")
	}
	if item.Relevance > 0 || item.RankFactors != nil {
		fmt.Fprintf(b, ", relevance %.2f", item.Relevance)
	}
	fmt.Fprintf(b, ", %d tokens\n", item.Tokens)
	if f := item.RankFactors; f != nil {
		fmt.Fprintf(b, "     rank %.2f (recency ×%.2f, success ×%.2f, project ×%.2f, session ×%.2f)%s\n",
			f.Score, f.Recency, f.Success, f.Project, f.Session, reached(f))
		for _, name := range slices.Sorted(maps.Keys(f.Retrievers)) {
			s := f.Retrievers[name]
			fmt.Fprintf(b, "     %s: score %.3f → relevance %.2f\n", name, s.Score, s.Relevance)
		}
		if v := f.Verdicts; v != nil {
			fmt.Fprintf(b, "     verdicts before: %s\n", countsText(*v))
		}
	}
	for _, j := range judged {
		if j.Item == item.ID {
			fmt.Fprintf(b, "     verdict: %s\n", judgedText(j))
		}
	}
}

// reached says by what an item came before those that are only like the question.
func reached(f *memory.RankFactors) string {
	text := ""
	if f.Error {
		text += ", the same error"
	}
	if f.Definition != "" {
		text += ", defines " + f.Definition
	}
	if f.Place != "" {
		text += ", at " + f.Place
	}
	return text
}

// countsText counts verdicts: "2 worked, 1 outdated".
func countsText(v memory.Verdicted) string {
	var parts []string
	for i, n := range []int{v.Worked, v.Failed, v.Irrelevant, v.Outdated} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, memory.Verdicts[i]))
		}
	}
	return strings.Join(parts, ", ")
}

func judgedText(j memory.Judged) string {
	text := fmt.Sprintf("%s on %s", j.Verdict, j.At.UTC().Format(time.RFC3339))
	if j.Note != "" {
		text += ", " + strconv.Quote(j.Note)
	}
	return text
}
