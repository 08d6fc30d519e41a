package builtin_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/builtin/table"
)

// maxFile is what the table may add to the program.
const maxFile = 16_000_000

// TestTable holds the file that the program brings.
func TestTable(t *testing.T) {
	b, err := os.ReadFile("model.bin")
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > maxFile {
		t.Errorf("the table has %d bytes, want at most %d", len(b), maxFile)
	}
	m, err := table.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := "builtin/" + m.Name(); got != builtin.Name {
		t.Errorf("the table is called %s, the model %s", got, builtin.Name)
	}
	for _, width := range []int{builtin.Dim, builtin.NarrowDim} {
		if !slices.Contains(m.Widths(), width) {
			t.Errorf("the table was trained for widths %v, not for %d", m.Widths(), width)
		}
	}
	// The model card is about this file.
	card, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := binary.LittleEndian.Uint32(b[len(b)-4:])
	if want := fmt.Sprintf("%d bytes, %d bits a component, CRC-32C %08x", len(b), m.Bits(), sum); !strings.Contains(string(card), want) {
		t.Errorf("docs/model.md describes another table: measure its figures again and write %q", want)
	}
	// A byte of it that is changed anywhere is noticed.
	for at := 0; at < len(b); at += len(b)/100 + 1 {
		b[at] ^= 0x10
		if _, err := table.Read(b); err == nil {
			t.Errorf("a change of byte %d is not noticed", at)
		}
		b[at] ^= 0x10
	}
}

// firstUse makes the test binary a process that embeds for the first time, and says how
// many bytes it allocated and kept: before New, after it, after its first text.
const firstUse = "RECALLD_TEST_FIRST_USE"

func TestMain(m *testing.M) {
	if os.Getenv(firstUse) != "" {
		kept := []uint64{allocated()}
		e := builtin.New()
		kept = append(kept, allocated())
		if _, err := embed(e, lesson); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		kept = append(kept, allocated())
		runtime.KeepAlive(e)
		fmt.Println(kept[0], kept[1], kept[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func allocated() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestFirstUse holds that a process which embeds nothing pays nothing for the table, and
// what one that does pays in memory: the index of the vocabulary, not the rows, which
// stay in the program's file.
func TestFirstUse(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), firstUse+"=1", "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("first use: %v\n%s", err, trace.String())
	}
	var before, made, used int
	if _, err := fmt.Sscan(string(out), &before, &made, &used); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if made > before+64<<10 {
		t.Errorf("New keeps %d bytes, want none of the table", made-before)
	}
	if kept := used - made; kept < 64<<10 || kept > 4<<20 {
		t.Errorf("a table that is in use takes %d bytes, want at most 4 MiB, and more than nothing", kept)
	}
	// init embedder/builtin @1.2 ms, 0.01 ms clock, 16 bytes, 1 allocs
	inits := regexp.MustCompile(`(?m)^init (\S*embedder/builtin(?:/table)?) @.*, ([0-9]+) bytes`).FindAllStringSubmatch(trace.String(), -1)
	for _, line := range inits {
		if bytes, err := strconv.Atoi(line[2]); err != nil || bytes > 4<<10 {
			t.Errorf("the program allocates at its start: %s", line[0])
		}
	}
	if !strings.Contains(trace.String(), "init runtime") {
		t.Errorf("there is no trace of what packages do at the start:\n%s", trace.String())
	}
}
