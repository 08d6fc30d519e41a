package sessiondir

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Export writes sessions with their steps into a folder that is empty or does not exist,
// and returns how many files it wrote. The same sessions always give the same bytes:
// steps that would have the same file name are ordered by time, tool and id. Files are
// not synced to disk, because an interrupted export is made again. Pictures are not
// exported. It returns CodeConflict if the folder is not empty or is a file, and
// CodeInvalidInput for an id that cannot be the name of a folder.
func Export(dir string, sessions iter.Seq2[memory.Session, []memory.Record]) (files int, err error) {
	if err := fsx.MakeEmpty(dir); err != nil {
		return 0, err
	}
	at, err := fsx.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("open folder of export: %w", err)
	}
	defer at.Close() // only its handle
	taken := map[string]bool{}
	for s, steps := range sessions {
		n, err := exportSession(at, taken, s, steps)
		files += n
		if err != nil {
			return files, fmt.Errorf("export session %s: %w", s.ID, err)
		}
	}
	return files, nil
}

// exportSession writes one session. taken are the folders of earlier sessions in lower
// case, for systems that ignore case.
func exportSession(at *os.Root, taken map[string]bool, s memory.Session, steps []memory.Record) (files int, err error) {
	if err := memory.ValidSessionID("sessionId", s.ID); err != nil {
		return 0, err
	}
	names := folderNames(s.ID)
	i := slices.IndexFunc(names, func(name string) bool { return !taken[strings.ToLower(name)] })
	if i < 0 {
		return 0, memory.Errorf(memory.CodeConflict, "the session was exported before")
	}
	name := names[i]
	taken[strings.ToLower(name)] = true
	if err := fsx.Mkdir(at, name); err != nil {
		return 0, err
	}
	if !s.Bare {
		text, err := encodeSession(s)
		if err != nil {
			return 0, err
		}
		if err := createFile(at, filepath.Join(name, sessionFile), text); err != nil {
			return 0, err
		}
		files++
	}
	if len(steps) == 0 {
		return files, nil
	}
	below := filepath.Join(name, stepsFolder)
	if err := fsx.Mkdir(at, below); err != nil {
		return files, err
	}
	n, err := exportSteps(at, below, s, steps)
	return files + n, err
}

// exportSteps writes the steps of one session, in an order that decides which of two
// steps with the same name gets a number.
func exportSteps(at *os.Root, folder string, s memory.Session, steps []memory.Record) (files int, err error) {
	steps = slices.SortedFunc(slices.Values(steps), compareSteps)
	taken := map[string]bool{}
	for _, r := range steps {
		text, err := stepText(s, r)
		if err != nil {
			return files, err
		}
		plain := stepName(r.Created, r.Step.Tool.Name)
		name := numbered(plain, 1)
		for i := 2; taken[strings.ToLower(name)]; i++ {
			name = numbered(plain, i)
		}
		taken[strings.ToLower(name)] = true
		if err := createFile(at, filepath.Join(folder, name), text); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

func compareSteps(a, b memory.Record) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(toolOf(a), toolOf(b)), strings.Compare(a.ID, b.ID))
}

func toolOf(r memory.Record) string {
	if r.Step == nil {
		return ""
	}
	return r.Step.Tool.Name
}

// createFile writes a file that does not exist yet.
func createFile(at *os.Root, name string, text []byte) error {
	f, err := fsx.Create(at, name, os.O_WRONLY|os.O_EXCL, newFileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
