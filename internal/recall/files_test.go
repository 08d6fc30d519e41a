package recall

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

func TestFiles(t *testing.T) {
	s, l := newLight()
	l.file(at("queue/retry.go"), "package queue")
	l.file(at("queue/job.go"), "package queue")
	l.file(at("docs/queue.md"), "# hunter2")
	service := s.service(t, l.options(true, ""), func(o *Options) {
		o.Redact = func(text string) (string, int) { return "redacted " + text, 1 }
	})
	list, err := service.Files(t.Context(), memory.FilesRequest{Pattern: " queue ", Limit: 2})
	want := &memory.FileList{Project: "p-own", ProjectName: "own", Total: 3, Files: []memory.FileMatch{
		{Path: "docs/queue.md", Sandbox: "/box", Lang: "go", Head: "redacted # hunter2"},
		{Path: "queue/job.go", Sandbox: "/box", Lang: "go", Head: "redacted package queue"},
	}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Errorf("files (-want +got), %v:\n%s", err, diff)
	}
	missing, err := s.service(t, l.options(true, "not indexed yet")).Files(t.Context(), memory.FilesRequest{Pattern: "retry"})
	if err != nil || len(missing.Files) != 1 || missing.Missing != "not indexed yet" {
		t.Errorf("beside files that are not known: %+v, %v; want the one that is, and why", missing, err)
	}
	if list, err := service.Files(t.Context(), memory.FilesRequest{Pattern: "nothing"}); err != nil || list.Files == nil || list.Total != 0 {
		t.Errorf("nothing fits: %+v, %v; want an empty list", list, err)
	}
}

// TestFilesThroughTheGates: what is listed is on disk and still fits; the rest is
// counted.
func TestFilesThroughTheGates(t *testing.T) {
	s, l := newLight()
	for i := range 6 {
		l.file(at(fmt.Sprintf("f%d.go", i)), "package queue")
	}
	s.texts[at("f0.go")] = "package queue // more"
	s.texts[at("f1.go")] = "package other"
	s.gates[at("f2.go")] = &memory.GateError{Reason: memory.Gone}
	s.gates[at("f3.go")] = &memory.GateError{Reason: memory.Outside}
	delete(s.texts, at("f4.go")) // its place is no longer known
	list, err := s.service(t, l.options(true, "")).Files(t.Context(), memory.FilesRequest{Pattern: "queue"})
	if err != nil {
		t.Fatal(err)
	}
	want := &memory.FileList{Project: "p-own", ProjectName: "own", Total: 6,
		Files: []memory.FileMatch{
			{Path: "f0.go", Sandbox: "/box", Lang: "go", Head: "package queue // more"},
			{Path: "f5.go", Sandbox: "/box", Lang: "go", Head: "package queue"},
		},
		Withheld: map[memory.Reason]int{memory.Changed: 1, memory.Gone: 2, memory.Outside: 1},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRefusedFiles(t *testing.T) {
	s, l := newLight()
	on := l.options(true, "")
	loading := func(o *Options) { on(o); s.lexical = index.Source{Name: "lexical", Degraded: "loading"} }
	for name, test := range map[string]struct {
		req    memory.FilesRequest
		change func(*Options)
		code   memory.Code
		hint   bool
	}{
		"no pattern":      {memory.FilesRequest{Pattern: " "}, on, memory.CodeInvalidInput, false},
		"unknown project": {memory.FilesRequest{Pattern: "x", Project: "nowhere"}, on, memory.CodeNotFound, false},
		"switched off":    {memory.FilesRequest{Pattern: "x"}, func(*Options) {}, memory.CodeUnavailable, true},
		"loading":         {memory.FilesRequest{Pattern: "x"}, loading, memory.CodeUnavailable, true},
	} {
		sources := s.lexical
		_, err := s.service(t, test.change).Files(t.Context(), test.req)
		if memory.CodeOf(err) != test.code || (memory.AsError(err).Hint != "") != test.hint {
			t.Errorf("%s: %v, want %s, with a hint: %v", name, err, test.code, test.hint)
		}
		s.lexical = sources
	}
}

// TestFilesOfABlockedDisk: a list has its own deadline, and what was read until then.
func TestFilesOfABlockedDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newLight()
		for i := range 4 {
			l.file(at(fmt.Sprintf("f%d.go", i)), "package queue")
		}
		back := make(chan struct{})
		s.verify = func(context.Context) {
			s.mu.Lock()
			hang := len(s.verified) > 1
			s.mu.Unlock()
			if hang {
				<-back
			}
		}
		service := s.service(t, l.options(true, ""))
		began := time.Now()
		list, err := service.Files(t.Context(), memory.FilesRequest{Pattern: "queue"})
		if took := time.Since(began); took != filesDeadline {
			t.Errorf("the list took %v, want %v", took, filesDeadline)
		}
		if err != nil || len(list.Files) != 1 || list.Withheld[memory.TooSlow] != 3 {
			t.Errorf("list = %+v, %v; want one file, and three that were too slow", list, err)
		}
		close(back)
		if err := service.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
