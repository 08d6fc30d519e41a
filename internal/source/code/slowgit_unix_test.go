//go:build unix

package code

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestSlowGitDropsNothing: sources in a folder for output stay indexed when git does not say in
// time that it tracks them.
func TestSlowGitDropsNothing(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "package a\n", "build/rules.go": "package build\n"})
	gitInit(t, root)
	s, opts := newShelf(), settings(Options{SkipDirs: []string{"build"}})
	index(t, root, s, nil, opts)
	want := []string{"a.go", "build/rules.go"}
	if !slices.Equal(s.paths(), want) {
		t.Fatalf("indexed %q, want %q", s.paths(), want)
	}
	for what, program := range map[string]string{
		"tells what it tracks": `case "$*" in *--others*) exec git "$@";; esac; exec sleep 60`,
		"lists any file":       `exec sleep 60`,
	} {
		opts.Git, opts.GitLimit = filepath.Join(t.TempDir(), "git"), 300*time.Millisecond
		must(t, os.WriteFile(opts.Git, []byte("#!/bin/sh\n"+program+"\n"), 0o755))
		if report := index(t, root, s, nil, opts); !report.Incomplete || !slices.Equal(s.paths(), want) {
			t.Errorf("git never %s: indexed %q, incomplete: %v, want %q", what, s.paths(), report.Incomplete, want)
		}
	}
}
