package indexer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestTitleNames(t *testing.T) {
	for title, want := range map[string][]string{
		"":                         nil,
		"Absolute paths":           {"Absolute paths"},
		"db/models/query.py":       {"db/models/query.py", "query.py", "query", "models/query"},
		`db\models\query.py`:       {`db\models\query.py`, "query.py", "query", "models/query"},
		"create_issue":             {"create_issue", "create_issue", "create_issue"},
		"how to write a file in C": nil, // a sentence
	} {
		if diff := cmp.Diff(want, titleNames(title)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", title, diff)
		}
	}
}

func TestDeclaredNames(t *testing.T) {
	text := "class QuerySet(Base):\n    async def aget(self):\n\nfunc (s *Server) Serve(l net.Listener) {\nexport default function useQuery() {\n" +
		"pub(crate) unsafe fn read_file<T>() {\npublic static final class Inner {\ntype Größe int\nreturn function of x\n# class of problems\ndef\nfunc (broken\n"
	want := []string{"QuerySet", "aget", "Serve", "useQuery", "read_file", "Inner", "Größe"}
	if diff := cmp.Diff(want, declaredNames(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNamesFollowTheirDocument takes names through writes, removal and a restart.
func TestNamesFollowTheirDocument(t *testing.T) {
	r := newRig(t, nil)
	reference := func(id, title, text string) memory.Record { return referenceIn("p", id, title, text) }
	found := func(name string, want int) {
		t.Helper()
		if got := len(r.index.Called(memory.FoldName(name), "p")); got != want {
			t.Errorf("%d documents are called %s, want %d", got, name, want)
		}
		if got := r.index.Called(memory.FoldName(name), "other"); len(got) != 0 {
			t.Errorf("%d documents of another project are called %s", len(got), name)
		}
	}
	r.remember(reference("a", "db/query.py", "def run_all():"), reference("b", "db/query.pyi", "nothing"), lesson("l", "p", "class Lesson"))
	found("query", 2)
	found("runAll", 1)
	found("lesson", 0)
	r.reopen()
	found("query", 2)
	r.remember(reference("a", "db/other.py", "def run_all():"))
	found("query", 1)
	found("other", 1)
	r.commit(memory.Batch{DropRecords: []string{"a", "b"}})
	found("query", 0)
	found("runAll", 0)
}

// TestNamesOfASharedText: several records may have one text, also in several projects. Each
// gives it its names, and takes only these away.
func TestNamesOfASharedText(t *testing.T) {
	r := newRig(t, nil)
	found := func(p, q int) {
		t.Helper()
		for project, want := range map[string]int{"p": p, "q": q} {
			for _, name := range []string{"query", "runAll"} {
				if got := r.index.Called(memory.FoldName(name), project); len(got) != want {
					t.Errorf("in project %s %d documents are called %s, want %d", project, len(got), name, want)
				}
			}
		}
	}
	for _, of := range []struct{ project, id string }{{"p", "a"}, {"q", "b"}, {"p", "c"}} {
		r.remember(referenceIn(of.project, of.id, "db/query.py", "def run_all():"))
	}
	found(1, 1)
	r.check()
	r.commit(memory.Batch{DropRecords: []string{"a"}})
	found(1, 1)
	r.commit(memory.Batch{DropRecords: []string{"c"}})
	found(0, 1)
	r.check()
	r.reopen()
	found(0, 1)
}

func referenceIn(project, id, title, text string) memory.Record {
	x := lesson(id, project, title+"\n"+text)
	x.Kind, x.Event, x.Reference = memory.Reference, nil, &memory.RefContent{Name: id, Title: title}
	return x
}
