package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// writeReceipt explains a receipt: what was asked and how, what was handed out and
// why it stood where it did, what was withheld, and what came of it.
func writeReceipt(w io.Writer, r *memory.Receipt) {
	what := map[memory.Purpose]string{memory.PurposeRecall: "an answer", memory.PurposeContext: "a context", memory.PurposeTools: "a search for tools"}[r.Purpose]
	fmt.Fprintf(w, "Receipt %s: %s", r.ID, cmp.Or(what, string(r.Purpose)))
	if r.Session != "" {
		fmt.Fprintf(w, ", session %s", r.Session)
	}
	if r.Turn > 0 {
		fmt.Fprintf(w, ", turn %d", r.Turn)
	}
	fmt.Fprintf(w, ", %s\n", timeText(r.At, "?"))
	rows := [][]string{{"asked", foreignLine(r.Request.Asked(), 200)}}
	if r.Project != "" {
		rows = append(rows, []string{"project", r.Project})
	}
	rows = append(rows, []string{"cost", fmt.Sprintf("%s, %s", memory.Count(r.Tokens, "token"), r.Took.Duration().Round(10*time.Microsecond))})
	if len(r.Spaces) > 0 {
		rows = append(rows, []string{"models", strings.Join(r.Spaces, ", ")})
	}
	if r.Settings != nil {
		rows = append(rows, []string{"settings", settingsText(*r.Settings)})
	}
	for _, d := range r.Degraded {
		rows = append(rows, []string{"without", d.Part + ": " + d.Reason})
	}
	table(w, rows)

	if len(r.Items) == 0 {
		fmt.Fprintln(w, "\nNothing was handed out.")
	} else {
		fmt.Fprintf(w, "\nHanded out (%d):\n", len(r.Items))
		table(w, itemRows(r.Items))
	}
	if len(r.Withheld) > 0 {
		fmt.Fprintf(w, "\nWithheld (%d):\n", len(r.Withheld))
		table(w, withheldRows(r.Withheld))
	}
	if len(r.Judged) > 0 {
		fmt.Fprintf(w, "\nVerdicts (%d):\n", len(r.Judged))
		verdicts := [][]string{{"WHEN", "VERDICT", "ITEM", "NOTE"}}
		for _, j := range r.Judged {
			verdicts = append(verdicts, []string{timeText(j.At, "?"), string(j.Verdict), cmp.Or(j.Item, "all"), foreignLine(j.Note, 60)})
		}
		table(w, verdicts)
	}
}

// settingsText writes the settings of an answer in a line.
func settingsText(s memory.AnswerSettings) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(s.MinRelevance)) {
		parts = append(parts, fmt.Sprintf("%s %v", kind, s.MinRelevance[kind]))
	}
	text := "vector weight " + strconv.FormatFloat(s.VectorWeight, 'g', 4, 64)
	if len(parts) > 0 {
		text = "floors " + strings.Join(parts, ", ") + "; " + text
	}
	if s.Embedder != "" {
		text += "; embedder " + s.Embedder
	}
	if s.Code > 0 {
		text += fmt.Sprintf("; code %s, %s", memory.Count(s.Code, "piece"), bytesText(int64(s.CodeBytes)))
	}
	return text
}

// itemRows are the lines of the table of what was handed out.
func itemRows(items []memory.ReceiptItem) [][]string {
	rows := [][]string{{"ID", "KIND", "NAME", "RELEVANCE", "TOKENS", "WHY"}}
	for _, item := range items {
		rows = append(rows, []string{item.ID, string(item.Kind), shortText(entryName(item.Server, item.Name), 60),
			relevanceText(item), strconv.Itoa(item.Tokens), whyText(item)})
	}
	return rows
}

// relevanceText is empty for what was included whatever the message.
func relevanceText(item memory.ReceiptItem) string {
	if item.Mode == memory.IncludeAlways || item.Mode == memory.IncludeManual {
		return ""
	}
	return fmt.Sprintf("%.2f", item.Relevance)
}

// whyText says how an item got in and which factors moved it.
func whyText(item memory.ReceiptItem) string {
	var parts []string
	if item.Mode != "" {
		parts = append(parts, string(item.Mode))
	}
	if p := item.Provenance; p != nil {
		text := string(p.Origin)
		if p.Agent != "" {
			text += " by " + printable(p.Agent)
		}
		if p.Path != "" {
			text += " from " + printable(p.Path)
		}
		parts = append(parts, text)
	}
	f := item.RankFactors
	if f == nil {
		return strings.Join(parts, ", ")
	}
	if f.Error {
		parts = append(parts, "the same error")
	}
	if f.Definition != "" {
		parts = append(parts, "defines "+printable(f.Definition))
	}
	if f.Place != "" {
		parts = append(parts, "at "+printable(f.Place))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Retrievers)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", name, f.Retrievers[name].Relevance))
	}
	for _, factor := range []struct {
		name  string
		value float64
	}{{"recency", f.Recency}, {"success", f.Success}, {"project", f.Project}, {"session", f.Session}} {
		if text := fmt.Sprintf("×%.2f", factor.value); factor.value != 0 && text != "×1.00" { // nothing that shows
			parts = append(parts, factor.name+" "+text)
		}
	}
	if text := verdictsText(f.Verdicts); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// withheldRows are the lines of the table of what was withheld.
func withheldRows(withheld []memory.Withheld) [][]string {
	rows := [][]string{{"WITHHELD", "WHAT", "BECAUSE", "NEAREST"}}
	for _, h := range withheld {
		rows = append(rows, []string{string(h.Kind), withheldName(h), reasonText(h.Reason), fmt.Sprintf("%.2f", h.NearestScore)})
	}
	return rows
}

// withheldName is what people call what was withheld: its name, its path, or else its
// id.
func withheldName(h memory.Withheld) string {
	switch {
	case h.Name != "":
		return shortText(entryName(h.Server, h.Name), 60)
	case h.Path != "":
		return foreignLine(h.Path, 60)
	}
	return h.ID
}

func reasonText(r memory.Reason) string { return strings.ReplaceAll(string(r), "_", " ") }
