package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/recalld/recalld/internal/fsx"
)

// Where the value of a setting is from.
const (
	FromDefault = "default"
	FromFile    = "file"
	FromEnv     = "environment"
	FromFlag    = "flag"
)

// Setting is one setting as people see it.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	// Source is default, file, environment or flag. At says where exactly: "FILE:LINE",
	// the name of a variable.
	Source string `json:"source"`
	At     string `json:"at,omitempty"`
}

// FindFile returns the settings file of some sources, "" if the platform has no place for
// it; named says that a flag or a variable names it, so that it must be there.
func FindFile(src Sources) (file string, named bool, err error) {
	if file = cmp.Or(src.File, src.getenv(envPrefix+"CONFIG")); file != "" {
		file, err = inFolder(src.Dir, file, src.getenv)
		if err != nil {
			err = fmt.Errorf("find settings: %w", err)
		}
		return file, true, err
	}
	if dirs, err := platformFolders(runtime.GOOS, src.getenv); err == nil {
		file = filepath.Join(dirs.config, "recalld.yaml")
	}
	return file, false, nil
}

// List returns every setting with its value, its default and where the value is from. The
// errors are those of Load.
func List(src Sources) ([]Setting, error) {
	cfg, err := Load(src)
	if err != nil {
		return nil, err
	}
	file, _, err := FindFile(src)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	text, err := fsx.ReadFile(file, MaxFile)
	if err == nil {
		lines = settingLines(text)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	usual := Default()
	defaults := usual.leaves()
	var list []Setting
	for i, s := range cfg.leaves() {
		out := Setting{Name: s.path, Value: s.text(), Default: defaults[i].text(), Source: FromDefault}
		if line := lines[s.path]; line > 0 {
			out.Source, out.At = FromFile, fmt.Sprintf("%s:%d", file, line)
		}
		if name := EnvName(s.path); src.getenv(name) != "" && s.settable() {
			out.Source, out.At = FromEnv, name
		}
		if _, given := src.Set[s.path]; given || s.path == "data" && src.Data != "" {
			out.Source, out.At = FromFlag, ""
		}
		list = append(list, out)
	}
	return list, nil
}

// settingLines returns the lines at which a settings file names something, by path.
func settingLines(text []byte) map[string]int {
	lines := map[string]int{}
	tree, err := parse(text)
	if err != nil {
		return lines // Load has told
	}
	for _, doc := range tree.Docs {
		walkKeys(doc.Body, func(path string, n *ast.MappingValueNode) { lines[path] = n.Key.GetToken().Position.Line })
	}
	return lines
}

// walkKeys visits the keys of nested mappings with their paths.
func walkKeys(n ast.Node, visit func(path string, n *ast.MappingValueNode)) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, value := range n.Values {
			walkKeys(value, visit)
		}
	case *ast.MappingValueNode:
		visit(strings.TrimPrefix(n.Key.GetPath(), "$."), n)
		walkKeys(n.Value, visit)
	}
}

// OfDaemon reports whether a daemon goes by a setting; the others are for commands, which
// read them anew.
func OfDaemon(name string) bool {
	return name != "daemon.autostart" && !strings.HasPrefix(name, "search.")
}

// Changed names the settings of a daemon that differ.
func Changed(a, b Config) []string {
	var names []string
	other := b.leaves()
	for i, s := range a.leaves() {
		if OfDaemon(s.path) && !reflect.DeepEqual(s.value.Interface(), other[i].value.Interface()) {
			names = append(names, s.path)
		}
	}
	return names
}

// text writes a setting as the environment would spell it; what no text can set is counted.
func (s setting) text() string {
	if list, ok := reflect.TypeAssert[[]string](s.value); ok {
		return strings.Join(list, ",")
	}
	if !s.settable() {
		return fmt.Sprintf("(%d in the file)", s.value.Len())
	}
	return fmt.Sprint(s.value)
}

// settable says whether a text can set the setting.
func (s setting) settable() bool {
	return s.value.Kind() != reflect.Map && (s.value.Kind() != reflect.Slice || s.value.Type().Elem().Kind() != reflect.Struct)
}

// settings lists the leaves that a text can set, in the order of the structs. Maps and
// lists of structs are not included.
func (c *Config) settings() []setting {
	return slices.DeleteFunc(c.leaves(), func(s setting) bool { return !s.settable() })
}

// Names lists the settings that a text can set.
func Names() []string {
	cfg := Default()
	var names []string
	for _, s := range cfg.settings() {
		names = append(names, s.path)
	}
	return names
}
