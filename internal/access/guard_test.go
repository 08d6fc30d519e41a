package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// errDisk is what a store says that cannot be read.
var errDisk = memory.Errorf(memory.CodeInternal, "the disk is on fire")

// fakeWorld resolves a project by its name or id, "own" or "other", or by a folder that begins
// so, and holds what its fields say.
type fakeWorld struct {
	records  map[string]string // projects of records, by id
	sessions map[string][]string
	receipts map[string]string
}

func (w fakeWorld) Resolve(_ context.Context, name string, caller memory.Caller) (memory.Project, bool, error) {
	for _, project := range []string{"own", "other"} {
		if named := "id-" + project; name == project || name == named || name == "/"+project || name == "" && strings.HasPrefix(caller.Dir, "/"+project) {
			return memory.Project{ID: named, Name: project}, !strings.HasSuffix(caller.Dir, "/new"), nil
		}
	}
	return memory.Project{}, false, memory.Errorf(memory.CodeNotFound, "no project %s", name)
}

func (w fakeWorld) Record(id string) (memory.Record, error) {
	if id == "l-broken" {
		return memory.Record{}, errDisk
	}
	if project, ok := w.records[id]; ok {
		return memory.Record{ID: id, Project: project}, nil
	}
	return memory.Record{}, memory.Errorf(memory.CodeNotFound, "no record")
}

func (w fakeWorld) Receipt(id string) (memory.Receipt, error) {
	if id == "r-broken" {
		return memory.Receipt{}, errDisk
	}
	if project, ok := w.receipts[id]; ok {
		return memory.Receipt{ID: id, Project: project}, nil
	}
	return memory.Receipt{}, memory.Errorf(memory.CodeNotFound, "no receipt")
}

