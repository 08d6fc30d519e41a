//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The deeds of the vandal but those by git: see deeds.

func (v *vandal) saveByRename() (step, error) {
	name := v.newName()
	return step{}, v.replace(name, v.text(name))
}

func (v *vandal) saveInPlace() (step, error) {
	name := v.newName()
	ok, err := v.room(name)
	if !ok || err != nil {
		return step{}, err
	}
	return step{}, os.WriteFile(v.full(name), []byte(v.text(name)), 0o644)
}

// edit changes one part of a file, moves the rest, or puts its parts in another order.
func (v *vandal) edit() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	parts := strings.SplitAfter(v.history.current(name).text, "\n\n")
	i := v.random.IntN(len(parts))
	switch v.random.IntN(3) {
	case 0:
		parts[i] = v.part(name)
	case 1:
		parts = slices.Insert(parts, i, v.part(name))
	default:
		j := v.random.IntN(len(parts))
		parts[i], parts[j] = parts[j], parts[i]
	}
	text := strings.Join(parts, "")
	if v.random.IntN(2) == 0 {
		return step{}, v.replace(name, text)
	}
	return step{}, os.WriteFile(v.full(name), []byte(text), 0o644)
}

func (v *vandal) appendText() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	f, err := os.OpenFile(v.full(name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return step{}, err
	}
	_, err = f.WriteString("\n" + v.part(name))
	return step{}, errors.Join(err, f.Close())
}

// sameSizeAndTime writes other words of the same length over a file and sets its
// time back: what compares sizes and times sees nothing.
func (v *vandal) sameSizeAndTime() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	info, err := os.Stat(v.full(name))
	if err != nil {
		return step{}, err
	}
	text := []byte(v.history.current(name).text)
	line := 0
	for i, c := range text { // another letter for some letters of every third line
		switch {
		case c == '\n':
			line++
		case line%3 == 0 && c >= 'a' && c <= 'z' && v.random.IntN(4) == 0:
			text[i] = byte('a' + v.random.IntN(26))
		}
	}
	f, err := os.OpenFile(v.full(name), os.O_WRONLY, 0)
	if err != nil {
		return step{}, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return step{}, err
	}
	return step{overwritten: name}, os.Chtimes(v.full(name), info.ModTime(), info.ModTime())
}

func (v *vandal) truncate() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	return step{}, os.Truncate(v.full(name), int64(v.random.IntN(len(v.history.current(name).text)+1)))
}

func (v *vandal) renameFile() (step, error) {
	from, to := v.anyFile(), v.newName()
	if from == "" || from == to || strings.HasPrefix(to, from+"/") { // a file cannot be moved below itself
		return step{}, nil
	}
	if ok, err := v.room(to); !ok || err != nil {
		return step{}, err
	}
	return step{from: from, to: to}, os.Rename(v.full(from), v.full(to))
}

func (v *vandal) moveFolder() (step, error) {
	from, to := v.anyFolder(), tortureFolders[1+v.random.IntN(len(tortureFolders)-1)]
	if from == "" || to == from || strings.HasPrefix(to, from+"/") || strings.HasPrefix(from, to+"/") {
		return step{}, nil
	}
	if _, err := os.Lstat(v.full(to)); err == nil {
		return step{}, nil
	}
	if ok, err := v.room(to); !ok || err != nil {
		return step{}, err
	}
	v.ask(to)
	return step{from: from, to: to}, os.Rename(v.full(from), v.full(to))
}

func (v *vandal) deleteFile() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	return step{}, os.Remove(v.full(name))
}

func (v *vandal) deleteFolder() (step, error) {
	name := v.anyFolder()
	if name == "" {
		return step{}, nil
	}
	return step{}, os.RemoveAll(v.full(name))
}

func (v *vandal) fileToFolder() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	if err := os.Remove(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, v.replace(path.Join(name, "inner.go"), v.text("inner.go"))
}

