package indexer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// library fills a rig with records and files for the filters.
func library(t *testing.T) *rig {
	r := newRig(t, nil)
	for box, project := range map[string]string{"s-1": "p-1", "s-1b": "p-1", "s-2": "p-2"} {
		r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: box, Project: project, Root: "/" + box}}})
	}
	r.commit(memory.Batch{Sessions: []memory.Session{{ID: "sess", Project: "p-1", CreatedAt: testTime}}})
	put := func(id, project, text string, change func(*memory.Record)) {
		rec := lesson(id, project, text)
		change(&rec)
		r.remember(rec)
	}
	put("old", "p-1", "topic of long ago", func(x *memory.Record) { x.Created = testTime.AddDate(-1, 0, 0); x.Repo = "one" })
	put("new", "p-1", "topic of today", func(x *memory.Record) { x.Tags = []string{"npm", "ci"}; x.Repo = "one"; x.Session = "sess" })
	put("step", "p-1", "topic of a step", func(x *memory.Record) { x.Kind, x.Event, x.Session = memory.Step, nil, "sess" })
	put("other", "p-2", "topic of another project", func(x *memory.Record) { x.Repo = "two"; x.Tags = []string{"ci"} })
	put("same-1", "p-1", "topic in both", func(x *memory.Record) { x.Tags = []string{"npm"} })
	put("same-2", "p-2", "topic in both", func(x *memory.Record) { x.Repo = "two" })
	put("ref-2", "p-2", "topic of a reference", func(x *memory.Record) { x.Kind, x.Event = memory.Reference, nil })
	followed := func(x *memory.Record) { x.Provenance.Origin, x.Repo, x.Session = memory.OriginFollowed, "two", "sess" }
	put("file", "p-1", "topic of a log in the repository", followed)
	put("file-step", "p-1", "topic of a folder in the repository", func(x *memory.Record) {
		followed(x)
		x.Kind, x.Event = memory.Step, nil
	})
	put("file-same", "p-1", "topic in both", followed)
	r.putFile("p-1", "s-1", "src/auth/login.go", "topic in code")
	r.putFile("p-1", "s-1b", "src/auth/login.go", "topic in code")
	r.putFile("p-1", "s-1", "src/authentic.ts", "topic in script")
	r.putFile("p-2", "s-2", "docs/auth.md", "topic in prose")
	f, _ := r.disk.write("p-1", "s-1", "web/app.ts", "topic of the web")
	f.Lang, f.ModTime = "ts", testTime.AddDate(0, 1, 0)
	r.commit(memory.Batch{Files: []memory.File{f}}, "topic of the web")
	return r
}

