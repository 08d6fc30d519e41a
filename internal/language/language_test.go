package language

import (
	"slices"
	"testing"
)

// TestNamesAreUnique: no two languages that are indexed share a name or an extension, and the files and
// interpreters are of languages that are in the table.
func TestNamesAreUnique(t *testing.T) {
	of := map[string]string{}
	for _, name := range All() {
		for other := range Names(name) {
			if first, ok := of[other]; ok && first != name {
				t.Errorf("%q is a name of both %s and %s", other, first, name)
			}
			of[other] = name
		}
	}
	for _, langs := range []map[string]string{byName, byInterpreter} {
		for key, lang := range langs {
			if _, ok := table[lang]; !ok {
				t.Errorf("%s is of %q, which is not in the table", key, lang)
			}
			if at, ok := of[key]; ok && at != lang {
				t.Errorf("%s is a name of %s, and of %s in the table", key, lang, at)
			}
		}
	}
}

func TestOf(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.go": "go", "X.PYI": "python", "Dockerfile": "dockerfile", "dev.Dockerfile": "dockerfile", "Makefile.am": "make", "GNUmakefile": "make",
		"go.mod": "gomod", ".env": "shell", "photo.PNG": Binary, "table.csv": Data, "BUILD": "starlark", "a.tsx": "typescript",
		"CMakeLists.txt": "cmake", "notes.txt": "text", "x.h": "c", ".eslintrc": "", "none": "", "a.unknown": "",
	} {
		if got := Of(path, nil); got != want {
			t.Errorf("Of(%q) = %q, want %q", path, got, want)
		}
	}
	for line, want := range map[string]string{
		"#!/bin/sh -e\n": "shell", "#!/usr/bin/env -S LANG=C python3.12 -u\nx": "python", "#!/opt/own\n": "", "#!/usr/bin/node": "javascript", "": "", "plain": "", "# !/bin/sh\n": "", "#!": "",
	} {
		if got := Of("script", []byte(line)); got != want {
			t.Errorf("Of(%q) = %q, want %q", line, got, want)
		}
	}
}

func TestAll(t *testing.T) {
	all := All()
	if !slices.IsSorted(all) || len(all) < 70 || slices.Contains(all, Data) || slices.Contains(all, Binary) {
		t.Errorf("All() = %q", all)
	}
}
