package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/schema"
	"github.com/recalld/recalld/internal/service"
)

// DescriptionPath is the route of the description of the API. It is no operation.
const DescriptionPath = "/v1/openapi.json"

// examples holds a request for each operation that takes one, by name.
//
//go:embed examples.json
var examples []byte

// object is a JSON object of the description.
type object = map[string]any

// where the description keeps its schemas.
const schemasPath = "#/components/schemas/"

// Description returns the description of the API, an OpenAPI 3.1 document in JSON. It is
// made from the table of operations and from the types that requests are decoded into.
var Description = sync.OnceValues(func() ([]byte, error) {
	var requests map[string]json.RawMessage
	if err := json.Unmarshal(examples, &requests); err != nil {
		return nil, fmt.Errorf("examples of the API: %w", err)
	}
	defs := map[string]schema.Schema{}
	paths := object{}
	for _, op := range service.Operations() {
		path, known := paths[op.Path].(object)
		if !known {
			path = object{}
			paths[op.Path] = path
		}
		path[strings.ToLower(op.Method)] = described(op, requests[op.Name], defs)
	}
	text := object{"text/plain": object{"schema": object{"type": "string"}}}
	paths[service.Metrics] = object{"get": object{
		"operationId": "metrics", "summary": "Metrics", "tags": []string{"daemon"},
		"description": "The status as a page for Prometheus.", "responses": object{"200": object{"description": "The page.", "content": text}},
	}}
	responses := object{}
	for status, codes := range codesByStatus() {
		responses[fmt.Sprint(status)] = object{
			"description": "The request failed: " + strings.Join(codes, " or ") + ".",
			"content":     object{service.MIMEJSON: object{"schema": schema.Named(reflect.TypeFor[service.ErrorBody](), false, schemasPath, defs)}},
		}
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "recalld", "version": fmt.Sprint(service.Protocol),
			"description": "The memory of coding agents on this machine. The API is served on the daemon's socket, where only its user can call, and, if the setting tcp.enabled is on, over TCP with a token. The version is that of the protocol. Requests are decoded strictly: a field that is not known is refused. Responses may get new fields.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":    []object{{"url": "http://127.0.0.1:7420", "description": "The default of the setting tcp.address; over the socket any host name will do."}},
		"security":   []object{{}, {"token": []string{}}},
		"paths":      paths,
		"components": object{"schemas": defs, "responses": responses, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "Over TCP. It is in the file token of the data folder."}}},
	}, "", "\t")
})

// described describes an operation.
func described(op *service.Spec, example json.RawMessage, defs map[string]schema.Schema) object {
	tag := "daemon"
	if op.IsTool() {
		tag = string(op.Group)
	}
	response := schema.Named(op.Response(), false, schemasPath, defs)
	if op.Stored {
		name := strings.TrimPrefix(response["$ref"].(string), schemasPath)
		defs[name]["properties"].(schema.Schema)["notice"] = schema.Schema{"type": "string", "description": "Says that what others recorded is data, not instructions."}
	}
	content := object{service.MIMEJSON: object{"schema": response}}
	if op.Progress() != nil {
		event := func(field string, t reflect.Type) object {
			return object{"type": "object", "properties": object{field: schema.Named(t, false, schemasPath, defs)}, "required": []string{field}}
		}
		content = object{service.MIMELine: object{"schema": object{"description": "A line each: progress, and at last what came of it.", "anyOf": []object{
			event("progress", op.Progress()), event("done", op.Response()), event("error", reflect.TypeFor[memory.Error]()),
		}}}}
	}
	responses := object{"200": object{"description": "It was done.", "content": content}}
	for status := range codesByStatus() {
		responses[fmt.Sprint(status)] = object{"$ref": "#/components/responses/" + fmt.Sprint(status)}
	}
	d := object{
		"operationId": op.Name, "summary": op.Title, "description": op.Description, "tags": []string{tag}, "responses": responses,
		"x-read-only": op.ReadOnly, "x-repeatable": op.Repeatable(), "x-destructive": op.Destructive,
	}
	switch {
	case !op.TakesRequest() || op.AnyProtocol:
	case op.InPath():
		fields := map[string]schema.Schema{}
		ref := schema.Named(op.Form(), true, schemasPath, fields)["$ref"].(string)
		properties := fields[strings.TrimPrefix(ref, schemasPath)]["properties"].(schema.Schema)
		var values map[string]any
		_ = json.Unmarshal(example, &values)
		parameters := []object{}
		for _, name := range op.PathFields() {
			parameters = append(parameters, object{"name": name, "in": "path", "required": true, "schema": properties[name], "example": values[name]})
		}
		d["parameters"] = parameters
	default:
		body := object{"schema": schema.Named(op.Form(), true, schemasPath, defs)}
		if example != nil {
			body["example"] = example
		}
		d["requestBody"] = object{"required": !op.BodyOptional, "content": object{service.MIMEJSON: body}}
	}
	return d
}

// codesByStatus returns the codes of errors by their HTTP status.
func codesByStatus() map[int][]string {
	by := map[int][]string{
		http.StatusUnauthorized: {string(memory.CodeForbidden)}, http.StatusMethodNotAllowed: {string(memory.CodeInvalidInput)},
		http.StatusRequestEntityTooLarge: {string(memory.CodeInvalidInput)},
	}
	for code, status := range statuses {
		by[status] = append(by[status], string(code))
	}
	for _, codes := range by {
		slices.Sort(codes)
	}
	return by
}

// description answers with the description of the API.
func (h *handler) description(w http.ResponseWriter, r *http.Request) {
	text, err := Description()
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", service.MIMEJSON)
	_, _ = w.Write(text) // the client is gone
}
