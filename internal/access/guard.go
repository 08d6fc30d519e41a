package access

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Store tells what belongs to which project.
type Store interface {
	// Record and Receipt return CodeNotFound for an unknown id.
	Record(id string) (memory.Record, error)
	Receipt(id string) (memory.Receipt, error)
	// RecordIDs returns at most most ids that begin so.
	RecordIDs(prefix string, most int) ([]string, error)
	// SessionHoldings lists the sessions that have an id.
	SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error)
}

// Guard is a service that holds calls against the policies and limits of their clients
// before it passes them on. A call without a client is the daemon's own and passes.
type Guard struct {
	next     service.Service
	projects memory.ProjectResolver
	store    Store
	limiter  *limiter
}

var _ service.Service = (*Guard)(nil)

// NewGuard returns a guard before a service.
func NewGuard(next service.Service, projects memory.ProjectResolver, store Store, limits Limits) *Guard {
	return &Guard{next, projects, store, newLimiter(limits)}
}

// Call implements service.Service. CodeForbidden for what the policy does not allow,
// CodeLimited for too much at a time.
func (g *Guard) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	client := From(ctx)
	if client == nil {
		return g.next.Call(ctx, op, request, progress)
	}
	if !op.AnyProtocol { // a daemon can be greeted and stopped whatever it is busy with
		release, err := g.limiter.take(ctx, client)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	p := client.Policy
	if err := p.permits(op); err != nil {
		return nil, err
	}
	if p == nil || len(p.Projects) == 0 || op.AnyProtocol {
		return g.next.Call(ctx, op, request, progress)
	}
	request, err := g.narrow(ctx, p, op, request)
	if err != nil {
		return nil, err
	}
	response, err := g.next.Call(ctx, op, request, progress)
	if err != nil {
		return nil, err
	}
	return p.hide(response), nil
}

// reach returns an error unless a request stays within the projects of a policy.
type reach func(g *Guard, ctx context.Context, p *Policy, request any) error

// reaches are the operations whose project is not a field of the request.
var reaches = map[*service.Spec]reach{
	service.Feedback.Spec: func(g *Guard, _ context.Context, p *Policy, request any) error {
		return g.ofReceipt(p, "receipt", request.(memory.FeedbackRequest).Receipt)
	},
	service.Receipt.Spec: func(g *Guard, _ context.Context, p *Policy, request any) error {
		return g.ofReceipt(p, "id", request.(memory.ReceiptRequest).ID)
	},
	service.Forget.Spec: func(g *Guard, ctx context.Context, p *Policy, request any) error {
		r := request.(memory.ForgetRequest)
		if r.Project != "" {
			return p.forbidden("project", "ids", "a whole project is not forgotten by a client with projects")
		}
		return g.ofIDs(ctx, p, r.IDs)
	},
	service.IndexRepo.Spec: func(g *Guard, ctx context.Context, p *Policy, request any) error {
		r := request.(memory.IndexRequest)
		folder := cmp.Or(r.Path, r.SandboxRoot)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(r.Caller.Dir, folder)
		}
		// As the folder of a caller, since indexing takes no path as the name of a project.
		_, err := g.allowed(ctx, p, "path", "", memory.Caller{Dir: folder})
		return err
	},
	// Status is of the whole daemon; hide leaves the other projects out.
	service.Status.Spec: func(*Guard, context.Context, *Policy, any) error { return nil },
}

// within says whether calls of an operation can be held within projects: it names one, and
// who asks, or stands in reaches. All others are refused to a client with projects.
func within(op *service.Spec) bool {
	if reaches[op] != nil {
		return true
	}
	t := op.Request()
	project, named := t.FieldByName("Project")
	caller, asked := t.FieldByName("Caller")
	return named && asked && project.Type.Kind() == reflect.String && caller.Type == reflect.TypeFor[memory.Caller]()
}

// narrow names in a request the project that it is about, after it was found to be of the
// policy: a request that names its project is answered from there alone. A caller's folder in
// another project is left out.
func (g *Guard) narrow(ctx context.Context, p *Policy, op *service.Spec, request any) (any, error) {
	if reach := reaches[op]; reach != nil {
		return request, reach(g, ctx, p, request)
	}
	v := reflect.New(op.Request()).Elem()
	v.Set(reflect.ValueOf(request))
	project := v.FieldByName("Project")
	caller := v.FieldByName("Caller").Addr().Interface().(*memory.Caller)
	name, err := g.allowed(ctx, p, "project", project.String(), *caller)
	if err != nil {
		return nil, err
	}
	project.SetString(name)
	if caller.Dir != "" {
		own, _, err := g.projects.Resolve(ctx, "", memory.Caller{Dir: caller.Dir})
		if err != nil || !p.has(own.ID) {
			caller.Dir = ""
		}
	}
	switch r := v.Addr().Interface().(type) {
	case *memory.ContextOfRequest:
		r.Texts = false // of what was handed out to all, also from other projects
	case *memory.RecallRequest:
		if r.IDs, err = g.wholeIDs(p, r.IDs); err != nil {
			return nil, err
		}
	}
	return v.Interface(), nil
}

