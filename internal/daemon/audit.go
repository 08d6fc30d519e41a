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
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// auditSize bounds the log of changes, in bytes; as much again is kept of the time before.
const auditSize = 10 << 20

// maxAuditIDs is how many ids a line names.
const maxAuditIDs = 20

// auditPath is the log of changes: a line of JSON for each call that changes something.
func auditPath(paths config.Paths) string {
	return filepath.Join(filepath.Dir(paths.Log), "audit.jsonl")
}

func openAudit(paths config.Paths, size int64) (*slog.Logger, io.Closer, error) {
	return logging.Open(logging.Options{Path: auditPath(paths), MaxSize: size, Level: "info", Format: "json"})
}

// What commands change without a daemon, or past it.
const (
	ChangeRepair      = "repair"
	ChangeRestore     = "restore"
	ChangeToken       = "token"
	ChangeTokenAdd    = "token add"
	ChangeTokenRemove = "token remove"
)

var commandChanges = []string{ChangeRepair, ChangeRestore, ChangeToken, ChangeTokenAdd, ChangeTokenRemove}

// NoteCommand notes what a command has changed without the daemon, or has failed to. It only
// adds to the log: a daemon that runs bounds it.
func NoteCommand(paths config.Paths, change string, by memory.Caller, ids []string, failed error) error {
	log, file, err := openAudit(paths, math.MaxInt64)
	if err != nil {
		return err
	}
	attrs := append(attrsOf(by), slog.Bool("no_daemon", true))
	log.Info(change, append(attrs, outcome(ids, failed)...)...)
	return file.Close()
}

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
	asked := reflect.ValueOf(request)
	by, _ := field(asked, "Caller").(memory.Caller)
	by.Client = cmp.Or(by.Client, access.NameOf(ctx))
	attrs = append(attrs, attrsOf(by)...)
	project, _ := field(asked, "Project").(string)
	add("project", project)
	id, _ := field(asked, "RequestID").(string)
	add("request", id)
	ids, _ := field(asked, "IDs").([]string)
	if made, ok := field(reflect.ValueOf(response), "ID").(string); ok && made != "" {
		ids = []string{made}
	}
	d.audit.Info(op.Name, append(attrs, outcome(ids, err)...)...)
}

// attrsOf are the attributes of who asks.
func attrsOf(by memory.Caller) (attrs []any) {
	for _, a := range [][2]string{{"client", by.Client}, {"session", by.Session}, {"window", by.Window}, {"dir", by.Dir}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if by.Hook {
		attrs = append(attrs, slog.Bool("hook", true))
	}
	return attrs
}

// outcome are the attributes of what was changed, or why it was not.
func outcome(ids []string, err error) (attrs []any) {
	if len(ids) > 0 {
		attrs = append(attrs, slog.Any("ids", ids[:min(len(ids), maxAuditIDs)]))
	}
	if err != nil {
		e := memory.AsError(err)
		why := string(e.Code)
		if e.Field != "" {
			why += ": " + e.Field
		}
		attrs = append(attrs, slog.String("error", why))
	}
	return attrs
}

// field is the field of a struct, or of one that is pointed to; nil if it has none.
func field(v reflect.Value, name string) any {
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
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := knownChange(req.Operation); err != nil {
		return nil, err
	}
	list := &memory.AuditList{Changes: []memory.AuditLine{}}
	path := auditPath(d.opts.Config.Paths())
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
	names := slices.Clone(commandChanges)
	for _, op := range service.Operations() {
		names = append(names, op.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return &memory.Error{Code: memory.CodeInvalidInput, Field: "operation", Limit: "the operations of `recalld call`, " + strings.Join(commandChanges, ", "),
		Message: memory.Quote(name) + " is none of them", Hint: memory.NearNames(name, names)}
}

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
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var l memory.AuditLine
		if json.Unmarshal(lines.Bytes(), &l) != nil || l.Operation == "" ||
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
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return err
	}
	return nil
}
