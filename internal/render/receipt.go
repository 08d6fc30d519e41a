package render

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

// ShortReceipt is the end of a receipt's id, by which feedback and explain find it.
func ShortReceipt(id string) string { return id[max(0, len(id)-memory.ReceiptDigits):] }

// withReceipt adds the receipt to the text of an answer, for feedback, unless the text has no
// items or no room for it.
func withReceipt(a *memory.RecallResponse, text string, tokens int) string {
	line := "Receipt, for feedback: " + ShortReceipt(a.Receipt) + "\n"
	if len(a.Items) == 0 || a.Receipt == "" || len(text)+len(line) > MaxBytes(tokens) {
		return text
	}
	return text + line
}

// ReceiptTokens is the room of an answer's receipt.
const ReceiptTokens = 9

// Receipt explains a receipt: the request, the items with the reasons for their ranks, what
// was withheld, and the verdicts.
func Receipt(w io.Writer, r *memory.Receipt) {
	what := map[memory.Purpose]string{memory.PurposeRecall: "an answer", memory.PurposeContext: "a context", memory.PurposeTools: "a search for tools"}[r.Purpose]
	where := when(r.Session != "", ", session "+r.Session) + when(r.Turn > 0, fmt.Sprintf(", turn %d", r.Turn))
	fmt.Fprintf(w, "Receipt %s: %s%s, %s\n", r.ID, cmp.Or(what, string(r.Purpose)), where, Time(r.At, "?"))
	rows := [][]string{{"asked", ForeignLine(r.Request.Asked(), 200)}}
	if r.Project != "" {
		rows = append(rows, []string{"project", r.Project})
	}
	rows = append(rows, []string{"cost", fmt.Sprintf("%s, %s", memory.Count(r.Tokens, "token"), r.Took.Duration().Round(10*time.Microsecond))})
	if len(r.Spaces) > 0 {
		rows = append(rows, []string{"models", strings.Join(r.Spaces, ", ")})
	}
	if r.Settings != nil {
		rows = append(rows, []string{"settings", Settings(*r.Settings)})
	}
	for _, d := range r.Degraded {
		rows = append(rows, []string{"without", d.Part + ": " + d.Reason})
	}
	Table(w, rows)

	if len(r.Items) == 0 {
		fmt.Fprintln(w, "\nNothing was handed out.")
	} else {
		fmt.Fprintf(w, "\nHanded out (%d):\n", len(r.Items))
		Table(w, itemRows(r.Items))
	}
	if len(r.Withheld) > 0 {
		fmt.Fprintf(w, "\nWithheld (%d):\n", len(r.Withheld))
		Table(w, withheldRows(r.Withheld))
	}
	if len(r.Judged) > 0 {
		fmt.Fprintf(w, "\nVerdicts (%d):\n", len(r.Judged))
		verdicts := [][]string{{"WHEN", "VERDICT", "ITEM", "NOTE"}}
		for _, j := range r.Judged {
			verdicts = append(verdicts, []string{Time(j.At, "?"), string(j.Verdict), cmp.Or(j.Item, "all"), ForeignLine(j.Note, 60)})
		}
		Table(w, verdicts)
	}
}

// Settings writes the settings of an answer on one line.
func Settings(s memory.AnswerSettings) string {
	text := settingsText(s, "%v", "%.4g")
	if s.Code > 0 {
		text += fmt.Sprintf("; code %s, %s", memory.Count(s.Code, "piece"), Bytes(int64(s.CodeBytes)))
	}
	return text
}

// settingsText writes settings with formats for a threshold and the vector weight.
func settingsText(s memory.AnswerSettings, threshold, weight string) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(s.MinRelevance)) {
		parts = append(parts, fmt.Sprintf("%s "+threshold, kind, s.MinRelevance[kind]))
	}
	text := fmt.Sprintf("vector weight "+weight, s.VectorWeight)
	if len(parts) > 0 {
		text = "thresholds " + strings.Join(parts, ", ") + "; " + text
	}
	if s.Embedder != "" {
		text += "; embedder " + s.Embedder
	}
	return text
}

// itemRows are the rows of the table of items.
func itemRows(items []memory.ReceiptItem) [][]string {
	rows := [][]string{{"ID", "KIND", "NAME", "RELEVANCE", "TOKENS", "WHY"}}
	for _, item := range items {
		rows = append(rows, []string{item.ID, string(item.Kind), ForeignLine(Name(item.Server, item.Name), 60),
			relevanceText(item), strconv.Itoa(item.Tokens), whyText(item)})
	}
	return rows
}

// relevanceText is empty for an item that was included without a search.
func relevanceText(item memory.ReceiptItem) string {
	return when(item.Mode != memory.IncludeAlways && item.Mode != memory.IncludeManual, fmt.Sprintf("%.2f", item.Relevance))
}

// whyText writes how an item was included and what moved its rank.
func whyText(item memory.ReceiptItem) string {
	parts := []string{string(item.Mode)}
	if p := item.Provenance; p != nil {
		parts = append(parts, Provenance(p, Printable))
	}
	if item.RankFactors != nil {
		parts = append(parts, factorsText(item.RankFactors))
	}
	return joined(parts...)
}

// withheldRows are the rows of the table of withheld results.
func withheldRows(withheld []memory.Withheld) [][]string {
	rows := [][]string{{"WITHHELD", "WHAT", "BECAUSE", "NEAREST"}}
	for _, h := range withheld {
		rows = append(rows, []string{string(h.Kind), withheldName(h), ReasonText(h.Reason), fmt.Sprintf("%.2f", h.NearestScore)})
	}
	return rows
}

// withheldName is the name, the path or else the id of a withheld result.
func withheldName(h memory.Withheld) string {
	switch {
	case h.Name != "":
		return ForeignLine(Name(h.Server, h.Name), 60)
	case h.Path != "":
		return ForeignLine(h.Path, 60)
	}
	return h.ID
}

// ReasonText writes a reason in words.
func ReasonText(r memory.Reason) string {
	if r == memory.BelowThreshold {
		return "below the threshold"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}
