package ingest

import (
	"errors"
	"path"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	labels, err := NewLabels([]LabelRule{
		{Label: "discovery", Tools: []string{"Read", "*_search"}},
		{Label: "interaction", Tools: []string{"mm_click", "mm_fill*"}},
		{Label: "confirmation", Tools: []string{"mm_click"}, Target: "Confirm"},
		{Label: "interaction", Tools: []string{"mm_*"}},
		{Label: "error-recovery", Failed: true},
	})
	must(t, err)
	for name, tc := range map[string]struct {
		tool, target string
		failed       bool
		want         string
	}{
		"a name":                 {"read", "", false, "discovery"},
		"case":                   {"READ", "", false, "discovery"},
		"a pattern":              {"code_search", "", false, "discovery"},
		"a pattern from the end": {"mm_fill_form", "", false, "interaction"},
		"not a part of a name":   {"reader", "", false, ""},
		"a word in the target":   {"mm_click", "send-CONFIRM-button", false, "interaction confirmation"},
		"another target":         {"mm_click", "cancel", false, "interaction"},
		"a failure":              {"mm_click", "confirm", true, "interaction confirmation error-recovery"},
		"any tool":               {"unheard of", "", true, "error-recovery"},
		"a server before it":     {"mcp__browser__mm_click", "", false, "interaction"},
		"another server":         {"browser:mm_fill", "", false, "interaction"},
		"one that ends so":       {"browser__", "", false, ""},
		"no tool":                {"", "", false, ""},
	} {
		if got := strings.Join(labels(tc.tool, tc.target, tc.failed), " "); got != tc.want {
			t.Errorf("%s: the labels of %q on %q, failed %v, are %q, want %q", name, tc.tool, tc.target, tc.failed, got, tc.want)
		}
	}
	if _, err := NewLabels([]LabelRule{{Label: "x", Tools: []string{"[a"}}}); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("a broken pattern = %v, want it refused", err)
	}
}