// allowed resolves a project and returns how to name it so that it is the same again.
// CodeForbidden if it is not of the policy.
func (g *Guard) allowed(ctx context.Context, p *Policy, field, name string, caller memory.Caller) (string, error) {
	found, known, err := g.projects.Resolve(ctx, name, caller)
	if err != nil || !p.has(found.ID) {
		// A client must not learn which other projects there are.
		return "", p.forbidden(field, "the projects "+p.projectNames(), "the request is about another project, or names none")
	}
	switch {
	case known:
		return found.ID, nil
	case name != "":
		return name, nil
	}
	return caller.Dir, nil // not stored yet: its id finds nothing
}

func (p *Policy) has(id string) bool {
	return slices.ContainsFunc(p.Projects, func(x Project) bool { return x.ID == id })
}

func (p *Policy) projectNames() string {
	var labels []string
	for _, x := range p.Projects {
		labels = append(labels, memory.ProjectLabel(x.Name, x.ID))
	}
	return strings.Join(labels, ", ")
}

// ofReceipt checks that a receipt is of the policy's projects. One that is not is as unknown
// to the client as one that does not exist.
func (g *Guard) ofReceipt(p *Policy, field, id string) error {
	r, err := g.store.Receipt(id)
	if err != nil && memory.CodeOf(err) == memory.CodeInternal {
		return err
	}
	if err != nil || !p.has(r.Project) {
		return &memory.Error{Code: memory.CodeNotFound, Field: field, Message: "no receipt of this client's projects is called " + memory.Quote(id)}
	}
	return nil
}

// ofIDs checks that records and sessions are of the policy's projects.
func (g *Guard) ofIDs(ctx context.Context, p *Policy, ids []string) error {
	for _, id := range ids {
		found := false
		r, err := g.store.Record(id)
		switch {
		case err == nil:
			found = p.has(r.Project)
		case memory.CodeOf(err) != memory.CodeNotFound:
			return err
		default:
			held, err := g.store.SessionHoldings(ctx, id)
			if err != nil {
				return err
			}
			found = len(held) > 0 && !slices.ContainsFunc(held, func(h memory.SessionHoldings) bool { return !p.has(h.Session.Project) })
		}
		if !found {
			return &memory.Error{Code: memory.CodeNotFound, Field: "ids", Message: "no record or session of this client's projects is called " + memory.Quote(id)}
		}
	}
	return nil
}

// maxAlike bounds the records that are looked at for the beginning of an id.
const maxAlike = 1000

// wholeIDs returns ids for their beginnings, of records of the policy's projects alone: the
// answer to a beginning must not tell of memories elsewhere. Those of code are looked up
// within the project.
func (g *Guard) wholeIDs(p *Policy, ids []string) ([]string, error) {
	ids = slices.Clone(ids)
	for i, id := range ids {
		if len(id) < minID || strings.HasPrefix(id, "c-") {
			continue // memory.Check refuses what is too short
		}
		alike, err := g.store.RecordIDs(id, maxAlike)
		if err != nil {
			return nil, err
		}
		var own []string
		for _, one := range alike {
			r, err := g.store.Record(one)
			if err == nil && p.has(r.Project) {
				own = append(own, one)
			} else if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
				return nil, err
			}
		}
		if len(own) != 1 {
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: fmt.Sprintf("ids[%d]", i),
				Message: fmt.Sprintf("%d memories of this client's projects have an id that begins with %s", len(own), memory.Quote(id)), Hint: "give the whole id"}
		}
		ids[i] = own[0]
	}
	return ids, nil
}

// minID is the shortest beginning of an id that is looked up.
const minID = 4

// hide leaves out of a response what tells of other projects.
func (p *Policy) hide(response any) any {
	if r, ok := response.(*memory.Status); ok {
		own := *r
		own.Projects = slices.DeleteFunc(slices.Clone(r.Projects), func(s memory.SandboxState) bool { return !p.has(s.Project) })
		own.ProjectsTotal -= len(r.Projects) - len(own.Projects)
		own.Errors, own.Notes, own.Waiting, own.Savings, own.Records, own.Damage = nil, nil, nil, nil, map[memory.Kind]int{}, nil
		return &own
	}
	return response
}