func (v *vandal) folderToFile() (step, error) {
	name := v.anyFolder()
	if name == "" {
		return step{}, nil
	}
	if err := os.RemoveAll(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, v.replace(name, v.text(name))
}

// linkFileOut leads to a text like the one that was there, with the marker in it,
// by an absolute path or by one with "..".
func (v *vandal) linkFileOut() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	target := filepath.Join(v.outside, "passwd")
	if v.random.IntN(2) == 0 {
		up := strings.Repeat("../", strings.Count(name, "/")+1)
		target = filepath.FromSlash(up + path.Join(filepath.Base(v.outside), "passwd"))
	}
	if err := os.Remove(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, os.Symlink(target, v.full(name))
}

// linkFolderOut puts a link to a folder of the same names in the place of a folder.
func (v *vandal) linkFolderOut() (step, error) {
	name := v.anyFolder()
	if name == "" {
		return step{}, nil
	}
	away := filepath.Join(v.outside, fmt.Sprint("moved", v.written))
	v.written++
	for _, file := range sortedKeys(v.history.texts()) {
		if rest, ok := strings.CutPrefix(file, name+"/"); ok {
			text := strings.Replace(v.history.current(file).text, "carry", outsideMarker, 1)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(away, rest)), 0o755); err != nil {
				return step{}, err
			}
			if err := os.WriteFile(filepath.Join(away, rest), []byte(text+"\n"+outsideMarker+"\n"), 0o644); err != nil {
				return step{}, err
			}
		}
	}
	if err := os.RemoveAll(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, os.Symlink(away, v.full(name))
}

func (v *vandal) linkFileIn() (step, error) {
	name, target := v.anyFile(), v.anyFile()
	if name == "" || name == target {
		return step{}, nil
	}
	if err := os.Remove(v.full(name)); err != nil {
		return step{}, err
	}
	up := strings.Repeat("../", strings.Count(name, "/"))
	return step{}, os.Symlink(filepath.FromSlash(up+target), v.full(name))
}

func (v *vandal) linkFolderIn() (step, error) {
	name, target := v.anyFolder(), v.anyFolder()
	if name == "" || name == target || strings.HasPrefix(target, name+"/") || strings.HasPrefix(name, target+"/") {
		return step{}, nil
	}
	if err := os.RemoveAll(v.full(name)); err != nil {
		return step{}, err
	}
	up := strings.Repeat("../", strings.Count(name, "/"))
	return step{}, os.Symlink(filepath.FromSlash(up+target), v.full(name))
}

func (v *vandal) binary() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	text := v.history.current(name).text
	return step{}, v.replace(name, text+"\n\x00\x01\n"+text)
}

func (v *vandal) grow() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	text := v.history.current(name).text
	return step{}, v.replace(name, text+strings.Repeat("filler of many lines\n", 30_000))
}

func (v *vandal) turnLineEnds() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	text := v.history.current(name).text
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	} else {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return step{}, v.replace(name, text)
}

func (v *vandal) pipe() (step, error) {
	name := v.anyFile()
	if name == "" {
		return step{}, nil
	}
	if err := os.Remove(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, syscall.Mkfifo(v.full(name), 0o644)
}

// folderToPipe waits for whoever takes it for a folder and opens it.
func (v *vandal) folderToPipe() (step, error) {
	name := v.anyFolder()
	if name == "" {
		return step{}, nil
	}
	if err := os.RemoveAll(v.full(name)); err != nil {
		return step{}, err
	}
	return step{}, syscall.Mkfifo(v.full(name), 0o644)
}

// permissions takes them from a file, or gives them back to all: to root, who may
// read everything, it makes no difference.
func (v *vandal) permissions() (step, error) {
	if name := v.anyFile(); name != "" && os.Getuid() == 0 {
		mode := fs.FileMode(0o644)
		if v.random.IntN(2) == 0 {
			mode = 0
		}
		return step{}, os.Chmod(v.full(name), mode)
	}
	return step{}, nil
}

// rootAway puts a link to another folder in the place of the whole repository, or
// the repository back.
func (v *vandal) rootAway() (step, error) {
	away := filepath.Join(filepath.Dir(v.root), "away")
	if info, err := os.Lstat(v.root); err == nil && info.IsDir() {
		if err := os.Rename(v.root, away); err != nil {
			return step{}, err
		}
		return step{}, os.Symlink(v.outside, v.root)
	}
	return step{}, v.rootBack()
}

// rootBack undoes rootAway; otherwise it does nothing.
func (v *vandal) rootBack() error {
	if info, err := os.Lstat(v.root); err == nil && info.IsDir() {
		return nil
	}
	if err := os.Remove(v.root); err != nil {
		return err
	}
	return os.Rename(filepath.Join(filepath.Dir(v.root), "away"), v.root)
}
