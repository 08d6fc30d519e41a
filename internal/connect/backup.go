package connect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// maxBackups is how many backups of a file are kept.
const maxBackups = 3

// backupTime is the form of the time in a backup's name.
const backupTime = "20060102-150405"

// backup copies a file to <file>.recalld-YYYYMMDD-HHMMSS.bak, with a number if that is
// taken, and removes the oldest backups beyond maxBackups. The newest one without recalld
// is always kept: it is what --remove goes back to.
func backup(path string, mode fs.FileMode, text []byte, now time.Time) (string, error) {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.recalld-%s.bak", path, now.Format(backupTime))
		if n > 1 {
			to = fmt.Sprintf("%s.recalld-%s-%d.bak", path, now.Format(backupTime), n)
		}
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			if err := write(to, mode, text); err != nil {
				return "", err
			}
			return to, tidyBackups(path)
		} else if err != nil {
			return "", fmt.Errorf("name backup: %w", err)
		}
	}
}

// backups lists the backups of a file, the newest first.
func backups(path string) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), base+".recalld-")
		if middle, ok2 := strings.CutSuffix(middle, ".bak"); ok && ok2 && e.Type().IsRegular() && len(middle) >= len(backupTime) && strings.Trim(middle, "0123456789-") == "" {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	// A number after the time is higher for a newer one; "-10" is longer than "-9".
	slices.SortFunc(all, func(a, b string) int {
		until := len(filepath.Join(dir, base)) + len(".recalld-") + len(backupTime)
		return cmp.Or(strings.Compare(b[:until], a[:until]), len(b)-len(a), strings.Compare(b, a))
	})
	return all
}

// tidyBackups removes the oldest backups of a file.
func tidyBackups(path string) error {
	all := backups(path)
	if len(all) <= maxBackups {
		return nil
	}
	without := slices.IndexFunc(all, func(b string) bool {
		text, err := readFile(b)
		return err == nil && !bytes.Contains(text, []byte(name))
	})
	keep := all[:maxBackups:maxBackups]
	if without >= maxBackups {
		keep = append(all[:maxBackups-1:maxBackups-1], all[without])
	}
	for _, b := range all {
		if slices.Contains(keep, b) {
			continue
		}
		if err := os.Remove(b); err != nil {
			return fmt.Errorf("remove old backup: %w", err)
		}
	}
	return nil
}

// restoreBackups looks, for every file that a removal changes, for its backup from before
// recalld was in it. If the user has changed nothing since, the file gets that text back,
// byte for byte: an edit alone cannot tell an empty object of the user's from one of its
// own.
func restoreBackups(parts []part, changes []Change) []Change {
	for i := range changes {
		c := &changes[i]
		if i != lastChange(changes, c.Path) {
			continue
		}
		target, err := follow(c.Path)
		if err != nil {
			continue
		}
		ofFile := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.path() != c.Path })
		final := changes[lastOf(changes, c.Path)].After
		all := backups(target)
		for k, b := range all {
			text, err := readFile(b)
			if err != nil || text == nil {
				continue
			}
			without, err := takeAll(ofFile, text)
			if err == nil && without == nil && final == nil {
				c.drops = append(c.drops, b) // it has nothing but recalld either
			}
			if err != nil || !bytes.Equal(without, text) || without == nil {
				continue
			}
			if !becomes(ofFile, text, final) {
				continue
			}
			for j := range changes {
				if changes[j].Path == c.Path {
					changes[j].exact = true
					if j > i { // none, and so it remains
						changes[j].Before, changes[j].After = text, text
					}
				}
			}
			c.After, c.drops = text, all[:k+1] // the newer ones had recalld
			break
		}
	}
	return changes
}

// takeAll removes all parts from a text.
func takeAll(parts []part, text []byte) (_ []byte, err error) {
	for _, p := range parts {
		if text, err = p.edit.Take(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// becomes says whether a text without recalld is what is left, if the parts are added to it
// and removed again.
func becomes(parts []part, text, left []byte) bool {
	var err error
	for _, p := range parts {
		if text, err = p.edit.Put(text); err != nil {
			return false
		}
	}
	text, err = takeAll(parts, text)
	return err == nil && sameText(text, left)
}

// dropBackups removes backups. One that cannot be removed stays.
func dropBackups(drops []string) {
	for _, b := range drops {
		_ = os.Remove(b)
	}
}

// lastChange returns the index of the last change of a file that changes something, -1 if
// none does.
func lastChange(changes []Change, path string) int {
	for i, c := range slices.Backward(changes) {
		if c.Path == path && !c.None() {
			return i
		}
	}
	return -1
}

// sameText says whether two texts are equal, or the same JSON without comments: a client
// that writes its file anew changes only the layout.
func sameText(a, b []byte) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if bytes.Equal(a, b) {
		return true
	}
	var one, two any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &two) == nil && reflect.DeepEqual(one, two)
}
