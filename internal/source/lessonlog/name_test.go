package lessonlog

import (
	"strings"
	"testing"
)

// fileNameTests are names of repositories and of their logs. Checksums are what
// cksum(1) prints; the script is held to the same table.
var fileNameTests = []struct{ repo, want string }{
	{"recalld", "recalld.jsonl"},
	{"my-app_2.0", "my-app_2.0.jsonl"},
	{"bücher", "bücher.jsonl"},
	{"my repo", "my_repo-140676405.jsonl"},
	{"org/repo", "org_repo-1835130440.jsonl"},
	{`..\..\x`, "_._.._x-3258898939.jsonl"},
	{".", "_-3020105882.jsonl"},
	{"..", "_.-2286096777.jsonl"},
	{".hidden", "_hidden-3318770155.jsonl"},
	{"-rf", "_rf-2517701885.jsonl"},
	{"CON", "_CON-283470280.jsonl"},
	{"nul.txt", "_nul.txt-3792420485.jsonl"},
	{"com1", "_com1-1266365674.jsonl"},
	{"company", "company.jsonl"},
	{"a\nb", "a_b-3645402214.jsonl"},
	{"%s$(x)`y`", "_s__x__y_-77770773.jsonl"},
	{strings.Repeat("a", 80), strings.Repeat("a", 80) + ".jsonl"},
	{strings.Repeat("a", 81), strings.Repeat("a", 80) + "-4126623893.jsonl"},
	{strings.Repeat("ü", 60), strings.Repeat("_", 80) + "-1303989621.jsonl"},
}

func TestFileName(t *testing.T) {
	seen := map[string]string{}
	for _, test := range fileNameTests {
		got := FileName(test.repo)
		if got != test.want {
			t.Errorf("FileName(%q) = %q, want %q", test.repo, got, test.want)
		}
		if len(got) > 100 || strings.ContainsAny(got, "/\\:") || got[0] == '.' {
			t.Errorf("FileName(%q) = %q is no safe name", test.repo, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q share the file %s", test.repo, other, got)
		}
		seen[got] = test.repo
	}
}

// The figures are what cksum(1) prints.
func TestCksum(t *testing.T) {
	for text, want := range map[string]uint32{"": 4294967295, "123456789": 930766865} {
		if got := cksum(text); got != want {
			t.Errorf("cksum(%q) = %d, want %d", text, got, want)
		}
	}
}
