package main

import (
	"bytes"
	"os"
	"testing"
)

// TestTableIsTheLibrarys holds the embedded table against the library that
// go.mod names.
func TestTableIsTheLibrarys(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../gitleaks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the table (%d bytes) is not what gitleaks holds (%d bytes): run go generate ./internal/redact", len(got), len(want))
	}
	if n := bytes.Count(got, []byte("\n")); n < 200 {
		t.Errorf("the table has %d lines, want more than 200 rules", n)
	}
}
