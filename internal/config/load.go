package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
)

// envPrefix begins every environment variable that is a setting.
const envPrefix = "RECALLD_"

// MaxFile is the size of the largest settings file, in bytes.
const MaxFile = 1 << 20

// Sources says where settings are read from. The zero value reads the
// platform's settings file and the environment.
type Sources struct {
	// File is the settings file, as --config names it. Empty is RECALLD_CONFIG,
	// else recalld.yaml in the platform's configuration folder, which need not
	// exist; a file that is named must.
	File string
	// Data is the data folder, as --data names it. Empty is RECALLD_DATA, else
	// the file's, else the platform's.
	Data string
	// Set holds settings from flags, by path: "log.level" → "debug".
	Set map[string]string
	// Dir is the folder to which paths of flags and of the environment are relative;
	// empty is the working folder of this process.
	Dir string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
}

// getenv reads a variable of the environment.
func (s Sources) getenv(name string) string {
	if s.Getenv != nil {
		return s.Getenv(name)
	}
	return os.Getenv(name)
}

// Load reads all layers of settings and validates the result. Paths come back absolute
// (see Config.absolute), and Embedding.Ollama.URL filled. The error joins an *Error for
// every invalid setting.
func Load(src Sources) (Config, error) {
	cfg := Default()
	if err := cfg.readFile(src); err != nil {
		return Config{}, err
	}
	if err := cfg.applyEnv(src.getenv); err != nil {
		return Config{}, err
	}
	if err := cfg.applySet(src.Set); err != nil {
		return Config{}, err
	}
	if src.Data != "" {
		cfg.Data = src.Data
	}
	// Paths of the file are absolute by now; the others come from flags and variables.
	if err := cfg.absolute(src.Dir, src.getenv); err != nil {
		return Config{}, err
	}
	if err := cfg.resolve(src.getenv); err != nil {
		return Config{}, err
	}
	return cfg, cfg.Validate()
}

// readFile reads the settings file over the defaults.
func (c *Config) readFile(src Sources) error {
	file, named, err := FindFile(src)
	if err != nil {
		return err
	}
	if file == "" {
		return nil
	}
	text, err := fsx.ReadFile(file, MaxFile)
	switch {
	case err == nil:
		if err := decode(text, file, c); err != nil {
			return &FileError{err}
		}
		return c.absolute(filepath.Dir(file), src.getenv)
	case named || !errors.Is(err, fs.ErrNotExist):
		return &FileError{fmt.Errorf("read settings: %w", err)}
	}
	return nil
}

// resolve fills in the data folder and the Ollama server of this machine.
func (c *Config) resolve(getenv func(string) string) error {
	if c.Data == "" {
		dirs, err := platformFolders(runtime.GOOS, getenv)
		if err != nil {
			return err
		}
		c.Data = dirs.data
	}
	data, err := fsx.Canonical(c.Data)
	if err != nil {
		return &Error{Field: "data", Message: fmt.Sprintf("resolve data folder %s: %v", c.Data, err)}
	}
	if info, err := os.Stat(data); err == nil && !info.IsDir() {
		return &Error{Field: "data", Message: data + " is not a folder"}
	}
	c.Data = data
	c.Embedding.Ollama.find(getenv("OLLAMA_HOST"))
	return nil
}

// applyEnv sets what the environment names.
func (c *Config) applyEnv(getenv func(string) string) error {
	var errs []error
	for _, s := range c.settings() {
		name := EnvName(s.path)
		text := getenv(name)
		if text == "" {
			continue
		}
		if err := s.set(text); err != nil {
			errs = append(errs, &Error{Source: name, Field: s.path, Message: err.Error()})
		}
	}
	for _, path := range removed {
		if name := EnvName(path); getenv(name) != "" {
			c.ignore(name, path)
		}
	}
	return errors.Join(errs...)
}

// applySet sets what flags name; an unknown path is an error.
func (c *Config) applySet(set map[string]string) error {
	var errs []error
	settings := c.settings()
	for _, path := range slices.Sorted(maps.Keys(set)) {
		if Removed(path) {
			c.ignore("--set", path)
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.path == path })
		if i < 0 {
			errs = append(errs, &Error{Field: path, Message: "unknown setting"})
			continue
		}
		if err := settings[i].set(set[path]); err != nil {
			errs = append(errs, &Error{Field: path, Message: err.Error()})
		}
	}
	return errors.Join(errs...)
}

// EnvName is the environment variable of a setting: RECALLD_LOG_LEVEL for
// "log.level".
func EnvName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}
