package sessiondir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// maxSameName bounds the files of steps of one moment and tool.
const maxSameName = 100

// WriteSession writes the file of a session into its folder, creates both if they are
// missing, and returns the folder's path. An existing file is replaced as one. A bare
// session has a folder only. It returns CodeInvalidInput for an id that cannot be the
// name of a folder, CodeForbidden if a link is in the way, and CodeConflict if other
// sessions have all names that the folder may have.
func WriteSession(root, dir string, s memory.Session) (path string, err error) {
	at, path, err := sessionFolder(root, dir, s.ID)
	if err != nil {
		return "", fmt.Errorf("open session folder: %w", err)
	}
	defer at.Close() // only its handle
	if s.Bare {
		return path, nil
	}
	text, err := encodeSession(s)
	if err != nil {
		return "", fmt.Errorf("encode session: %w", err)
	}
	if err := fsx.Replace(at, sessionFile, text, newFileMode); err != nil {
		return "", fmt.Errorf("write session file: %w", err)
	}
	return path, nil
}

// WriteStep writes a step of a session into a separate file and returns its path. A step of
// the same time, in milliseconds, and tool is the same step and is replaced. It returns the
// errors of WriteSession, and CodeInvalidInput for a record that is not a step or has no
// time.
func WriteStep(root, dir string, s memory.Session, r memory.Record) (path string, err error) {
	text, err := stepText(s, r)
	if err != nil {
		return "", err
	}
	at, below, err := sessionFolder(root, dir, s.ID)
	if err != nil {
		return "", fmt.Errorf("open session folder: %w", err)
	}
	defer at.Close() // only its handle
	steps, err := openFolder(at, stepsFolder, true)
	if err != nil {
		return "", fmt.Errorf("open steps folder: %w", err)
	}
	defer steps.Close() // only its handle
	name, err := freeStepName(steps, r)
	if err != nil {
		return "", fmt.Errorf("name step file: %w", err)
	}
	if err := fsx.Replace(steps, name, text, newFileMode); err != nil {
		return "", fmt.Errorf("write step file: %w", err)
	}
	return filepath.Join(below, stepsFolder, name), nil
}

// stepText encodes a step.
func stepText(s memory.Session, r memory.Record) ([]byte, error) {
	switch {
	case r.Kind != memory.Step || r.Step == nil:
		return nil, memory.Invalid("kind", "a step", "%q is not a step", r.Kind)
	case r.Created.IsZero():
		return nil, memory.Invalid("timestamp", "", "is missing")
	}
	text, err := encodeStep(r, s.ID)
	if err != nil {
		return nil, fmt.Errorf("encode step: %w", err)
	}
	return text, nil
}

// sessionFolder opens the folder of a session and creates it if it is missing.
func sessionFolder(root, dir, id string) (at *os.Root, path string, err error) {
	if err := memory.ValidSessionID("sessionId", id); err != nil {
		return nil, "", err
	}
	tree, path, err := fsx.OpenFolder(root, dir, true)
	if err != nil {
		return nil, "", fmt.Errorf("open sessions: %w", err)
	}
	defer tree.Close() // only its handle
	for _, name := range folderNames(id) {
		at, err := openFolder(tree, name, true)
		if err != nil {
			return nil, "", err
		}
		if ownedBy(at, id) {
			return at, filepath.Join(path, name), nil
		}
		_ = at.Close() // only looked at
	}
	return nil, "", memory.Errorf(memory.CodeConflict, "other sessions have the folders that %s may have", id)
}

// ownedBy reports whether a folder may be used for a session: its file names no other
// one.
func ownedBy(folder *os.Root, id string) bool {
	text, err := readFile(folder, sessionFile)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	s, _, err := decodeSession(text)
	return err != nil || s.ID == "" || s.ID == id // a damaged one is rewritten
}

// freeStepName returns the name for a step's file: an unused one, or the name of the same
// step's file.
func freeStepName(steps *os.Root, r memory.Record) (string, error) {
	plain := stepName(r.Created, r.Step.Tool.Name)
	for i := 1; i <= maxSameName; i++ {
		name := numbered(plain, i)
		text, err := readFile(steps, name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			continue
		}
		old, _, err := decodeStep(text, name)
		if err == nil && old.Step.Tool.Name == r.Step.Tool.Name && formatTime(old.Created) == formatTime(r.Created) {
			return name, nil
		}
	}
	return "", memory.Errorf(memory.CodeConflict, "%d files begin with %s", maxSameName, plain)
}

// numbered adds a number to a name.
func numbered(plain string, i int) string {
	if i > 1 {
		plain += "-" + strconv.Itoa(i)
	}
	return plain + fileSuffix
}
