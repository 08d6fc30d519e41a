package daemon

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Call implements service.Service. What changes something, or is forbidden, is noted with
// who asked for it.
func (d *Daemon) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	response, err := d.guard.Call(ctx, op, request, progress)
	looks := op.ReadOnly
	if r, ok := request.(memory.TrustRequest); ok {
		looks = r.List
	}
	if d.audit != nil && (!looks || err != nil && memory.CodeOf(err) == memory.CodeForbidden) {
		d.noteChange(ctx, op, request, response, err)
	}
	return response, err
}

func (d *Daemon) noteChange(ctx context.Context, op *service.Spec, request, response any, err error) {
	attrs := []any{}
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	if c := access.From(ctx); c != nil && c.Policy != nil {
		add("policy", c.Policy.Name)
	}
	by := callerOf(request)
	by.Client = cmp.Or(by.Client, access.NameOf(ctx))
	attrs = append(attrs, logging.Caller(by)...)
	add("project", projectOf(request))
	id, _ := field(request, "RequestID").(string)
	add("request", id)
	ids, _ := field(request, "IDs").([]string)
	if made, ok := field(response, "ID").(string); ok && made != "" {
		ids = []string{made}
	}
	d.audit.Info(op.Name, append(attrs, logging.Outcome(ids, err)...)...)
}

// callerOf and projectOf are who calls, and the project that a request names.
func callerOf(request any) memory.Caller {
	caller, _ := field(request, "Caller").(memory.Caller)
	return caller
}

func projectOf(request any) string {
	project, _ := field(request, "Project").(string)
	return project
}

// field is the field of a struct, or of one that is pointed to; nil if it has none.
func field(of any, name string) any {
	v := reflect.ValueOf(of)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	if f := v.FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

// Audit carries out service.Audit.
func (d *Daemon) Audit(ctx context.Context, req memory.AuditRequest) (*memory.AuditList, error) {
	if err := knownChange(req.Operation); err != nil {
		return nil, err
	}
	list := &memory.AuditList{Changes: []memory.AuditLine{}}
	path := logging.AuditPath(d.opts.Config.Paths().Log)
	for _, name := range []string{path + ".1", path} {
		if err := readAudit(ctx, name, &req, &list.Changes); err != nil {
			return nil, err
		}
	}
	slices.Reverse(list.Changes)
	return list, nil
}

// knownChange refuses a name that nothing is noted by.
func knownChange(name string) error {
	names := slices.Clone(logging.Changes)
	for _, op := range service.Operations() {
		names = append(names, op.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return &memory.Error{Code: memory.CodeInvalidInput, Field: "operation", Limit: "the operations of `recalld call`, " + strings.Join(logging.Changes, ", "),
		Message: memory.Quote(name) + " is none of them", Hint: memory.NearNames(name, names)}
}

// maxAuditLine bounds a line that is read, in bytes; a longer one is not listed.
const maxAuditLine = 1 << 20

// readAudit adds the lines that a request chooses to the end of a list, and keeps the last
// of it. A line that cannot be read was torn by a crash.
func readAudit(ctx context.Context, name string, req *memory.AuditRequest, list *[]memory.AuditLine) error {
	f, err := fsx.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // only read
	lines := bufio.NewReaderSize(f, maxAuditLine)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break // what follows the last line end was torn by a crash
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // too long; what is left of it cannot be read either
		}
		if err != nil {
			return err
		}
		var l memory.AuditLine
		if json.Unmarshal(text, &l) != nil || l.Operation == "" ||
			req.Client != "" && !l.IsOf(req.Client) || req.Operation != "" && l.Operation != req.Operation ||
			l.At.Before(req.Since) || req.Failed && l.Error == "" {
			continue
		}
		l.At = l.At.UTC()
		if *list = append(*list, l); len(*list) > 2*req.Limit {
			*list = slices.Clone((*list)[len(*list)-req.Limit:])
		}
	}
	*list = (*list)[max(0, len(*list)-req.Limit):]
	return nil
}
