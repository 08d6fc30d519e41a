package clean

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// run is how many consecutive words two texts must share to count as copies: the length
// used for GPT-3 (Brown et al., "Language Models are Few-Shot Learners", 2020, appendix C).
const run = 13

// minWhole is the least number of words in a text of a set that is shorter than run, for it
// to be searched as a whole.
const minWhole = 4

// Held contains the texts of evaluation sets by their runs of words. Its zero value is
// empty.
type Held struct {
	sets []string
	// runs maps the hash of a run, or of a whole text, to the index in sets of the first
	// set that has it.
	runs map[uint64]uint8
}

// ReadHeld reads every set below a folder: its subfolders that hold
// corpus.jsonl.gz or queries.jsonl.gz, whose lines have a "text" and may have a
// "title".
func ReadHeld(dir string) (*Held, error) {
	h := &Held{runs: map[uint64]uint8{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list sets: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		h.sets = append(h.sets, e.Name())
		for _, name := range []string{"corpus.jsonl.gz", "queries.jsonl.gz"} {
			if err := h.file(filepath.Join(dir, e.Name(), name)); err != nil {
				return nil, fmt.Errorf("read set %s: %w", e.Name(), err)
			}
		}
	}
	if len(h.runs) == 0 {
		return nil, fmt.Errorf("read sets: no text below %s", dir)
	}
	return h, nil
}

func (h *Held) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	return h.lines(bufio.NewReader(z))
}

func (h *Held) lines(r io.Reader) error {
	d := json.NewDecoder(r)
	for {
		var entry struct{ Title, Text string }
		if err := d.Decode(&entry); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("decode line: %w", err)
		}
		h.add(entry.Text)
		h.add(entry.Title)
	}
}

// add adds a text of the last set.
func (h *Held) add(text string) {
	set := uint8(len(h.sets) - 1)
	note := func(key uint64) {
		if _, ok := h.runs[key]; !ok {
			h.runs[key] = set
		}
	}
	all := slices.Collect(words(strings.ToLower(text)))
	if len(all) < run {
		if len(all) >= minWhole {
			note(keyOf(all))
		}
		return
	}
	for i := 0; i+run <= len(all); i++ {
		note(keyOf(all[i : i+run]))
	}
}

// In returns the set that contains a run of the text, or the whole text if it is shorter.
func (h *Held) In(text string) (set string, ok bool) {
	if len(h.runs) == 0 {
		return "", false
	}
	all := slices.Collect(words(strings.ToLower(text)))
	if len(all) < run {
		at, ok := h.runs[keyOf(all)]
		return h.name(at, ok)
	}
	for i := 0; i+run <= len(all); i++ {
		if at, ok := h.runs[keyOf(all[i:i+run])]; ok {
			return h.name(at, ok)
		}
	}
	return "", false
}

func (h *Held) name(at uint8, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	return h.sets[at], true
}

func keyOf(list []string) uint64 {
	h := newHash()
	for _, w := range list {
		h.add(w)
	}
	return uint64(h)
}
