package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// coined is a word that occurs nowhere else.
func coined(begin string, n int) string {
	ends := strings.Fields("zor vex mur den hoy wib kro fen sag jep")
	return begin + ends[n/10%10] + ends[n%10]
}

// guild is a repository whose words mean something only there: what comments call one
// thing the code calls another.
func guild(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "guild")
	for i := range 330 {
		var text strings.Builder
		fmt.Fprintf(&text, "package p%d\n", i)
		for j := range 8 {
			a, b, c := (i*31+j*17)%97, (i*13+j*29)%97, (i*7+j*3)%97
			fmt.Fprintf(&text, "\n// The %s of our %s must dwell with every %s.\nfunc f%d() {\n\t%s := %s\n\t%s(%[5]s)\n\treturn %[8]d\n}\n",
				coined("ilt", a), coined("bla", b), coined("nid", c), j, coined("qua", (a*37+11)%97), coined("tul", (b*41+5)%97), coined("pax", (c*43+7)%97), i*8+j)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("d%d", i%20), fmt.Sprintf("f%d.go", i)), text.String())
	}
	return dir
}

// spaces asks for the status until the spaces are as wanted.
func (m *machine) spaces(what string, wanted func([]memory.CollectionState) bool) {
	m.t.Helper()
	var st memory.Status
	for range attempts {
		m.ask(&st, "", "call", "status")
		if st.State == "ready" && wanted(st.Collections) {
			return
		}
	}
	m.t.Fatalf("never %s: %+v", what, st.Collections)
}

// onlySpace says that one model has all documents and is alone.
func onlySpace(model string) func([]memory.CollectionState) bool {
	return func(spaces []memory.CollectionState) bool {
		return len(spaces) == 1 && spaces[0].Model == model && spaces[0].State == memory.CollectionReady && spaces[0].Embedded == spaces[0].Documents
	}
}

// TestE2EAdapt is the life of an adapted model: made, in use after a restart with all
// embedded anew, better at what is one's own, and taken back.
func TestE2EAdapt(t *testing.T) {
	const shipped = "builtin/static-v1"
	m, dir := newMachine(t), guild(t)
	m.run(dir, "index", dir, "--wait")
	var made memory.Adaptation
	m.ask(&made, dir, "model", "adapt", "--threads", "2")
	if !made.Kept || made.Gain < 3*made.Error || made.After.MRR < 2*made.Before.MRR || made.GeneralAfter.MRR < made.GeneralBefore.MRR-.02 {
		t.Fatalf("adapted: %+v", made)
	}
	var model memory.BuiltinModel
	if m.ask(&model, dir, "model", "show"); model.InUse != shipped || model.Next != made.Model || model.Adapted == nil {
		t.Errorf("before the restart the model is %+v", model)
	}
	m.run(dir, "stop")

	replaced := false
	m.spaces("filled by the adapted model", func(spaces []memory.CollectionState) bool {
		replaced = replaced || slices.ContainsFunc(spaces, func(s memory.CollectionState) bool {
			return s.Model == shipped && s.State == memory.CollectionReplaced && s.ReplacedBy == made.Model
		})
		return onlySpace(made.Model)(spaces)
	})
	t.Logf("the replaced space was seen: %v", replaced)
	// Words find it with either model: what counts is that an answer comes.
	if a := m.recall(dir, "the iltzormur of our blavexden", "--kinds", "chunk", "--min-relevance", "0"); len(a.Items) == 0 {
		t.Error("nothing is found by the adapted model")
	}
	if m.ask(&model, dir, "model", "show"); model.InUse != made.Model || model.Next != made.Model {
		t.Errorf("after the restart the model is %+v", model)
	}

	model = memory.BuiltinModel{}
	if m.ask(&model, dir, "model", "reset"); model.Next != shipped || model.Adapted != nil {
		t.Errorf("reset: %+v", model)
	}
	m.run(dir, "stop")
	m.spaces("filled by the shipped model", onlySpace(shipped))
	if a := m.recall(dir, "the iltzormur of our blavexden", "--kinds", "chunk", "--min-relevance", "0"); len(a.Items) == 0 {
		t.Error("nothing is found by the shipped model")
	}
	if left, err := os.ReadDir(filepath.Join(m.home(), "data", "models")); err != nil || len(left) > 0 {
		t.Errorf("of the adapted model there are left %v, %v", left, err)
	}
}

// TestE2EAdaptKilled: a daemon that is killed while it adapts leaves the shipped model
// and nothing else.
func TestE2EAdaptKilled(t *testing.T) {
	m, dir := newMachine(t), guild(t)
	m.run(dir, "index", dir, "--wait")
	var st memory.Status
	m.ask(&st, dir, "call", "status")
	adapting := m.command(dir, "model", "adapt", "--json")
	progress, err := adapting.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := adapting.Start(); err != nil {
		t.Fatal(err)
	}
	text, buffer := "", make([]byte, 4096)
	for !strings.Contains(text, "training") {
		n, err := progress.Read(buffer)
		if text += string(buffer[:n]); err != nil {
			t.Fatalf("it never trains: %v after %q", err, text)
		}
	}
	daemon, err := os.FindProcess(st.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := adapting.Wait(); err == nil {
		t.Error("the command succeeds though its daemon was killed")
	}
	var model memory.BuiltinModel
	if m.ask(&model, dir, "model", "show"); model.InUse != "builtin/static-v1" || model.Adapted != nil || model.Trouble != "" {
		t.Errorf("after the kill the model is %+v", model)
	}
	if left, err := os.ReadDir(filepath.Join(m.home(), "data", "models")); err == nil {
		t.Errorf("there are left %v", left)
	}
}
