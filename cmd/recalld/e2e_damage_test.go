package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestE2EDamagedTable: a program with one bit of its table changed says what is wrong
// with it and what to do, and leaves what is stored alone. What embeds nothing works.
func TestE2EDamagedTable(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("this system looks for changes of programs itself")
	}
	m, dir := newMachine(t), shop(t)
	m.run(dir, "remember", "Round prices after the discount, never before")
	m.run(dir, "stop")

	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../../embedder/builtin/model.bin")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(program, table)
	if at < 0 {
		t.Fatal("the program does not hold the table as it is in its file")
	}
	program[at+len(table)/2] ^= 1
	damaged := filepath.Join(t.TempDir(), "recalld")
	if err := os.WriteFile(damaged, program, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(damaged, args...)
		cmd.Env, cmd.Dir = m.env, dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("version"); err != nil {
		t.Errorf("version: %v\n%s", err, out)
	}
	for _, command := range []string{"serve", "doctor", "recall prices"} {
		out, err := run(strings.Fields(command)...)
		if _, failed := errors.AsType[*exec.ExitError](err); !failed || !strings.Contains(out, "the model inside this program is damaged") {
			t.Errorf("%s: %v, want a failure that says what is damaged:\n%s", command, err, out)
		}
		if !strings.Contains(out, "install recalld again") {
			t.Errorf("%s does not say what to do:\n%s", command, out)
		}
	}
	if a := m.recall(dir, "round prices"); len(a.Items) != 1 {
		t.Errorf("with the program as it was %d memories are found, want the one", len(a.Items))
	}
}
