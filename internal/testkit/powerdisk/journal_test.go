package powerdisk

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// journalOf records a file "f" with synced and pending data and its rename to "g".
func journalOf() *Journal {
	j := &Journal{}
	for _, o := range []operation{
		{kind: opCreate, folder: root, name: "f", node: 2},
		{kind: opSyncDir, node: root},
		{kind: opWrite, node: 2, data: bytes.Repeat([]byte("a"), 2*block)},
		{kind: opSync, node: 2},
		{kind: opWrite, node: 2, data: bytes.Repeat([]byte("b"), 2*block)},
		{kind: opWrite, node: 2, data: []byte("end"), offset: 2 * block},
		{kind: opRename, folder: root, name: "f", node: 2, to: root, toName: "g"},
	} {
		j.add(o)
	}
	return j
}

func cut(t *testing.T, j *Journal, at int, loss Loss, seed uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "cut")
	if err := j.Cut(at, loss, rand.New(rand.NewPCG(seed, 0)), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func expect(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if want == nil && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || want == nil || !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes (%v), want %d", filepath.Base(path), len(got), err, len(want))
	}
}

// TestCut compares what survives with what the operations say.
func TestCut(t *testing.T) {
	j := journalOf()
	a, b := bytes.Repeat([]byte("a"), 2*block), append(bytes.Repeat([]byte("b"), 2*block), "end"...)
	for _, c := range []struct {
		at   int
		loss Loss
		f, g []byte
	}{
		{1, LoseAll, nil, nil},
		{2, LoseAll, []byte{}, nil},
		{3, LoseAll, []byte{}, nil},
		{3, LoseNames, a, nil},
		{4, LoseAll, a, nil},
		{7, LoseAll, a, nil},
		{7, LoseNames, b, nil},
		{7, LoseData, nil, a},
	} {
		dir := cut(t, j, c.at, c.loss, 0)
		expect(t, filepath.Join(dir, "f"), c.f)
		expect(t, filepath.Join(dir, "g"), c.g)
	}
}

// TestNames: a sync of a file keeps the name that it was created with, and no later one; under
// the strict rule it keeps none. A sync of a folder keeps no name of the folder itself.
func TestNames(t *testing.T) {
	for _, strict := range []bool{false, true} {
		j := &Journal{Strict: strict}
		for _, o := range []operation{
			{kind: opCreate, folder: root, name: "f", node: 2},
			{kind: opSync, node: 2},
			{kind: opCreate, folder: root, name: "d", node: 3, isDir: true},
			{kind: opCreate, folder: 3, name: "g", node: 4},
			{kind: opSyncDir, node: 3},
			{kind: opRename, folder: root, name: "f", node: 2, to: root, toName: "f2"},
		} {
			j.add(o)
		}
		dir := cut(t, j, j.Len(), LoseAll, 0)
		var want []byte
		if !strict {
			want = []byte{}
		}
		expect(t, filepath.Join(dir, "f"), want)
		expect(t, filepath.Join(dir, "f2"), nil)
		expect(t, filepath.Join(dir, "d", "g"), nil)
	}
}

// TestCutSome: what was synced is always there, whatever else is; all outcomes come up.
func TestCutSome(t *testing.T) {
	j, kinds := journalOf(), map[string]bool{}
	for seed := range uint64(200) {
		dir := cut(t, j, j.Len(), LoseSome, seed)
		name := "f"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			name = "g"
			text, err = os.ReadFile(filepath.Join(dir, name))
		}
		if err != nil || len(text) < 2*block {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(text), err)
		}
		mixed := "torn"
		for _, whole := range []string{"a", "b"} {
			if bytes.Count(text, []byte(whole)) == 2*block {
				mixed = whole
			}
		}
		if n := bytes.Count(text[:2*block], []byte("a")) + bytes.Count(text[:2*block], []byte("b")); n != 2*block {
			t.Fatalf("seed %d: %d of %d bytes are of neither write", seed, 2*block-n, 2*block)
		}
		kinds[name+mixed] = true
		again, err := os.ReadFile(filepath.Join(cut(t, j, j.Len(), LoseSome, seed), name))
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("seed %d makes other files when it is used again: %v", seed, err)
		}
	}
	for _, want := range []string{"fa", "fb", "ftorn", "ga", "gb", "gtorn"} {
		if !kinds[want] {
			t.Errorf("no cut left %s, only %v", want, kinds)
		}
	}
}

// TestContent compares a content with a slice of bytes under random operations.
func TestContent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c content
	var want []byte
	for range 2000 {
		offset := random.IntN(5 * block)
		if random.IntN(4) == 0 {
			c.resize(int64(offset))
			want = append(want[:min(offset, len(want)):min(offset, len(want))], make([]byte, max(0, offset-len(want)))...)
		} else {
			data := bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(2*block))
			c.write(data, int64(offset))
			want = append(want, make([]byte, max(0, offset+len(data)-len(want)))...)
			copy(want[offset:], data)
		}
		got := make([]byte, len(want)+1)
		if n := c.read(got, 0); n != len(want) || !bytes.Equal(got[:n], want) {
			t.Fatalf("a content of %d bytes is not what was written, %d bytes", n, len(want))
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := c.save(path); err != nil {
		t.Fatal(err)
	}
	expect(t, path, want)
}
