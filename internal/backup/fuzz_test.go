package backup

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// FuzzManifest reads manifests of other people's making: their checksum is right. What is
// read must be within its limits.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format":1,"backup":{"store":"s","name":"n"},"packs":[{"name":"p.pack","size":9}],"blocks":1}` + "\n" +
		`{"h":"` + fmt.Sprintf("%064x", 1) + `","at":[0,0,10,20]}` + "\n"))
	f.Add([]byte(`{"format":1,"backup":{"name":"n"},"packs":[{"name":"../p.pack"}],"blocks":0}` + "\n"))
	f.Add([]byte(`{"format":1,"backup":{"name":"n"},"blocks":-1}` + "\n"))
	path := filepath.Join(f.TempDir(), "n"+manifestSuffix)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = fmt.Appendf(text, "%x\n", sha256.Sum256(text))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := load(path)
		if err != nil {
			if code := memory.CodeOf(err); code != memory.CodeCorrupt && code != memory.CodeIncompatible {
				t.Errorf("error %v has code %s", err, code)
			}
			return
		}
		for _, p := range m.packs {
			if p.Name != filepath.Base(p.Name) {
				t.Errorf("a pack lies elsewhere: %q", p.Name)
			}
		}
		for _, b := range m.blocks {
			if b.pack < 0 || b.pack >= len(m.packs) || b.raw <= 0 || b.raw > maxRaw || b.length <= 0 || b.offset < 0 {
				t.Errorf("a block is not within its limits: %+v", b)
			}
		}
	})
}

// FuzzEntries reads the entries of a block. Those that are read make the same block again,
// but for numbers written with more bytes than they need.
func FuzzEntries(f *testing.F) {
	f.Add(appendEntry(appendEntry(nil, store.Entry{Key: []byte("k"), Value: []byte("v")}), store.Entry{Key: []byte("l"), Value: []byte("w"), ExpiresAt: 1 << 40}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var again []byte
		if err := readEntries(raw, func(e store.Entry) error { again = appendEntry(again, e); return nil }); err != nil {
			return
		}
		var twice []byte
		if err := readEntries(again, func(e store.Entry) error { twice = appendEntry(twice, e); return nil }); err != nil || !bytes.Equal(again, twice) || len(again) > len(raw) {
			t.Errorf("%x is written again as %x, and then as %x, %v", raw, again, twice, err)
		}
	})
}

// FuzzDecompress reads blocks that do not contain what they say. What is read has the hash
// by which it is named.
func FuzzDecompress(f *testing.F) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		f.Fatal(err)
	}
	raw := bytes.Repeat([]byte("block "), 50)
	if err := compress(w, &packed, raw); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes(), raw)
	f.Add([]byte{1, 0, 0, 0xff, 0xff}, []byte("x"))
	f.Fuzz(func(t *testing.T, packed, raw []byte) {
		if len(raw) == 0 || len(raw) > maxRaw {
			return
		}
		b := block{hash: sha256.Sum256(raw), span: span{raw: int64(len(raw))}}
		if got, err := decompress(packed, b); err == nil && !bytes.Equal(got, raw) {
			t.Errorf("%x is read as another block", packed)
		}
	})
}
