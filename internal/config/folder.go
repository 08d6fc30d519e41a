package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// absolute makes the paths of the settings absolute: what is relative lies in
// dir, the folder of the file that says it, and ~ is the home folder. The
// folders of lessons and sessions are relative to repositories and stay so.
func (c *Config) absolute(dir string, getenv func(string) string) error {
	type path struct {
		field string
		value *string
	}
	whole := []path{{"data", &c.Data}, {"socket", &c.Socket}, {"tcp.token_file", &c.TCP.TokenFile}, {"tcp.certificate", &c.TCP.Certificate}, {"tcp.key", &c.TCP.Key}, {"backup.dir", &c.Backup.Dir}}
	for i := range c.Sandboxes {
		whole = append(whole, path{fmt.Sprintf("sandboxes[%d]", i), &c.Sandboxes[i]})
	}
	for i := range c.Sources.Trusted {
		whole = append(whole, path{fmt.Sprintf("sources.trusted[%d]", i), &c.Sources.Trusted[i]})
	}
	for _, p := range whole {
		if *p.value == "" {
			continue
		}
		var err error
		if *p.value, err = inFolder(dir, *p.value, getenv); err != nil {
			return &Error{Field: p.field, Message: err.Error()}
		}
	}
	for _, p := range []path{{"lessons.dir", &c.Lessons.Dir}, {"sessions.dir", &c.Sessions.Dir}} {
		var err error
		if *p.value, err = expandHome(*p.value, getenv); err != nil {
			return &Error{Field: p.field, Message: err.Error()}
		}
	}
	return nil
}

// inFolder returns a path as seen from a folder; an empty one is the working
// folder, which is asked for only if it is needed: it may have been removed.
func inFolder(dir, path string, getenv func(string) string) (string, error) {
	path, err := expandHome(path, getenv)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	whole, err := filepath.Abs(filepath.Join(dir, path))
	if err != nil {
		return "", fmt.Errorf("%q is relative and the working folder is unknown: %w", path, err)
	}
	return whole, nil
}

// expandHome puts the home folder in the place of a ~ that a path begins with.
// Another user's, ~name, stays as it is.
func expandHome(path string, getenv func(string) string) (string, error) {
	rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home := homeFolder(runtime.GOOS, getenv)
	if home == "" {
		return "", errors.New("~ is the home folder, and HOME is not set")
	}
	return filepath.Join(home, filepath.FromSlash(rest)), nil
}
