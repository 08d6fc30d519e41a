// Package service declares everything that the daemon can do, once: the table of
// operations. An operation has a name, a route, a request and a response type, and what
// callers need to know about it: whether it may be repeated, which group of MCP tools it
// belongs to, what it is for. The HTTP routes, the client, the MCP tools, the test fake
// and `recalld call` are made from the table.
//
// Vocabulary. An Operation is called with Do, on a Service: the daemon, its HTTP client,
// or a test fake. A Stream is an operation that reports progress before it answers. The
// daemon binds one handler to every operation (Bind, NewHandlers).
package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
)

// Service carries out operations.
type Service interface {
	// Call carries out an operation. The request has the operation's request type, the
	// response is a pointer to its response type. Progress receives values of the
	// operation's progress type, in order; nil ignores them. Errors that callers can
	// act on are *memory.Error. Operation.Do is the typed way to call it.
	Call(ctx context.Context, op *Spec, request any, progress func(any)) (response any, err error)
}

// None is the request, or the response, of an operation that has none.
type None = struct{}

// Group names operations that are used together as MCP tools. A search that finds one
// tool lists its whole group, so that an agent that opened a session can also end it.
// Names travel between bridge and daemon: never change one.
type Group string

// The groups.
const (
	Core      Group = "core"
	Knowledge Group = "knowledge"
	History   Group = "history"
	Tasks     Group = "tasks"
	Catalogue Group = "catalogue"
	Contexts  Group = "contexts"
	Working   Group = "working"
	Ledger    Group = "ledger"
	Admin     Group = "admin"
)

// Spec describes an operation. It is not changed after it was declared.
type Spec struct {
	// Name is what the operation is called everywhere: as an MCP tool, by
	// `recalld call`, in tests.
	Name string
	// Method is the HTTP method; by default POST. Path is the route. A segment {field}
	// is a field of the request.
	Method, Path string
	// Title and Description say what the operation is for. Agents read them.
	Title, Description string
	// Group is the group of the MCP tool; empty for an operation that is no tool.
	Group Group
	// ReadOnly operations change nothing. Idempotent ones change nothing more when the
	// same request comes again. Destructive ones remove something.
	ReadOnly, Idempotent, Destructive bool
	// Stored says that the response holds text that others recorded. The response gets a
	// notice that says so, because hosts put responses into prompts. The schema of a tool
	// allows the notice only if Stored is set, so every tool that answers with JSON sets it.
	Stored bool
	// AnyProtocol operations are understood across protocols, so that a newer client
	// can stop an older daemon. They never change. They take no request.
	AnyProtocol bool
	// BodyOptional operations had no request once, so a call without a body still has an
	// empty one.
	BodyOptional bool

	request, response, progress reflect.Type
	// form is the type that requests are read as.
	form      reflect.Type
	decode    func(read func(form any) error) (any, error)
	requestID []int // the index of the request's field RequestID; nil without
}

// Operation is an operation with its types.
type Operation[Request, Response any] struct{ *Spec }

// Do carries out the operation on a service.
func (o Operation[Request, Response]) Do(ctx context.Context, s Service, request Request) (*Response, error) {
	return responseOf[Response](s.Call(ctx, o.Spec, request, nil))
}

// Stream is an operation that reports progress.
type Stream[Request, Progress, Response any] struct{ *Spec }

// Do carries out the operation on a service. Progress may be nil.
func (o Stream[Request, Progress, Response]) Do(ctx context.Context, s Service, request Request, progress func(Progress)) (*Response, error) {
	return responseOf[Response](s.Call(ctx, o.Spec, request, func(p any) {
		if progress != nil {
			progress(p.(Progress))
		}
	}))
}

func responseOf[Response any](response any, err error) (*Response, error) {
	if err != nil || response == nil {
		return nil, err
	}
	return response.(*Response), nil
}

// operations is the table, in the order of declaration. Only defineForm adds to it, while
// the package is initialised.
var operations []*Spec

// Operations returns the table.
func Operations() []*Spec { return slices.Clone(operations) }

// Find returns the operation of a name, and nil if there is none.
func Find(name string) *Spec {
	for _, op := range operations {
		if op.Name == name {
			return op
		}
	}
	return nil
}

// define adds an operation to the table.
func define[Request, Response any](s Spec) Operation[Request, Response] {
	return defineForm[Request, Request, Response](s, func(r Request) (Request, error) { return r, nil })
}

// defineForm adds an operation whose requests are read as a Form, which accepts more
// than the request type does, or requires more.
func defineForm[Form, Request, Response any](s Spec, request func(Form) (Request, error)) Operation[Request, Response] {
	s.form, s.request, s.response = reflect.TypeFor[Form](), reflect.TypeFor[Request](), reflect.TypeFor[Response]()
	s.Method = cmp.Or(s.Method, http.MethodPost)
	if id, ok := s.request.FieldByName("RequestID"); ok {
		s.requestID = id.Index
	}
	s.decode = func(read func(any) error) (any, error) {
		var form Form
		if err := read(&form); err != nil {
			return nil, err
		}
		return request(form)
	}
	operations = append(operations, &s)
	return Operation[Request, Response]{&s}
}

