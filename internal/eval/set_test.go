package eval

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// files are a set that can be used; tests change one at a time.
func files() map[string]string {
	return map[string]string{
		"corpus.jsonl":  `{"id":"a","title":"T","text":"one","date":"2026"}` + "\n" + `{"id":"b","text":"two","group":"g"}` + "\n",
		"queries.jsonl": `{"id":"q","text":"one?","category":"c"}` + "\n" + `{"id":"r","text":"two?","group":"g"}` + "\n",
		"qrels.tsv":     "q\ta\t1\nr\tb\t2\nr\ta\t0\n",
	}
}

// writeSet writes a set; names that end in .gz are compressed.
func writeSet(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatalf("make set: %v", err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatalf("make set: %v", err)
		}
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("make set: %v", err)
		}
		if strings.HasSuffix(name, ".gz") {
			z := gzip.NewWriter(f)
			_, err = z.Write([]byte(text))
			err = errors.Join(err, z.Close())
		} else {
			_, err = f.WriteString(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatalf("make set: %v", err)
		}
	}
	return dir
}

// readAll opens a set and reads its documents.
func readAll(dir string) (*Set, []Document, error) {
	s, err := OpenSet(dir)
	if err != nil {
		return nil, nil, err
	}
	var docs []Document
	for d, err := range s.Documents() {
		if err != nil {
			return nil, nil, err
		}
		docs = append(docs, d)
	}
	return s, docs, nil
}

func TestSetIsReadPlainAndCompressed(t *testing.T) {
	zipped := map[string]string{}
	for name, text := range files() {
		zipped[name+".gz"] = text
	}
	windows := map[string]string{}
	for name, text := range files() {
		windows[name] = strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
	}
	beir := files()
	for name, text := range beir {
		beir[name] = strings.ReplaceAll(text, `"id":`, `"_id":`)
	}
	beir["qrels.tsv"] = "query-id\tcorpus-id\tscore\n" + beir["qrels.tsv"]
	for name, set := range map[string]map[string]string{"plain": files(), "compressed": zipped, "line ends of Windows": windows, "as BEIR writes them": beir} {
		t.Run(name, func(t *testing.T) {
			s, docs, err := readAll(writeSet(t, set))
			if err != nil {
				t.Fatalf("read set: %v", err)
			}
			if s.Name != "mine" || len(s.Queries) != 2 || s.Queries[1] != (Query{ID: "r", Text: "two?", Group: "g"}) {
				t.Errorf("set %q has questions %+v", s.Name, s.Queries)
			}
			if len(docs) != 2 || !reflect.DeepEqual(docs[0], Document{ID: "a", Kind: memory.Reference, Title: "T", Text: "one"}) || docs[1].Group != "g" {
				t.Errorf("documents are %+v", docs)
			}
			if s.Judged["r"]["b"] != 2 || s.Judged["r"].relevant() != 1 {
				t.Errorf("judgements are %v", s.Judged)
			}
		})
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	good := files()
	for _, test := range []struct {
		name, file, text string
		want             string
	}{
		{"no corpus", "corpus.jsonl", "", "corpus.jsonl: is missing, and so is corpus.jsonl.gz"},
		{"not JSON", "corpus.jsonl", good["corpus.jsonl"] + "\n{", "corpus.jsonl:4: is not a JSON object"},
		{"wrong type", "corpus.jsonl", `{"id":7,"text":"x"}`, "corpus.jsonl:1: is not a JSON object"},
		{"no id", "corpus.jsonl", `{"text":"x"}`, "corpus.jsonl:1: id is empty"},
		{"no text", "corpus.jsonl", `{"id":"x"}`, "corpus.jsonl:1: text is empty"},
		{"unknown kind", "corpus.jsonl", `{"id":"x","text":"x","kind":"poem"}`, `corpus.jsonl:1: kind "poem" is none of [reference lesson step chunk]`},
		{"lesson without text", "corpus.jsonl", `{"id":"x","title":"x","kind":"lesson"}`, "corpus.jsonl:1: text is empty"},
		{"step of no session", "corpus.jsonl", `{"id":"x","text":"x","kind":"step","tool":"Bash"}`, "corpus.jsonl:1: a step needs session and tool"},
		{"chunk of no file", "corpus.jsonl", `{"id":"x","text":"x","kind":"chunk"}`, "corpus.jsonl:1: a chunk needs path"},
		{"chunk of a group", "corpus.jsonl", `{"id":"x","text":"x","kind":"chunk","path":"a.go","group":"g"}`, "corpus.jsonl:1: a chunk has no group"},
		{"question of an unknown kind", "queries.jsonl", `{"id":"q","text":"x","kind":"poem"}`, `queries.jsonl:1: kind "poem" is none of`},
		{"unanswered question that is asked already", "unanswered.jsonl", `{"id":"q","text":"x"}`, `unanswered.jsonl:1: question "q" appears twice`},
		{"tab in id", "corpus.jsonl", `{"id":"x\ty","text":"x"}`, "corpus.jsonl:1: id \"x\\ty\" holds a tab"},
		{"long id", "corpus.jsonl", `{"id":"` + strings.Repeat("ü", 201) + `","text":"x"}`, "corpus.jsonl:1: id has over 200 characters"},
		{"twice", "corpus.jsonl", `{"id":"x","text":"x"}` + "\n" + `{"id":"x","text":"y"}`, `corpus.jsonl:2: document "x" appears twice`},
		{"not UTF-8", "corpus.jsonl", "{\"id\":\"x\",\"text\":\"\xff\"}", "corpus.jsonl:1: is not UTF-8"},
		{"too long", "corpus.jsonl", strings.Repeat(" ", maxLine+1), "corpus.jsonl:1: is longer than 32 MiB"},
		{"no question", "queries.jsonl", "\n", "queries.jsonl: holds no question"},
		{"blank question", "queries.jsonl", `{"id":"q","text":" "}`, "queries.jsonl:1: text is empty"},
		{"long question", "queries.jsonl", `{"id":"q","text":"` + strings.Repeat("x", memory.MaxQuery+1) + `"}`, "queries.jsonl:1: text has 1000001 characters"},
		{"question twice", "queries.jsonl", good["queries.jsonl"] + good["queries.jsonl"], `queries.jsonl:3: question "q" appears twice`},
		{"spaces for tabs", "qrels.tsv", "q a 1", "qrels.tsv:1: has 1 fields"},
		{"grade in words", "qrels.tsv", "q\ta\t1\nq\tb\tyes", `qrels.tsv:2: grade "yes" is not a number`},
		{"infinite grade", "qrels.tsv", "q\ta\tInf", `qrels.tsv:1: grade "Inf" is not a number`},
		{"unknown document", "qrels.tsv", "q\ta\t1\nr\tb\t1\nq\tz\t1\nr\ty\t0", `qrels.tsv:3: document "z" is not in the corpus`},
		{"nothing judged", "qrels.tsv", "other\ta\t1\nq\ta\t0", "qrels.tsv: judges no question"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := files()
			if set[test.file] = test.text; test.text == "" {
				delete(set, test.file)
			}
			_, _, err := readAll(writeSet(t, set))
			if bad, ok := errors.AsType[*InputError](err); !ok || !strings.Contains(bad.Error(), string(filepath.Separator)+test.want) {
				t.Errorf("error is %v, want an *InputError with %q", err, test.want)
			}
		})
	}
}