func TestSelection(t *testing.T) {
	r := library(t)
	code := []memory.Kind{memory.Chunk}
	all := []string{
		"new", "old", "other", "ref-2", "s-1/src/auth/login.go", "s-1/src/authentic.ts", "s-1/web/app.ts",
		"s-1b/src/auth/login.go", "s-2/docs/auth.md", "same-1", "same-2", "step",
	}
	login := []string{"s-1/src/auth/login.go", "s-1b/src/auth/login.go"}
	for name, test := range map[string]struct {
		sel  memory.Selection
		want []string
	}{
		"everything":            {memory.Selection{}, all},
		"own project":           {memory.Selection{Project: "p-1", Kinds: memory.DefaultKinds}, []string{"new", "old", "s-1/src/auth/login.go", "s-1/src/authentic.ts", "s-1/web/app.ts", "s-1b/src/auth/login.go", "same-1", "step"}},
		"own and all lessons":   {memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true}, []string{"new", "old", "other", "same-1", "same-2"}},
		"lessons, any kind":     {memory.Selection{Project: "p-2", AllLessons: true}, []string{"new", "old", "other", "ref-2", "s-2/docs/auth.md", "same-1", "same-2"}},
		"no lessons wanted":     {memory.Selection{Project: "p-2", Kinds: []memory.Kind{memory.Reference}, AllLessons: true}, []string{"ref-2"}},
		"certain records":       {memory.Selection{Only: map[string]bool{"new": true, "same-1": true}}, []string{"new", "same-1"}},
		"certain of a project":  {memory.Selection{Project: "p-2", Only: map[string]bool{"other": true, "new": true}}, []string{"other"}},
		"no record":             {memory.Selection{Only: map[string]bool{}}, nil},
		"unknown project":       {memory.Selection{Project: "p-3"}, nil},
		"kind":                  {memory.Selection{Kinds: []memory.Kind{memory.Step, memory.Reference}}, []string{"ref-2", "step"}},
		"repository":            {memory.Selection{Project: "p-1", Repos: []string{"one"}}, []string{"new", "old"}},
		"another's repository":  {memory.Selection{Project: "p-1", Repos: []string{"two"}, AllLessons: true}, []string{"other", "same-2"}},
		"under two names":       {memory.Selection{Repos: []string{"two", "one"}, Project: "p-1", AllLessons: true}, []string{"new", "old", "other", "same-2"}},
		"under two, own only":   {memory.Selection{Repos: []string{"two", "one"}, Project: "p-1"}, []string{"new", "old"}},
		"a second project":      {memory.Selection{Project: "p-1", Also: "p-2", Kinds: []memory.Kind{memory.Lesson, memory.Reference}}, []string{"new", "old", "other", "ref-2", "same-1", "same-2"}},
		"a second, its kinds":   {memory.Selection{Project: "p-1", Also: "p-2", Kinds: []memory.Kind{memory.Reference}}, []string{"ref-2"}},
		"a second, tag":         {memory.Selection{Project: "p-1", Also: "p-2", Tag: "ci"}, []string{"new", "other"}},
		"a second, unknown":     {memory.Selection{Project: "p-1", Also: "p-3", Kinds: []memory.Kind{memory.Step}}, []string{"step"}},
		"session":               {memory.Selection{Project: "p-1", Session: "sess"}, []string{"new", "step"}},
		"tag":                   {memory.Selection{Tag: "ci"}, []string{"new", "other"}},
		"tag of the other same": {memory.Selection{Project: "p-2", Tag: "npm"}, nil},
		"language":              {memory.Selection{Lang: "ts"}, []string{"s-1/web/app.ts"}},
		"since":                 {memory.Selection{Kinds: []memory.Kind{memory.Lesson}, Since: testTime}, []string{"new", "other", "same-1", "same-2"}},
		"since, code":           {memory.Selection{Since: testTime.Add(time.Hour)}, []string{"s-1/web/app.ts"}},
		"folder":                {memory.Selection{Path: "src/auth"}, login},
		"folder with a slash":   {memory.Selection{Path: "./src/auth/"}, login},
		"file":                  {memory.Selection{Path: "src/auth/login.go"}, login},
		"part of a name":        {memory.Selection{Path: "src/aut"}, nil},
		"glob in one folder":    {memory.Selection{Path: "src/*.ts"}, []string{"s-1/src/authentic.ts"}},
		"glob across folders":   {memory.Selection{Path: "**/*.ts"}, []string{"s-1/src/authentic.ts", "s-1/web/app.ts"}},
		"glob at the top":       {memory.Selection{Path: "*"}, nil},
		"any code":              {memory.Selection{Path: "**", Kinds: code}, []string{"s-1/src/auth/login.go", "s-1/src/authentic.ts", "s-1/web/app.ts", "s-1b/src/auth/login.go", "s-2/docs/auth.md"}},
		"path of lessons":       {memory.Selection{Path: "**", Kinds: []memory.Kind{memory.Lesson}}, nil},
		"broken glob":           {memory.Selection{Path: "src/["}, nil},
		"path and project":      {memory.Selection{Path: "**", Project: "p-2"}, []string{"s-2/docs/auth.md"}},
		"followed":              {memory.Selection{Project: "p-1", Kinds: memory.DefaultKinds, Session: "sess", Followed: true}, []string{"file", "file-same", "file-step", "new", "step"}},
		"followed, all lessons": {memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true, Followed: true}, []string{"file", "file-same", "new", "old", "other", "same-1", "same-2"}},
		"of another's files":    {memory.Selection{Project: "p-2", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true, Followed: true}, []string{"new", "old", "other", "same-1", "same-2"}},
		"nor by its repository": {memory.Selection{Project: "p-2", Repos: []string{"two"}, AllLessons: true, Followed: true}, []string{"other", "same-2"}},
		"nor as a second":       {memory.Selection{Project: "p-2", Also: "p-1", Kinds: []memory.Kind{memory.Step}, Followed: true}, []string{"step"}},
		"nothing has it all":    {memory.Selection{Project: "p-1", Tag: "npm", Kinds: []memory.Kind{memory.Step}}, nil},
		"project, tag and repo": {memory.Selection{Project: "p-1", Tag: "npm", Repos: []string{"one"}}, []string{"new"}},
	} {
		if diff := cmp.Diff(test.want, r.found("topic", test.sel)); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
		if test.sel.Path == "" && test.sel.Since.IsZero() {
			continue
		}
		// Path and time narrow before retrieval: nothing is allowed in vain.
		allow, _ := r.index.Select(test.sel)
		for it := allow.Iterator(); it.HasNext(); {
			if num := it.Next(); len(r.index.Candidates(num, test.sel)) == 0 {
				t.Errorf("%s: document %d is allowed and holds nothing selected", name, num)
			}
		}
	}
}

