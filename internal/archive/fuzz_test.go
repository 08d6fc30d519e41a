package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// FuzzRead reads the lines of archives of other people's making, whose last line is right,
// and each value in them.
func FuzzRead(f *testing.F) {
	const head = `{"kind":"recalld-archive","value":{"format":1,"version":"1","store":"s"}}` + "\n"
	f.Add([]byte(head + `{"kind":"project","value":{"id":"p-1","name":"shop"}}` + "\n" + `{"kind":"forgotten","value":"l-1"}` + "\n"))
	f.Add([]byte(head + `{"kind":"record","value":{"id":"l-1","kind":"lesson","project":"p-1","text":"x","created":"2026-01-02T03:04:05Z","event":{"type":"error","lesson":"x"}}}` + "\n"))
	f.Add([]byte(head + `{"kind":"session","value":null}` + "\n" + `{"kind":"receipt","value":[]}` + "\n"))
	path := filepath.Join(f.TempDir(), "a.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		if err := os.WriteFile(path, ended(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v := Importer{CheckState: func(string, json.RawMessage) error { return nil }}.newValues()
		taken := 0
		a, err := read(t.Context(), path, func(_ int, l line) error {
			value, err := v.decode(l)
			if err == nil && value == nil {
				t.Errorf("%s is taken as nothing", l.Value)
			}
			taken++
			return err
		})
		switch code := memory.CodeOf(err); {
		case err == nil && a.Path != path:
			t.Errorf("an archive of %d values is read as %+v", taken, a)
		case err != nil && code != memory.CodeInvalidInput && code != memory.CodeIncompatible:
			t.Errorf("error %v has code %s", err, code)
		}
	})
}

// ended adds the last line of an archive, which counts the others.
func ended(text []byte) []byte {
	counts := map[memory.ArchiveKind]int{}
	for n, row := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var l line
		if n > 0 && json.Unmarshal(row, &l) == nil {
			counts[l.Kind]++
		}
	}
	sum := sha256.Sum256(text)
	value, err := json.Marshal(end{Counts: counts, SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		panic(err) // it has numbers and texts only
	}
	last, err := json.Marshal(line{Kind: memory.ArchivedEnd, Value: value})
	if err != nil {
		panic(err)
	}
	return append(append(bytes.Clone(text), last...), '\n')
}
