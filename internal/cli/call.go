package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// callCommand calls any operation of the daemon with its JSON.
func callCommand(a *App) *cobra.Command {
	var schema bool
	c := &cobra.Command{
		Use:   "call [NAME [JSON]]",
		Short: "Call any operation of the daemon with JSON",
		Long: `Call any operation of the daemon, with a request in JSON: an argument, or - for
standard input. The response is JSON. The working folder is filled in as the
caller's. Without a name, list the operations; with --schema, the fields of a request.`,
		Example: `  recalld call
  recalld call complete_task --schema
  recalld call complete_task '{"task_id": "task-042", "validation_report": {"valid": true}}'
  recalld call session_start '{"goal": "Refund an order"}'`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: fixed(describedOperations),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || schema {
				if err := a.refuseSettings(); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				return a.listOperations()
			}
			op := service.Find(args[0])
			if op == nil {
				return &memory.Error{Code: memory.CodeInvalidInput, Field: "NAME", Message: "there is no operation " + memory.Quote(args[0]), Hint: "run 'recalld call' to list them"}
			}
			if schema {
				return a.describeOperation(op)
			}
			text := []byte("{}")
			if len(args) > 1 {
				text = []byte(args[1])
			}
			if string(text) == "-" {
				var err error
				if text, err = a.readInput("JSON"); err != nil {
					return err
				}
			}
			return a.callOperation(c, op, text)
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "show the fields of the request instead of calling")
	return c
}

func describedOperations() (names []string) {
	for _, op := range service.Operations() {
		names = append(names, cobra.CompletionWithDesc(op.Name, op.Title))
	}
	return names
}

// callOperation decodes a request and makes it.
func (a *App) callOperation(c *cobra.Command, op *service.Spec, text []byte) error {
	decoded, err := op.Decode(text, "JSON")
	if err != nil {
		return err
	}
	request := reflect.New(op.Request())
	request.Elem().Set(reflect.ValueOf(decoded))
	daemon, err := a.serviceFor(c.Context(), request.Interface())
	if err != nil {
		return err
	}
	response, err := daemon.Call(c.Context(), op, request.Elem().Interface(), func(p any) {
		// Progress that cannot be shown is no reason to stop.
		_ = json.NewEncoder(a.opts.Err).Encode(map[string]any{"progress": p}) // as every command does with --json
	})
	if err != nil {
		return err
	}
	a.json = true // the response is
	return a.recorded(response, op.Stored, nil)
}

// listOperations lists what can be called.
func (a *App) listOperations() error {
	type operation struct {
		Name        string `json:"name"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Group       string `json:"tool_group,omitempty"` // of MCP tools
	}
	list, rows := []operation{}, [][]string{{"OPERATION", "WHAT FOR"}}
	for _, op := range service.Operations() {
		list = append(list, operation{op.Name, op.Title, op.Description, string(op.Group)})
		rows = append(rows, []string{op.Name, op.Title})
	}
	return a.answer(map[string]any{"operations": list}, func(w io.Writer) {
		render.Table(w, rows)
		fmt.Fprintln(w, "\nRun 'recalld call NAME --schema' to see the fields of a request.")
	})
}

// requestField is a field of a request, for people who write one.
type requestField struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	Limit    string `json:"limit,omitempty"`
	About    string `json:"about,omitempty"`
}

// describeOperation shows what an operation is for and takes.
func (a *App) describeOperation(op *service.Spec) error {
	fields := requestFields("", op.Request())
	answer := struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Fields      []requestField `json:"fields"`
	}{op.Name, op.Description, orEmpty(fields)}
	return a.answer(answer, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", op.Description)
		if len(fields) == 0 {
			fmt.Fprintln(w, "\nIt takes no request.")
			return
		}
		fmt.Fprintln(w)
		rows := [][]string{{"FIELD", "TYPE", "LIMIT", "ABOUT"}}
		for _, f := range fields {
			typ := f.Type
			if f.Required {
				typ += ", required"
			}
			rows = append(rows, []string{f.Name, typ, f.Limit, f.About})
		}
		render.Table(w, rows)
	})
}

// requestFields lists the fields of a request. A field of an object, or of a list of
// objects, is listed with its path.
func requestFields(at string, t reflect.Type) (fields []requestField) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" || name == "caller" {
			continue
		}
		limits, typ := memory.LimitsOf(f), f.Type
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		own := requestField{Name: at + name, Type: jsonType(typ), Required: !strings.Contains(options, "omit"), About: f.Tag.Get("desc")}
		switch {
		case len(limits.Enum) > 0:
			own.Limit = strings.Join(limits.Enum, ", ")
		case limits.Range != nil:
			own.Limit = limits.Range.String()
		}
		fields = append(fields, own)
		inside := typ
		if typ.Kind() == reflect.Slice {
			inside, name = typ.Elem(), name+"[]"
		}
		if jsonType(inside) == "object" && inside.Kind() == reflect.Struct {
			fields = append(fields, requestFields(at+name+".", inside)...)
		}
	}
	return fields
}

// jsonType is what a type is in JSON.
func jsonType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	case t == reflect.TypeFor[memory.Scope]():
		return `"current", "all" or {"sessionId"}`
	case t.Kind() == reflect.Struct && t.NumField() > 0 && !t.Field(0).IsExported():
		return "time"
	}
	return cmp.Or(map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number", reflect.Slice: "list", reflect.Map: "object", reflect.Struct: "object",
	}[t.Kind()], "integer")
}