func TestUniverseIsTheProjectSearched(t *testing.T) {
	r := library(t)
	for name, test := range map[string]struct {
		sel  memory.Selection
		want uint64
	}{
		"all":             {memory.Selection{Tag: "ci"}, 12},
		"project":         {memory.Selection{Project: "p-1", Tag: "npm"}, 9},
		"and a second":    {memory.Selection{Project: "p-1", Also: "p-2", Tag: "npm"}, 12},
		"and all lessons": {memory.Selection{Project: "p-1", AllLessons: true, Kinds: []memory.Kind{memory.Lesson}}, 10},
	} {
		_, universe := r.index.Select(test.sel)
		if got := universe.GetCardinality(); got != test.want {
			t.Errorf("%s: %d documents count in the statistics, want %d", name, got, test.want)
		}
	}
}

// TestTextInManyFiles holds the filter by path where a document has given up
// carrying its paths one by one.
func TestTextInManyFiles(t *testing.T) {
	r := newRig(t, nil)
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	for i := range maxPaths + 10 {
		r.putFile("p-1", "s-1", fmt.Sprintf("d%d/license.go", i), "the license text")
	}
	for _, path := range []string{"d0", "d5/license.go", fmt.Sprintf("d%d", maxPaths+9), "*0/license.go"} {
		if got := r.found("license", memory.Selection{Path: path}); len(got) == 0 {
			t.Errorf("nothing is found under %s", path)
		}
	}
	if got := r.found("license", memory.Selection{Path: "elsewhere"}); len(got) > 0 {
		t.Errorf("%v is found under elsewhere", got)
	}
	for i := 5; i < maxPaths+10; i++ {
		r.commit(memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: fmt.Sprintf("d%d/license.go", i)}}})
	}
	if got := r.found("license", memory.Selection{Path: "d9"}); len(got) > 0 {
		t.Errorf("%v is found under a folder that is gone", got)
	}
	if got := r.found("license", memory.Selection{Path: "d4"}); !slices.Equal(got, []string{"s-1/d4/license.go"}) {
		t.Errorf("under d4 there is %v, want the one file left there", got)
	}
}

func TestPathWordsAreSearched(t *testing.T) {
	r := library(t)
	if got := r.found("login", memory.Selection{}); len(got) != 2 {
		t.Errorf("a word of a path finds %v, want both places of the file", got)
	}
	f, _ := r.disk.write("p-1", "s-1", "src/session/start.go", "topic in code")
	r.commit(memory.Batch{
		Files:     []memory.File{f},
		DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "src/auth/login.go"}, {Sandbox: "s-1b", Path: "src/auth/login.go"}},
	})
	if got := r.found("login", memory.Selection{}); len(got) != 0 {
		t.Errorf("the name from before the rename finds %v", got)
	}
	if got := r.found("session", memory.Selection{}); !slices.Equal(got, []string{"s-1/src/session/start.go"}) {
		t.Errorf("the name after the rename finds %v", got)
	}
}