// defineStream adds an operation that reports progress.
func defineStream[Request, Progress, Response any](s Spec) Stream[Request, Progress, Response] {
	op := define[Request, Response](s)
	op.progress = reflect.TypeFor[Progress]()
	return Stream[Request, Progress, Response](op)
}

// Decode reads a request strictly; see package strict. Errors that concern all of it
// name whole, "body" or "arguments".
func (s *Spec) Decode(text []byte, whole string) (request any, err error) {
	return s.decode(func(form any) error { return strict.Decode(text, form, whole) })
}

// Arguments reads the arguments of the operation's tool strictly; none are an empty
// object.
func (s *Spec) Arguments(text []byte) (request any, err error) {
	if len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	return s.decode(func(form any) error { return strict.Arguments(text, form) })
}

// Form returns the type that requests are read as: the type of the request, and on top
// the older names that some operations accept.
func (s *Spec) Form() reflect.Type { return s.form }

// Request returns the type of the request.
func (s *Spec) Request() reflect.Type { return s.request }

// Response returns the type of the response.
func (s *Spec) Response() reflect.Type { return s.response }

// Progress returns the type of the progress reports, nil unless it is a stream.
func (s *Spec) Progress() reflect.Type { return s.progress }

// TakesRequest says whether the operation has a request.
func (s *Spec) TakesRequest() bool { return s.request != reflect.TypeFor[None]() }

// IsTool says whether the operation is an MCP tool.
func (s *Spec) IsTool() bool { return s.Group != "" }

// Repeatable says whether a call may be made again when its connection broke and it is
// not known whether the daemon did it. Writes with a request id are: the daemon
// recognises the repetition.
func (s *Spec) Repeatable() bool { return s.ReadOnly || s.Idempotent || s.requestID != nil }

// Identified returns the request with a new id if it can have one and has none.
func (s *Spec) Identified(request any, id func() string) any {
	if s.requestID == nil || reflect.TypeOf(request) != s.request {
		return request
	}
	v := reflect.New(s.request).Elem()
	v.Set(reflect.ValueOf(request))
	if field := v.FieldByIndex(s.requestID); field.String() == "" {
		field.SetString(id())
	}
	return v.Interface()
}

// sum returns a sum of the operation and what a request with an id says, nil for others. A
// request is summed as it came, so that a daemon of another version, which may fill in other
// defaults, recognises it too. Left out is what a client may send otherwise the second time:
// who calls, and whether an answer is to have advice. The project is another's to compare, by
// what its name, folder or caller means.
func (s *Spec) sum(request any) []byte {
	if s.requestID == nil {
		return nil
	}
	v := reflect.New(s.request).Elem()
	v.Set(reflect.ValueOf(request))
	if v.FieldByIndex(s.requestID).String() == "" {
		return nil
	}
	for _, name := range []string{"RequestID", "Caller", "Project", "Advise"} {
		if field := v.FieldByName(name); field.IsValid() {
			field.SetZero()
		}
	}
	text, err := json.Marshal(v.Interface()) // raw JSON without white space, characters of HTML escaped
	if err != nil {
		return nil // it is refused
	}
	sum := sha256.Sum256(append([]byte(s.Name+"\n"), text...))
	return sum[:]
}

// FromPath builds the JSON of a request from the fields in the path.
func (s *Spec) FromPath(value func(field string) string) ([]byte, error) {
	fields := map[string]string{}
	for _, name := range s.PathFields() {
		fields[name] = value(name)
	}
	return json.Marshal(fields)
}

// InPath says whether the whole request is in the path.
func (s *Spec) InPath() bool { return s.Method == http.MethodGet || len(s.PathFields()) > 0 }

// URLPath returns the path of a request, with its fields filled in and escaped.
func (s *Spec) URLPath(request any, escape func(string) string) (string, error) {
	names := s.PathFields()
	if len(names) == 0 {
		return s.Path, nil
	}
	encoded, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return "", err
	}
	path := s.Path
	for _, name := range names {
		var value string
		if err := json.Unmarshal(fields[name], &value); err != nil {
			return "", memory.Invalid(name, "a string", "cannot be part of a path")
		}
		path = strings.Replace(path, "{"+name+"}", escape(value), 1)
	}
	return path, nil
}

// PathFields returns the fields of the request that are in the path.
func (s *Spec) PathFields() []string {
	var names []string
	for segment := range strings.SplitSeq(s.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// String is the operation as the golden listing of the table has it.
func (s *Spec) String() string {
	word := func(t reflect.Type) string {
		if t == reflect.TypeFor[None]() {
			return "-"
		}
		return strings.TrimPrefix(t.String(), "memory.")
	}
	repeat := "once"
	if s.Repeatable() {
		repeat = "repeatable"
	}
	text := fmt.Sprintf("%s %s %s %s %s %s", s.Name, s.Method, s.Path, repeat, word(s.request), word(s.response))
	if s.progress != nil {
		text += " progress:" + word(s.progress)
	}
	if s.IsTool() {
		text += " tool:" + string(s.Group)
	}
	if s.Stored {
		text += " stored"
	}
	return text
}