func (w fakeWorld) RecordIDs(prefix string, _ int) (ids []string, err error) {
	if prefix == "l-unlisted" {
		return nil, errDisk
	}
	for _, id := range append(slices.Collect(keysOf(w.records)), "l-broken", "l-gone") {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func keysOf(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w fakeWorld) SessionHoldings(_ context.Context, id string) (held []memory.SessionHoldings, err error) {
	if id == "s-broken" {
		return nil, errDisk
	}
	for _, project := range w.sessions[id] {
		held = append(held, memory.SessionHoldings{Session: memory.Session{ID: id, Project: project}})
	}
	return held, nil
}

// TestGuardKeepsProjectsApart: what a client of one project asks is narrowed to it or refused;
// every case fails when its branch of the guard is taken out.
func TestGuardKeepsProjectsApart(t *testing.T) {
	world := fakeWorld{
		records:  map[string]string{"l-own-1": "id-own", "l-own-2": "id-own", "l-other-1": "id-other", "l-oth": "id-own", "l-gone-2": "id-own", "c-00000001": "id-other"},
		sessions: map[string][]string{"s-own": {"id-own"}, "s-other": {"id-other"}, "s-both": {"id-own", "id-other"}},
		receipts: map[string]string{"r-own": "id-own", "r-other": "id-other"},
	}
	policy := &Policy{Name: "ci", Projects: []Project{{ID: "id-own", Name: "own"}}}
	own, other := memory.Caller{Dir: "/own/src"}, memory.Caller{Dir: "/other/src"}
	recall := func(project string, caller memory.Caller, ids ...string) memory.RecallRequest {
		return memory.RecallRequest{Query: "npm", Project: project, Caller: caller, IDs: ids}
	}
	const refused, unknown, broken = memory.CodeForbidden, memory.CodeNotFound, memory.CodeInternal
	for name, c := range map[string]struct {
		op      *service.Spec
		request any
		code    memory.Code           // of the refusal; empty: it is carried out
		saw     func(request any) any // what is looked at of the request that is carried out
		want    any
	}{
		"its project by name":        {service.Recall.Spec, recall("own", memory.Caller{}), "", func(r any) any { return r.(memory.RecallRequest).Project }, "id-own"},
		"its folder":                 {service.Recall.Spec, recall("", own), "", func(r any) any { return r.(memory.RecallRequest).Project }, "id-own"},
		"its folder stays":           {service.Recall.Spec, recall("own", own), "", func(r any) any { return r.(memory.RecallRequest).Caller.Dir }, "/own/src"},
		"another folder is not told": {service.Recall.Spec, recall("own", other), "", func(r any) any { return r.(memory.RecallRequest).Caller.Dir }, ""},
		"a folder of no project":     {service.Recall.Spec, recall("own", memory.Caller{Dir: "/tmp"}), "", func(r any) any { return r.(memory.RecallRequest).Caller.Dir }, ""},
		"a new folder":               {service.Recall.Spec, recall("", memory.Caller{Dir: "/own/new"}), "", func(r any) any { return r.(memory.RecallRequest).Project }, "/own/new"},
		"a new name":                 {service.Recall.Spec, recall("own", memory.Caller{Dir: "/own/new"}), "", func(r any) any { return r.(memory.RecallRequest).Project }, "own"},
		"another project":            {service.Recall.Spec, recall("other", own), refused, nil, nil},
		"another project's id":       {service.Recall.Spec, recall("id-other", own), refused, nil, nil},
		"an unknown project":         {service.Recall.Spec, recall("third", own), refused, nil, nil},
		"no project":                 {service.Recall.Spec, recall("", memory.Caller{}), refused, nil, nil},
		"a part of an own id":        {service.Recall.Spec, recall("own", own, "l-own-2"), "", func(r any) any { return r.(memory.RecallRequest).IDs[0] }, "l-own-2"},
		"a part that others share":   {service.Recall.Spec, recall("own", own, "l-oth"), "", func(r any) any { return r.(memory.RecallRequest).IDs[0] }, "l-oth"},
		"a part of two own ids":      {service.Recall.Spec, recall("own", own, "l-own"), unknown, nil, nil},
		"a part of another's id":     {service.Recall.Spec, recall("own", own, "l-other"), unknown, nil, nil},
		"beside a record just gone":  {service.Recall.Spec, recall("own", own, "l-gone"), "", func(r any) any { return r.(memory.RecallRequest).IDs[0] }, "l-gone-2"},
		"ids that cannot be listed":  {service.Recall.Spec, recall("own", own, "l-unlisted"), broken, nil, nil},
		"a record that is damaged":   {service.Recall.Spec, recall("own", own, "l-broken"), broken, nil, nil},
		"a chunk's id stays":         {service.Recall.Spec, recall("own", own, "c-00000001"), "", func(r any) any { return r.(memory.RecallRequest).IDs[0] }, "c-00000001"},
		"a short id stays":           {service.Recall.Spec, recall("own", own, "l-o"), "", func(r any) any { return r.(memory.RecallRequest).IDs[0] }, "l-o"},
		"texts of a turn":            {service.ContextOf.Spec, memory.ContextOfRequest{Texts: true, SessionRef: memory.SessionRef{Project: "own", Caller: own}}, "", func(r any) any { return r.(memory.ContextOfRequest).Texts }, false},
		"its receipt":                {service.Receipt.Spec, memory.ReceiptRequest{ID: "r-own"}, "", func(r any) any { return r.(memory.ReceiptRequest).ID }, "r-own"},
		"another's receipt":          {service.Receipt.Spec, memory.ReceiptRequest{ID: "r-other"}, unknown, nil, nil},
		"no receipt":                 {service.Receipt.Spec, memory.ReceiptRequest{ID: "r-none"}, unknown, nil, nil},
		"a damaged receipt":          {service.Receipt.Spec, memory.ReceiptRequest{ID: "r-broken"}, broken, nil, nil},
		"a verdict on another's":     {service.Feedback.Spec, memory.FeedbackRequest{Receipt: "r-other"}, unknown, nil, nil},
		"a verdict on its own":       {service.Feedback.Spec, memory.FeedbackRequest{Receipt: "r-own"}, "", func(r any) any { return r.(memory.FeedbackRequest).Receipt }, "r-own"},
		"forget its record":          {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"l-own-1", "s-own"}}, "", func(r any) any { return len(r.(memory.ForgetRequest).IDs) }, 2},
		"forget another's":           {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"l-own-1", "l-other-1"}}, unknown, nil, nil},
		"forget another's session":   {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"s-other"}}, unknown, nil, nil},
		"forget a shared session id": {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"s-both"}}, unknown, nil, nil},
		"forget nothing known":       {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"l-none"}}, unknown, nil, nil},
		"forget a damaged record":    {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"l-broken"}}, broken, nil, nil},
		"forget a damaged session":   {service.Forget.Spec, memory.ForgetRequest{IDs: []string{"s-broken"}}, broken, nil, nil},
		"forget its project":         {service.Forget.Spec, memory.ForgetRequest{Project: "own"}, refused, nil, nil},
		"index its folder":           {service.IndexRepo.Spec, memory.IndexRequest{Path: "/own"}, "", func(r any) any { return r.(memory.IndexRequest).Path }, "/own"},
		"index another folder":       {service.IndexRepo.Spec, memory.IndexRequest{Path: "/other", Caller: own}, refused, nil, nil},
		"index by the other name":    {service.IndexRepo.Spec, memory.IndexRequest{SandboxRoot: "/other", Caller: own}, refused, nil, nil},
		"index by a project's name":  {service.IndexRepo.Spec, memory.IndexRequest{Path: "own", Caller: memory.Caller{Dir: "/other"}}, refused, nil, nil},
		"index where it works":       {service.IndexRepo.Spec, memory.IndexRequest{Caller: own}, "", func(r any) any { return r.(memory.IndexRequest).Path }, ""},
		"all repositories":           {service.Repos.Spec, service.None{}, refused, nil, nil},
	} {
		next := &servicetest.Service{}
		_, err := NewGuard(next, world, world, Limits{}).Call(With(t.Context(), &Client{Key: "process 1", Policy: policy}), c.op, c.request, nil)
		calls := next.Calls()
		switch {
		case c.code != "":
			if memory.CodeOf(err) != c.code || len(calls) > 0 {
				t.Errorf("%s: %v, and %d calls, want %s", name, err, len(calls), c.code)
			}
		case err != nil || len(calls) != 1:
			t.Errorf("%s: %v, and %d calls", name, err, len(calls))
		default:
			if got := c.saw(calls[0].Request); got != c.want {
				t.Errorf("%s: the service is told %v, want %v", name, got, c.want)
			}
		}
	}
	// The caller's list of ids is its own.
	ids := []string{"l-oth"}
	_, err := NewGuard(&servicetest.Service{}, fakeWorld{records: map[string]string{"l-oth-whole": "id-own"}}, fakeWorld{records: map[string]string{"l-oth-whole": "id-own"}}, Limits{}).
		Call(With(t.Context(), &Client{Policy: policy}), service.Recall.Spec, recall("own", own, ids...), nil)
	if err != nil || ids[0] != "l-oth" {
		t.Errorf("the ids became %v: %v", ids, err)
	}
}