func TestLocation(t *testing.T) {
	r := library(t)
	allow, _ := r.index.Select(memory.Selection{Path: "web/app.ts"})
	c := r.index.Candidates(allow.Minimum(), memory.Selection{})[0]
	at, err := r.index.Location(c)
	if err != nil || at.Root != "/s-1" || at.Path != "web/app.ts" || at.Project != "p-1" || at.Chunk.Doc != c.Doc {
		t.Errorf("Location = %+v, %v; want the chunk of web/app.ts in /s-1", at, err)
	}
	r.putFile("p-1", "s-1", "web/app.ts", "entirely different")
	if _, err := r.index.Location(c); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("Location of a replaced chunk = %v, want not found", err)
	}
	if got := r.index.Candidates(allow.Minimum(), memory.Selection{}); len(got) != 0 {
		t.Errorf("a swept document still has the candidates %+v", got)
	}
	r.commit(memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: "web/app.ts"}}})
	if _, err := r.index.Location(c); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("Location in a dropped file = %v, want not found", err)
	}
}

func TestSymbols(t *testing.T) {
	r := newRig(t, nil)
	r.putFile("p-1", "s-1", "a.go", "first", "second", "third")
	key := memory.FileKey{Sandbox: "s-1", Path: "a.go"}
	asked := []memory.Candidate{
		{File: key, Ord: 2}, {File: key, Ord: 0}, {File: key, Ord: 3}, {File: key, Head: true},
		{File: memory.FileKey{Sandbox: "s-1", Path: "b.go"}},
	}
	for range 2 {
		if got, want := r.index.Symbols(asked), []string{"f2", "f0", "", "", ""}; !slices.Equal(got, want) {
			t.Errorf("Symbols = %q, want %q", got, want)
		}
		r.reopen()
	}
}

func TestPathMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/b/c", true}, {"a/b", "a/bc", false}, {"a", "b/a", false},
		{"*.go", "a.go", true}, {"*.go", "d/a.go", false}, {"d/*", "d/a.go", true}, {"d/*", "d/e/a.go", false},
		{"**/*.go", "a.go", true}, {"**/*.go", "d/e/a.go", true}, {"d/**", "d/e/a.go", true}, {"d/**/a.go", "d/a.go", true},
		{"d/**/a.go", "d/x/y/a.go", true}, {"d/**/b.go", "d/x/a.go", false}, {"a?.go", "ab.go", true}, {"[ab].go", "b.go", true},
		{"**", "anything/at/all", true}, {"**/**/**/x", "y", false}, {"ü/*.go", "ü/a.go", true},
		{"app/[id]/page.tsx", "app/[id]/page.tsx", true}, {"app/[id]/page.tsx", "app/i/page.tsx", true}, {"app/[id]", "app/[id]/x/page.tsx", true},
		{"app/[id]/*.tsx", "app/[id]/page.tsx", true}, {"**/[id]/**", "app/(shop)/[id]/page.tsx", true}, {"app/[id]", "app/id/page.tsx", false},
		{"app/(shop)", "app/(shop)/page.tsx", true}, {"app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", true}, {"app/*/[id]", "app/x/[id]", true},
		{".", "a/b", true}, {"./", "a", true}, {"./a/", "a/b", true}, {"./.", "a/b", true}, {"./*.go", "a.go", true}, {".", ".a/b", true}, {".a", "a", false},
		{`app/\[id]/page.tsx`, "app/[id]/page.tsx", true}, {`app/\[id]/page.tsx`, "app/i/page.tsx", false},
	} {
		if got := pathMatches(test.pattern, test.path); got != test.want {
			t.Errorf("pathMatches(%q, %q) = %v, want %v", test.pattern, test.path, got, test.want)
		}
		if prefix := fixedPart(test.pattern); test.want && len(prefix) <= len(test.path) && test.path[:len(prefix)] != prefix {
			t.Errorf("%q matches %q, which does not begin with its fixed part %q", test.pattern, test.path, prefix)
		}
	}
}
