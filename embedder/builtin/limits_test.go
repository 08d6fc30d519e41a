package builtin_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// limits are questions with a text that answers and one that does not, by what makes
// the two hard to tell apart for a sum of words. docs/model.md shows some.
var limits = []struct{ about, question, right, wrong string }{
	{"negation", "the server does not support TLS", "TLS is missing in the server", "the server does support TLS"},
	{"negation", "tests that never passed", "tests which failed every time", "tests that passed"},
	{"order of words", "convert a string to an integer", "parse a number out of text", "convert an integer to a string"},
	{"order of words", "the client closes the connection before the server", "the peer hangs up first", "the server closes the connection before the client"},
	{"opposites", "increase the memory limit", "allow more RAM", "decrease the memory limit"},
	{"opposites", "acquire the lock", "take the mutex", "release the lock"},
	{"numbers", "timeout after 30 seconds", "timeout after half a minute", "timeout after 60 seconds"},
	{"numbers", "error 404", "the page was not found", "error 500"},
	{"versions", "works since version 1.21", "needs version 1.21 or newer", "works since version 1.12"},
	{"names of people", "what did Caroline say about the museum", "Caroline: I loved the paintings there", "Melanie: what did you say about the museum"},
	{"abbreviations", "least recently used cache", "type LRU struct", "recently used files"},
	{"abbreviations", "continuous integration", "CI pipeline", "integration by parts of a continuous function"},
	{"slips of the pen", "databse conection refussed", "database connection refused", "connection to the printer was fine"},
	{"slips of the pen", "kuberntes deploymnet", "kubernetes deployment", "employment contract"},
	{"German", "die Verbindung zur Datenbank wurde unterbrochen", "the connection to the database was lost", "die Verbindung zum Drucker ist gut"},
	{"French", "le fichier est introuvable", "file not found", "le fichier est ouvert"},
	{"Chinese", "数据库连接失败", "database connection failed", "数据库备份成功"},
	{"idioms", "it works on my machine", "cannot be reproduced elsewhere", "the washing machine works"},
	{"meaning by use", "kill the child", "terminate the subprocess", "protect children from harm"},
	{"one line in a long text", "rotate the signing key", "Release notes. " + strings.Repeat("The team met and talked about the plan of the next quarter and its budget. ", 20) +
		"Rotate the signing key. " + strings.Repeat("Lunch was served at noon and people went home early that day. ", 20), "press the key to rotate the picture"},
}

// TestLimits keeps the cosines of the limits in a file, for the model card and so that
// another table shows in review what it does better and what worse.
func TestLimits(t *testing.T) {
	var got strings.Builder
	told := 0
	for _, l := range limits {
		right, wrong := cosine(t, l.question, l.right), cosine(t, l.question, l.wrong)
		verdict := "wrong"
		if right > wrong {
			verdict = "right"
			told++
		}
		fmt.Fprintf(&got, "%-24s %s  %5.2f %5.2f  %.50q  %.50q  %.50q\n", l.about, verdict, right, wrong, l.question, l.right, l.wrong)
	}
	fmt.Fprintf(&got, "%d of %d\n", told, len(limits))
	const file = "testdata/limits.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("what the model can tell apart changed (-want +got):\n%s", diff)
	}
}
