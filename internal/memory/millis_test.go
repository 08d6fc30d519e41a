package memory_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestMillis(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", time.Second: "1000", 1500 * time.Microsecond: "1.5", 1234567: "1.234", 100 * time.Hour: "360000000"} {
		text, err := json.Marshal(memory.Millis(d))
		if err != nil || string(text) != want {
			t.Errorf("%v is written %s, %v; want %s", d, text, err, want)
		}
		var back memory.Millis
		if err := json.Unmarshal(text, &back); err != nil || back.Duration() != d.Truncate(time.Microsecond) {
			t.Errorf("%s is read as %v, %v; want %v", text, back.Duration(), err, d)
		}
	}
	for _, text := range []string{`"1s"`, `1e300`, `{}`} {
		var m memory.Millis
		if json.Unmarshal([]byte(text), &m) == nil {
			t.Errorf("%s was read as %v", text, m.Duration())
		}
	}
}
