package sessiondir_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/sessiondir"
)

// filledIn are the fields that an export adds where a file lacked them, for the
// contract does not mark them as optional.
var filledIn = []string{"schemaVersion", "sessionId", "createdAt", "timestamp", "outcome", "observation"}

// TestExportGivesBackWhatWasImported holds the files of an export against those
// it was imported from: the same JSON, whatever this version knows of it.
func TestExportGivesBackWhatWasImported(t *testing.T) {
	for _, test := range []struct {
		tree   string
		exact  bool // nothing is filled in
		files  int
		filled []string
	}{
		{tree: "full", exact: true, files: 5},
		{tree: "unknown", exact: true, files: 4},
		{tree: "sparse", files: 6},
	} {
		t.Run(test.tree, func(t *testing.T) {
			from := filepath.Join("testdata", test.tree)
			read := collect(t, sessiondir.ReadTree(from))
			if len(read.problems) > 0 {
				t.Fatalf("problems of a tree without any: %v", read.problems)
			}
			out := filepath.Join(t.TempDir(), "out")
			n, err := sessiondir.Export(out, read.pairs())
			if err != nil || n != test.files {
				t.Fatalf("Export wrote %d files, %v; want %d", n, err, test.files)
			}
			originals, exported := objects(t, from), objects(t, out)
			if len(exported) != len(originals) {
				t.Errorf("%d files were exported of %d", len(exported), len(originals))
			}
			for key, want := range originals {
				got, ok := exported[key]
				if !ok {
					t.Errorf("%s is missing; there are %v", key, keys(exported))
					continue
				}
				for _, name := range filledIn {
					if _, had := want[name]; !had && !test.exact {
						delete(got, name)
					}
				}
				if outcome, ok := want["outcome"].(map[string]any); ok && outcome["ok"] == nil {
					delete(got["outcome"].(map[string]any), "ok")
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s:\n got %v\nwant %v", key, got, want)
				}
			}

			again := filepath.Join(t.TempDir(), "again")
			if _, err := sessiondir.Export(again, collect(t, sessiondir.ReadTree(out)).pairs()); err != nil {
				t.Fatalf("export what was exported: %v", err)
			}
			sameTree(t, out, again)
		})
	}
}

// objects reads all JSON files of a tree, with numbers as they are written, by
// what they are about, for files may change their names.
func objects(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	walkFiles(t, dir, func(path string, text []byte) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		key := "session " + strings.Split(path, string(filepath.Separator))[0]
		if tool, ok := object["tool"].(map[string]any); ok {
			key = "step of " + tool["name"].(string)
			if at, ok := object["timestamp"].(string); ok && tool["name"] == "make" || tool["name"] == "mm_click" {
				key += " at " + at
			}
		} else if id, ok := object["sessionId"].(string); ok {
			key = "session " + id
		}
		if found[key] != nil {
			t.Fatalf("two files are %s", key)
		}
		found[key] = object
	})
	return found
}

func keys(m map[string]map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func walkFiles(t *testing.T, dir string, fn func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fn(rel, text)
		return err
	})
	must(t, err)
}

// sameTree holds two trees against each other byte for byte.
func sameTree(t *testing.T, a, b string) {
	t.Helper()
	files := map[string]string{}
	walkFiles(t, a, func(path string, text []byte) { files[path] = string(text) })
	walkFiles(t, b, func(path string, text []byte) {
		if want, ok := files[path]; !ok || want != string(text) {
			t.Errorf("%s differs:\n%s\nwas\n%s", path, text, want)
		}
		delete(files, path)
	})
	for path := range files {
		t.Errorf("%s is missing", path)
	}
}

// sequence yields sessions, each with the same steps.
func sequence(steps []memory.Record, sessions ...memory.Session) func(func(memory.Session, []memory.Record) bool) {
	return func(yield func(memory.Session, []memory.Record) bool) {
		for _, s := range sessions {
			if !yield(s, steps) {
				return
			}
		}
	}
}

func TestExportIsTheSameInAnyOrder(t *testing.T) {
	steps := []memory.Record{
		testStep("read", now), testStep("read", now.Add(100*time.Microsecond)), testStep("READ", now),
		testStep("a/b", now), testStep("a:b", now), testStep("edit", now.Add(time.Second)),
	}
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	n, err := sessiondir.Export(a, sequence(steps, testSession("run-0001")))
	if err != nil || n != len(steps)+1 {
		t.Fatalf("Export wrote %d files, %v; want %d", n, err, len(steps)+1)
	}
	slices.Reverse(steps)
	if _, err := sessiondir.Export(b, sequence(steps, testSession("run-0001"))); err != nil {
		t.Fatalf("Export in another order: %v", err)
	}
	sameTree(t, a, b)
}

func TestExportKeepsFoldersApart(t *testing.T) {
	dir := t.TempDir()
	steps := []memory.Record{testStep("read", now)}
	n, err := sessiondir.Export(dir, sequence(steps, testSession("Run-0001"), testSession("run-0001"), testSession("nul.log")))
	if err != nil || n != 6 {
		t.Fatalf("Export wrote %d files, %v; want 6", n, err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	seen := map[string]bool{}
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); seen[name] || strings.HasPrefix(name, "nul.") {
			t.Errorf("%s is not a separate folder on every system", e.Name())
		} else {
			seen[name] = true
		}
	}
	read := collect(t, sessiondir.ReadTree(dir))
	for _, id := range []string{"Run-0001", "run-0001", "nul.log"} {
		if got := read.tools(id); !slices.Equal(got, []string{"read"}) {
			t.Errorf("session %s has the steps %v after its export", id, got)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	full, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	write(t, full, "a.txt", "a", 0)
	write(t, filepath.Dir(file), "file", "a", 0)
	noStep := testStep("read", now)
	noStep.Step = nil
	odd := testStep("read", now)
	odd.Step.Observation = json.RawMessage(`{"a":`)
	for _, test := range []struct {
		name  string
		dir   string
		id    string
		steps []memory.Record
		code  memory.Code
	}{
		{"a folder that is not empty", full, "run-0001", nil, memory.CodeConflict},
		{"a file", file, "run-0001", nil, memory.CodeConflict},
		{"an id that leaves the folder", t.TempDir(), "../run", nil, memory.CodeInvalidInput},
		{"a record that is not a step", t.TempDir(), "run-0001", []memory.Record{noStep}, memory.CodeInvalidInput},
		{"a step without a time", t.TempDir(), "run-0001", []memory.Record{testStep("read", time.Time{})}, memory.CodeInvalidInput},
		{"a value that is no JSON", t.TempDir(), "run-0001", []memory.Record{odd}, memory.CodeInvalidInput},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := sessiondir.Export(test.dir, sequence(test.steps, testSession(test.id)))
			if code := memory.CodeOf(err); err == nil || code != test.code {
				t.Errorf("Export: %v, code %s; want code %s", err, code, test.code)
			}
		})
	}
	t.Run("a session twice", func(t *testing.T) {
		s := testSession("run-0001")
		if _, err := sessiondir.Export(t.TempDir(), sequence(nil, s, s, s)); memory.CodeOf(err) != memory.CodeConflict {
			t.Errorf("Export: %v; want a conflict", err)
		}
	})
}
