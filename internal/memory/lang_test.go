package memory

import (
	"strings"
	"testing"
)

func TestLanguage(t *testing.T) {
	for asked, want := range map[string]string{
		"go": "go", "Golang": "go", "ts": "typescript", ".tsx": "typescript", "PY": "python", "c++": "cpp", "C#": "csharp", " rs ": "rust",
		"sh": "shell", "bash": "shell", "objective-c": "objc", "Dockerfile": "dockerfile", "yml": "yaml", "h": "c", "tf": "hcl",
	} {
		if got, err := Language(asked); got != want || err != nil {
			t.Errorf("Language(%q) = %q, %v; want %q", asked, got, err, want)
		}
	}
	for asked, near := range map[string]string{"pyton": "python", "typscript": "typescript", "gol": "go", "": "", "kotln": "kotlin"} {
		_, err := Language(asked)
		if CodeOf(err) != CodeInvalidInput || !strings.Contains(err.Error(), near) || !strings.Contains(err.Error(), "filters.lang") {
			t.Errorf("Language(%q) = %v; want it refused and %q offered", asked, err, near)
		}
	}
}

func TestFiltersNameTheLanguage(t *testing.T) {
	r := RecallRequest{Query: "x", Filters: &Filters{Lang: "Golang"}}
	if err := Check(&r); err != nil || r.Filters.Lang != "go" {
		t.Errorf("Check = %v with language %q, want go", err, r.Filters.Lang)
	}
	if err := Check(&r); err != nil || r.Filters.Lang != "go" {
		t.Errorf("validated again: %v with language %q, want go", err, r.Filters.Lang)
	}
	r.Filters.Lang = "klingon"
	if err := Check(&r); CodeOf(err) != CodeInvalidInput {
		t.Errorf("Check = %v, want an unknown language refused", err)
	}
	r.Filters.Lang = strings.Repeat("g", MaxNameText+1)
	if err := Check(&r); err == nil || !strings.Contains(err.Error(), "200") {
		t.Errorf("Check = %v, want the limit", err)
	}
}
