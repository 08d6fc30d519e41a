package builtin_test

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
)

var update = flag.Bool("update", false, "write the golden files anew")

// varied are texts of every sort and length, some of which have no vector.
func varied() []string {
	return []string{
		lesson, "x", "?!", "==", "404", "-la --max-depth=3", "snake_case CamelCase HTTPServer2", "running runs ran",
		"for (int i = 0; i < n; i++) { sum += a[i]; }", "SELECT count(*) FROM orders WHERE shipped_at IS NULL",
		"", " \t\n\u00a0", "🙂", "🙂🙃 deployed 🚀", "连接数据库失败", "Соединение с базой данных прервано", "ไม่สามารถเชื่อมต่อ", "ﬁﬂ Ⅷ ǅ ŉ İ é e\u0301",
		"a\x00b\x00\x00 null", "broken \xff\xfe bytes \xc3",
		strings.Repeat("word after word ", 5000), strings.Repeat("z", 100_000), megabyte(),
	}
}

// megabyte is 1 MB of text in which hardly a word is met twice.
func megabyte() string {
	var b strings.Builder
	for i := 0; b.Len() < 1_000_000; i++ {
		fmt.Fprintf(&b, "line %d of handler%x: return errors.New(\"%s\")\n", i, uint32(i)*2654435761, []string{"closed", "time-out", "no such file", "队列已满"}[i%4])
	}
	return b.String()
}

// TestGolden holds the vectors, bit for bit, on every platform that runs it: each by its
// hash, and its first components in clear. If it fails on one platform only, something
// there is rounded differently; if a change was meant, the model needs another name.
// make emulate runs it as another processor would.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, e := range []*builtin.Embedder{builtin.New(), builtin.NewNarrow()} {
		m, err := e.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&got, m.Collection())
		for _, text := range append(varied(), embedder.Probes...) {
			v, err := embed(e, text)
			if err != nil {
				fmt.Fprintf(&got, "%.60q: %v\n", text, err)
				continue
			}
			h := fnv.New64a()
			for _, x := range v {
				h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
			}
			fmt.Fprintf(&got, "%s %.9g %.40q\n", hex.EncodeToString(h.Sum(nil)), v[:4], text)
		}
	}
	const file = "testdata/vectors.golden"
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	diff := cmp.Diff(string(want), got.String())
	switch {
	case diff == "":
	case !*update:
		t.Errorf("the vectors changed (-want +got):\n%s", diff)
	case name(string(want)) == builtin.Name:
		// A store with vectors of this name would mix them with the new ones.
		t.Errorf("other vectors need another name than %s; remove %s if no release ever had that name", builtin.Name, file)
	default:
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// name returns the name of the model that a golden file is of.
func name(golden string) string {
	model, _, _ := strings.Cut(regexp.MustCompile(`builtin/\S+`).FindString(golden), "@")
	return model
}
