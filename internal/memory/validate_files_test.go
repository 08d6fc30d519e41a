package memory_test

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// Every limit of a search for files is tried from both sides; the error names the
// field and its limit.
func TestLimitsOfFiles(t *testing.T) {
	request := func(change func(*memory.FilesRequest)) *memory.FilesRequest {
		r := &memory.FilesRequest{Pattern: "p"}
		change(r)
		return r
	}
	for name, test := range map[string]struct {
		at, over *memory.FilesRequest // at the limit, and past it
		field    string
	}{
		"pattern, least": {request(func(r *memory.FilesRequest) { r.Pattern = " x " }), request(func(r *memory.FilesRequest) { r.Pattern = " \n" }), "pattern"},
		"pattern, most":  {request(func(r *memory.FilesRequest) { r.Pattern = repeat(1000) }), request(func(r *memory.FilesRequest) { r.Pattern = repeat(1001) }), "pattern"},
		"pattern, NUL":   {request(func(r *memory.FilesRequest) { r.Pattern = "a\tb" }), request(func(r *memory.FilesRequest) { r.Pattern = "a\x00b" }), "pattern"},
		"pattern, UTF-8": {request(func(r *memory.FilesRequest) { r.Pattern = "\ufffd" }), request(func(r *memory.FilesRequest) { r.Pattern = "a\xff" }), "pattern"},
		"limit, least":   {request(func(r *memory.FilesRequest) { r.Limit = 1 }), request(func(r *memory.FilesRequest) { r.Limit = -1 }), "limit"},
		"limit, most":    {request(func(r *memory.FilesRequest) { r.Limit = 1000 }), request(func(r *memory.FilesRequest) { r.Limit = 1001 }), "limit"},
		"project":        {request(func(r *memory.FilesRequest) { r.Project = repeat(4096) }), request(func(r *memory.FilesRequest) { r.Project = repeat(4097) }), "project"},
		"caller":         {request(func(r *memory.FilesRequest) { r.Caller.Client = repeat(200) }), request(func(r *memory.FilesRequest) { r.Caller.Client = repeat(201) }), "caller.client"},
	} {
		if err := memory.Check(test.at); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
		err := memory.Check(test.over)
		if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: past the limit: %v, want the field %s and its limit", name, err, test.field)
		}
	}
	r := request(func(r *memory.FilesRequest) { r.Pattern = " a b " })
	if err := memory.Check(r); err != nil || r.Limit != memory.DefaultFiles || r.Pattern != "a b" {
		t.Errorf("validated, a request is %+v, %v; want the default limit, and no space around the pattern", r, err)
	}
}