func TestDamagedCompressionIsAnError(t *testing.T) {
	set := files()
	delete(set, "corpus.jsonl")
	dir := writeSet(t, set)
	if err := os.WriteFile(filepath.Join(dir, "corpus.jsonl.gz"), []byte("not gzip"), 0o600); err != nil {
		t.Fatalf("write corpus: %v", err)
	}
	if _, _, err := readAll(dir); err == nil {
		t.Error("a damaged file was read")
	}
}

// FuzzSet: whatever the files hold, reading ends, with values that keep to what
// the rest relies on or with an error.
func FuzzSet(f *testing.F) {
	good := files()
	f.Add(good["corpus.jsonl"], good["queries.jsonl"], good["qrels.tsv"])
	f.Add("{}", `{"id":"q","text":"x"}`, "q\ta\t1e309")
	f.Add("null", "[]", "\t\t")
	f.Fuzz(func(t *testing.T, corpus, queries, judgements string) {
		s, docs, err := readAll(writeSet(t, map[string]string{"corpus.jsonl": corpus, "queries.jsonl": queries, "qrels.tsv": judgements}))
		if err != nil {
			return
		}
		for _, d := range docs {
			if d.ID == "" || strings.ContainsAny(d.ID, "\t\n") {
				t.Errorf("document has id %q", d.ID)
			}
		}
		for _, q := range s.Queries {
			if grades, ok := s.Judged[q.ID]; ok && !(ideal(grades) > 0) {
				t.Errorf("question %q: its best ranking gains %v", q.ID, ideal(grades))
			}
		}
	})
}

func TestFolderOfASet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: "is not a folder", file + "x": "there is no such folder"} {
		_, err := OpenSet(dir)
		if err == nil || err.Error() != dir+": "+want {
			t.Errorf("open %s: %v, want that it %s", dir, err, want)
		}
		if missing := dir != file; missing != (memory.CodeOf(err) == memory.CodeNotFound) {
			t.Errorf("open %s: the code is %s", dir, memory.CodeOf(err))
		}
	}
}
