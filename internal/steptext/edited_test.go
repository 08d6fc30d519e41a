package steptext

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestEdited(t *testing.T) {
	for _, test := range []struct{ tool, input, want string }{
		{"Edit", `{"file_path":"/src/shop/price.go"}`, "price.go"},
		{"write_file", `{"file_path":"C:\\src\\a.go"}`, "a.go"},
		{"edit", `{"filePath":"b.go","path":"c.go"}`, "b.go"},
		{"apply_patch", `{"command":"*** Begin Patch\n*** Update File: internal/x.go\n@@\n*** Add File: y.go\n"}`, "x.go"},
		{"Read", `{"file_path":"/src/shop/price.go"}`, ""},
		{"Edit", `{"file_path":7}`, ""},
		{"Edit", ``, ""},
	} {
		if got := Edited(memory.StepTool{Name: test.tool, Input: []byte(test.input)}); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.tool, test.input, got, test.want)
		}
	}
}
