// Package access says what a client may do: which operations, in which projects, and how
// much at a time.
//
// Vocabulary. A client is a program that calls the daemon, as far as it can be told from
// others without believing it: by the token that it bears, by the entry of the list that its
// bridge was started for, or by its process. A policy is what an entry of the list of
// clients allows. What a client says of itself, such as its name in initialize, decides
// nothing. The guard is the one place that holds calls against policies and limits: it
// stands before the table of operations, so a new operation is covered without being named.
package access

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Header names the entry of the list of clients whose policy a request is to be held
// against. It can only take rights away, so anyone may send it.
const Header = "Recalld-Client"

// Project is a project of a policy. The id counts; a name is for people, since a folder of
// the same name is another project.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Policy is what a client may do.
type Policy struct {
	Name string `json:"name"`
	// TokenHash is the SHA-256 of the client's token, in hexadecimal digits.
	TokenHash string    `json:"token_sha256,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// ReadOnly refuses operations that change something.
	ReadOnly bool `json:"read_only,omitempty"`
	// Projects are the only ones that the client may see; empty: all.
	Projects []Project `json:"projects,omitempty"`
	// Tools are the names of the only operations that it may call; empty: every tool.
	Tools []string `json:"tools,omitempty"`
	// Rate and Concurrent take the place of the settings' limits; 0 leaves these.
	Rate       int `json:"rate,omitempty"`
	Concurrent int `json:"concurrent,omitempty"`
}

// Client is who calls.
type Client struct {
	// Key tells clients apart for the limits: "client ci", "process 4711".
	Key string
	// Policy is nil for a client that may do everything.
	Policy *Policy
}

type clientKey struct{}

// With returns a context of calls by a client.
func With(ctx context.Context, c *Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// From returns who calls; nil for the daemon itself.
func From(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}

type nameKey struct{}

// maxAgent bounds what a program calls itself, in bytes.
const maxAgent = 64

// Named returns a context of calls by a program that calls itself so, as by User-Agent. The
// version behind a slash is left out.
func Named(ctx context.Context, name string) context.Context {
	name, _, _ = strings.Cut(name, "/")
	return context.WithValue(ctx, nameKey{}, strings.ToValidUTF8(name[:min(len(name), maxAgent)], ""))
}

// NameOf returns what the calling program calls itself; empty if it does not say.
func NameOf(ctx context.Context) string {
	name, _ := ctx.Value(nameKey{}).(string)
	return name
}

func policyOf(ctx context.Context) *Policy {
	if c := From(ctx); c != nil {
		return c.Policy
	}
	return nil
}

// besideTools are the operations that are no tools and that a policy can allow: they read or
// forget what is remembered. All others administer the daemon, reach files by name, or open
// the web page, which knows no policies.
var besideTools = []*service.Spec{service.Receipt.Spec, service.Lessons.Spec, service.Brief.Spec, service.Files.Spec, service.Forget.Spec}

// Grantable says whether a policy can allow an operation.
func Grantable(op *service.Spec) bool { return op.IsTool() || slices.Contains(besideTools, op) }

// Permits returns CodeForbidden if the client of a call may not use an operation at all.
func Permits(ctx context.Context, op *service.Spec) error { return policyOf(ctx).permits(op) }

// Sees says whether the client of a call may see a project.
func Sees(ctx context.Context, project string) bool {
	p := policyOf(ctx)
	return p == nil || len(p.Projects) == 0 || p.has(project)
}

// ReadOnly says whether the client of a call may change nothing. The guard refuses it what
// changes something by itself; a search for tools only makes none active.
func ReadOnly(ctx context.Context) bool {
	p := policyOf(ctx)
	return p != nil && p.ReadOnly
}

func (p *Policy) permits(op *service.Spec) error {
	switch {
	case p == nil || op == service.Hello.Spec:
		return nil
	case !Grantable(op):
		return p.forbidden("", "the tools, and "+names(besideTools), op.Name+" is not for clients with a policy")
	case p.ReadOnly && !op.ReadOnly:
		return p.forbidden("", "read-only", op.Name+" changes the memory")
	case len(p.Tools) > 0 && !slices.Contains(p.Tools, op.Name):
		return p.forbidden("", "the tools "+strings.Join(p.Tools, ", "), op.Name+" is not among the tools of the client")
	case len(p.Projects) > 0 && !within(op):
		return p.forbidden("", "its projects", op.Name+" is not about a single project")
	}
	return nil
}

// forbidden is the refusal of a call by a policy.
func (p *Policy) forbidden(field, limit, message string) error {
	return &memory.Error{Code: memory.CodeForbidden, Field: field, Limit: limit + " of the client " + memory.Quote(p.Name), Message: message,
		Hint: "`recalld token list` shows what each client may do"}
}

func names(ops []*service.Spec) string {
	var all []string
	for _, op := range ops {
		all = append(all, op.Name)
	}
	return strings.Join(all, ", ")
}
