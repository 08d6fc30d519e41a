package memory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RepairCommand shows what a damaged store has lost and, once confirmed, goes on with
// what is left.
const RepairCommand = "recalld doctor --repair"

// WhyDamaged is why a search of a store that has lost something is incomplete.
const WhyDamaged = "the store has lost data: see `" + RepairCommand + "`"

// IsIncomplete says whether asking again may help after a search that was incomplete.
func IsIncomplete(why string) bool { return why != WhyDamaged }

// StoreDamage is what a store has lost.
type StoreDamage struct {
	// Files are the damaged files of the database.
	Files []DamagedFile `json:"files,omitempty"`
	// Acknowledged is the number of the last update that was acknowledged, Found that
	// of the last one that is there. What lies between them is gone.
	Acknowledged uint64 `json:"acknowledged_seq,omitempty"`
	Found        uint64 `json:"found_seq,omitempty"`
	// Lost are how many of what was acknowledged are not there or cannot be read, by
	// kind: "lesson", "chunk", "session", "file". A negative number is of what is
	// there again after it was forgotten. Known once the store was read.
	Lost map[string]int `json:"lost,omitempty"`
	// ReadOnly says that writes are refused.
	ReadOnly bool `json:"read_only,omitempty"`
}

// DamagedFile is a file of the database and what is wrong with it.
type DamagedFile struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// maxDamagedFiles is how many files Text names.
const maxDamagedFiles = 3

// Text says in a line what is damaged and what to do about it.
func (d *StoreDamage) Text() string {
	text := "the store is damaged: " + strings.Join(d.parts(), "; ")
	if d.ReadOnly {
		text += "; what can be read is answered, writes are refused"
	} else {
		text += "; answers lack it"
	}
	return text + " until `" + RepairCommand + "` was told to go on"
}

// parts are the losses, one each.
func (d *StoreDamage) parts() []string {
	var parts []string
	for _, f := range d.Files[:min(len(d.Files), maxDamagedFiles)] {
		parts = append(parts, strings.TrimPrefix(f.Name+": ", ": ")+f.What)
	}
	if more := len(d.Files) - maxDamagedFiles; more > 0 {
		parts = append(parts, Count(more, "more file"))
	}
	if d.Found < d.Acknowledged {
		parts = append(parts, fmt.Sprintf("of %d acknowledged updates, those from %d on are gone", d.Acknowledged, d.Found+1))
	}
	var gone, again []string
	for _, kind := range slices.Sorted(maps.Keys(d.Lost)) {
		if n := d.Lost[kind]; n > 0 {
			gone = append(gone, Count(n, kind))
		} else if n < 0 {
			again = append(again, Count(-n, kind))
		}
	}
	if len(gone) > 0 {
		parts = append(parts, strings.Join(gone, ", ")+" cannot be found")
	}
	if len(again) > 0 {
		parts = append(parts, strings.Join(again, ", ")+" more than there should be")
	}
	return parts
}