// TestGuardLetsPass: nobody is held to a policy that does not apply, and errors come back.
func TestGuardLetsPass(t *testing.T) {
	status := &memory.Status{Projects: []memory.SandboxState{{Sandbox: memory.Sandbox{Project: "id-own"}}, {Sandbox: memory.Sandbox{Project: "id-other"}}}, ProjectsTotal: 2,
		Errors: []memory.LoggedError{{}}, Notes: []string{"x"}, Waiting: []memory.WaitingFiles{{}}, Savings: &memory.Savings{}, Records: map[memory.Kind]int{memory.Lesson: 3}}
	projects := []Project{{ID: "id-own", Name: "own"}}
	for name, c := range map[string]struct {
		client *Client
		op     *service.Spec
		limits Limits
		code   memory.Code
		shown  int // projects of the status
	}{
		"the daemon itself":           {nil, service.Status.Spec, Limits{}, "", 2},
		"a client without a policy":   {&Client{Key: "a"}, service.Status.Spec, Limits{}, "", 2},
		"a policy without projects":   {&Client{Key: "a", Policy: &Policy{Name: "p", ReadOnly: true}}, service.Status.Spec, Limits{}, "", 2},
		"a policy with projects":      {&Client{Key: "a", Policy: &Policy{Name: "p", Projects: projects}}, service.Status.Spec, Limits{}, "", 1},
		"a policy of other tools":     {&Client{Key: "a", Policy: &Policy{Name: "p", Tools: []string{service.Recall.Name}}}, service.Status.Spec, Limits{}, memory.CodeForbidden, 0},
		"a policy of this tool":       {&Client{Key: "a", Policy: &Policy{Name: "p", Tools: []string{service.Status.Name}}}, service.Status.Spec, Limits{}, "", 2},
		"a greeting of any policy":    {&Client{Key: "a", Policy: &Policy{Name: "p", Projects: projects, Tools: []string{"x"}}}, service.Hello.Spec, Limits{}, "", 0},
		"the end, by a policy":        {&Client{Key: "a", Policy: &Policy{Name: "p"}}, service.Stop.Spec, Limits{}, memory.CodeForbidden, 0},
		"what changes, while reading": {&Client{Key: "a", Policy: &Policy{Name: "p", ReadOnly: true}}, service.Remember.Spec, Limits{}, memory.CodeForbidden, 0},
	} {
		next := &servicetest.Service{Answers: map[string]any{service.Status.Name: status}}
		ctx := t.Context()
		if c.client != nil {
			ctx = With(ctx, c.client)
		}
		var request any = service.None{}
		if c.op == service.Remember.Spec {
			request = memory.RememberRequest{}
		}
		answer, err := NewGuard(next, fakeWorld{}, fakeWorld{}, c.limits).Call(ctx, c.op, request, nil)
		if memory.CodeOf(err) != c.code && (c.code != "" || err != nil) || c.op != service.Hello.Spec && (c.code != "") != (len(next.Calls()) == 0) {
			t.Errorf("%s: %v after %d calls, want %q", name, err, len(next.Calls()), c.code)
			continue
		}
		if p := c.client; err != nil && p.Policy.Tools != nil && !strings.Contains(memory.AsError(err).Limit, p.Policy.Tools[0]) {
			t.Errorf("%s: %v does not name its tools", name, err)
		}
		if s, ok := answer.(*memory.Status); ok && (len(s.Projects) != c.shown || s.ProjectsTotal != c.shown ||
			(c.shown == 1) != (s.Errors == nil && s.Notes == nil && s.Waiting == nil && s.Savings == nil && len(s.Records) == 0)) {
			t.Errorf("%s: it is told %+v", name, s)
		}
	}
	if status.Projects[1].Project != "id-other" || status.Errors == nil {
		t.Error("the guard changed the daemon's own answer")
	}
	failing := &servicetest.Service{Err: errDisk}
	if _, err := NewGuard(failing, fakeWorld{}, fakeWorld{}, Limits{}).Call(With(t.Context(), &Client{Policy: &Policy{Name: "p", Projects: projects}}), service.Status.Spec, service.None{}, nil); !errors.Is(err, errDisk) {
		t.Errorf("an error of the service comes back as %v", err)
	}
	// A daemon is greeted and stopped whatever it is busy with.
	busy := NewGuard(&servicetest.Service{}, fakeWorld{}, fakeWorld{}, Limits{Concurrent: 1})
	if _, err := busy.limiter.take(t.Context(), &Client{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := busy.Call(With(t.Context(), &Client{Key: "a"}), service.Hello.Spec, service.None{}, nil); err != nil {
		t.Errorf("a busy daemon answers a greeting with %v", err)
	}
	// A call gives its place back, also when it is refused.
	guard := NewGuard(failing, fakeWorld{}, fakeWorld{}, Limits{Concurrent: 1})
	for range 3 {
		done := make(chan error, 1)
		go func() {
			_, err := guard.Call(With(context.Background(), &Client{Key: "a"}), service.Status.Spec, service.None{}, nil)
			done <- err
		}()
		if err := <-done; !errors.Is(err, errDisk) {
			t.Fatalf("a call after another is answered with %v", err)
		}
	}
}
