package memory

import (
	"encoding/json"
	"testing"
)

// A working context is written in one way, and fields of a newer version stay.
func TestWorkingContextJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"empty lists": {
			`{"sessionId":"abcd"}`,
			`{"sessionId":"abcd","version":0,"turn":0,"discoveredTools":[],"usedTools":[],"entities":[]}`,
		},
		"as it is stored": {
			`{"sessionId":"abcd","version":3,"turn":1,"discoveredTools":[{"serverName":"fs","toolName":"read"}],"usedTools":[],"entities":[{"id":"x","data":{"b":1,"a":2}}]}`,
			`{"sessionId":"abcd","version":3,"turn":1,"discoveredTools":[{"serverName":"fs","toolName":"read"}],"usedTools":[],"entities":[{"id":"x","data":{"b":1,"a":2}}]}`,
		},
		"unknown fields": {
			`{"zeta":{"x":[1, 2]},"version":3,"sessionId":"abcd","alpha":null,"turn":1,"discoveredTools":[],"usedTools":[],"entities":[]}`,
			`{"sessionId":"abcd","version":3,"turn":1,"discoveredTools":[],"usedTools":[],"entities":[],"alpha":null,"zeta":{"x":[1,2]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // what was written is written the same again
				var wc WorkingContext
				if err := json.Unmarshal([]byte(c.in), &wc); err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(wc)
				if err != nil || string(got) != c.want {
					t.Fatalf("%s is written\n%s, %v; want\n%s", c.in, got, err, c.want)
				}
				c.in = string(got)
			}
		})
	}
	if err := json.Unmarshal([]byte(`{"version":"x"}`), new(WorkingContext)); err == nil {
		t.Error("a version that is no number was read")
	}
}
