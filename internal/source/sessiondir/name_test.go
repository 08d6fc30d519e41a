package sessiondir

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
)

func TestStepName(t *testing.T) {
	at := time.Date(2026, 1, 15, 13, 0, 5, 250_999_999, time.FixedZone("", 3600))
	const front = "2026-01-15T12-00-05.250Z-"
	for _, test := range []struct{ tool, want string }{
		{"mm_click", "mm_click"}, {"Bash", "Bash"}, {"v1.2", "v1.2"}, {"suche-größe", "suche-größe"},
		{"a/b", "a_b-c14cddc0"}, {"a:b", "a_b-"}, {`..\..\x`, "_._"}, {"..", "_"}, {"../../etc/passwd", "_._"}, {"CON", "CON"},
		{"a..b", "a._b-"}, {"dots...", "dots"}, {"a\x00b\n", "a_b_-"}, {"per cent%", "per_cent_-"}, {"\xff\xfe", "__-"},
		{strings.Repeat("x", 61), strings.Repeat("x", 60) + "-"}, {strings.Repeat("é", 40), strings.Repeat("é", 30) + "-"},
	} {
		got := stepName(at, test.tool)
		if !strings.HasPrefix(got, front+test.want) {
			t.Errorf("stepName(%q) = %q, want it to begin with %q", test.tool, got, front+test.want)
		}
		if strings.ContainsAny(got, `/\:*?"<>|%`+"\x00\n") || strings.Contains(got, "..") || !utf8.ValidString(got) || len(got) > len(front)+maxToolName+9 {
			t.Errorf("stepName(%q) = %q, which is no file name everywhere", test.tool, got)
		}
		if back, ok := timeInName(got); !ok || !back.Equal(at.Truncate(time.Millisecond)) {
			t.Errorf("timeInName(%q) = %v, %v; want %v", got, back, ok, at)
		}
	}
	if a, b := stepName(at, "a/b"), stepName(at, "a:b"); a == b {
		t.Errorf("two tools share the file %s", a)
	}
}

func TestStepNamesSortByTime(t *testing.T) {
	last := ""
	for _, at := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, time.Second, time.Minute, 24 * time.Hour, 400 * 24 * time.Hour} {
		name := stepName(time.Date(2025, 12, 31, 23, 59, 58, 0, time.UTC).Add(at), "tool")
		if name <= last {
			t.Errorf("%q sorts before the earlier %q", name, last)
		}
		last = name
	}
}

func TestTimeInName(t *testing.T) {
	second := time.Date(2026, 1, 15, 12, 0, 5, 0, time.UTC)
	for _, test := range []struct {
		name string
		want time.Time // zero: none
	}{
		{"2026-01-15T12-00-05.250Z-mm_click.json", second.Add(250 * time.Millisecond)},
		{"2026-01-15T12-00-05-250Z-mm_click.json", second.Add(250 * time.Millisecond)},
		{"2026-01-15T12:00:05.250123Z-x.json", second.Add(250123 * time.Microsecond)},
		{"2026-01-15T12-00-05Z-x.json", second},
		{"2026-01-15_12-00-05_x.json", second},
		{"20260115T120005Z.json", second},
		{"20260115120005-x.json", second},
		{"20260115-120005-2nd.json", second},
		{"2026-01-15T12-00-05-5-whys.json", second},
		{"1768478405250-mm_click.json", second.Add(250 * time.Millisecond)},
		{"2026-02-30T12-00-05Z-x.json", time.Time{}},
		{"2026-01-15T25-00-05Z-x.json", time.Time{}},
		{"2026-13-15T12-00-05Z-x.json", time.Time{}},
		{"2026-01-15T12-60-05Z-x.json", time.Time{}},
		{"2026-01-15.json", time.Time{}},
		{"step-1.json", time.Time{}},
		{"", time.Time{}},
		{"٢٠٢٦-01-15T12-00-05Z.json", time.Time{}},
	} {
		got, ok := timeInName(test.name)
		if ok == test.want.IsZero() || ok && !got.Equal(test.want) {
			t.Errorf("timeInName(%q) = %v, %v; want %v", test.name, got, ok, test.want)
		}
	}
}

func TestFolderNames(t *testing.T) {
	for _, id := range []string{"mm-20260115-abc", "CONsole", "Run_1.2"} {
		if got := folderNames(id); got[0] != id {
			t.Errorf("the folder of %s is %s", id, got[0])
		}
	}
	for _, id := range []string{"con.log", "COM1", "lpt9", "NUL.x", "aux."} {
		for _, name := range folderNames(id) {
			if fsx.IsDevice(name) {
				t.Errorf("the folder of %s is %s, which Windows takes for a device", id, name)
			}
		}
	}
	if a, b := folderNames("run-0001")[1], folderNames("Run-0001")[1]; strings.EqualFold(a, b) {
		t.Errorf("%s and %s are one folder where case is not told", a, b)
	}
}
