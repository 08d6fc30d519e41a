package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/config"
)

// The documented file, read into an empty Config, must give every default: a
// setting that it leaves out would be zero.
func TestDocumentedFileIsTheDefaults(t *testing.T) {
	var documented config.Config
	if err := yaml.UnmarshalWithOptions(configs.YAML, &documented, yaml.Strict()); err != nil {
		t.Fatalf("configs/recalld.yaml: %v", err)
	}
	if diff := cmp.Diff(config.Default(), documented); diff != "" {
		t.Errorf("configs/recalld.yaml differs from Default (-code +file):\n%s", diff)
	}
}

// Every setting of the code stands in the file, with a comment in the line
// above it.
func TestEverySettingIsDocumented(t *testing.T) {
	tree, err := parser.ParseBytes(configs.YAML, 0)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	lines := strings.Split(string(configs.YAML), "\n")
	explained := map[string]bool{} // by path
	ast.Walk(visitor(func(n ast.Node) {
		if m, ok := n.(*ast.MappingValueNode); ok {
			key := m.Key.GetToken().Position.Line - 1
			explained[strings.TrimPrefix(m.Key.GetPath(), "$.")] = key > 0 && strings.HasPrefix(strings.TrimSpace(lines[key-1]), "#")
		}
	}), tree.Docs[0].Body)

	// The comment above a group explains all of it.
	grouped := []string{"recall.min_relevance.", "recall.code_size"}
	for _, path := range leaves(reflect.TypeFor[config.Config](), "") {
		switch comment, ok := explained[path]; {
		case !ok:
			t.Errorf("configs/recalld.yaml does not have the setting %s", path)
		case !comment && !slices.ContainsFunc(grouped, func(group string) bool { return strings.HasPrefix(path, group) }):
			t.Errorf("configs/recalld.yaml does not explain %s: no comment in the line above it", path)
		}
	}
}

type visitor func(ast.Node)

func (v visitor) Visit(n ast.Node) ast.Visitor { v(n); return v }

// leaves lists the paths of all settings of a struct.
func leaves(typ reflect.Type, prefix string) []string {
	var paths []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		path := prefix + f.Tag.Get("yaml")
		if f.Tag.Get("yaml") == "-" { // filled by Load
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			paths = append(paths, leaves(f.Type, path+".")...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// load reads a settings file of this text, in an environment of its own.
func load(t *testing.T, text string, env map[string]string, set map[string]string) (config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "recalld.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"HOME": dir, "USERPROFILE": dir}[name]
	}
	return config.Load(config.Sources{File: file, Set: set, Getenv: getenv})
}

func TestLayers(t *testing.T) {
	const file = `
log: {level: warn, format: json}
index: {skip_dirs: [only]}
recall: {min_relevance: {chunk: 0.9}}
embedding: {ollama: {prefixes: {house-model: {query: "q: ", document: "d: "}, bge-m3: {query: "x"}}}}
`
	cfg, err := load(t, file,
		map[string]string{
			"RECALLD_LOG_LEVEL": "error", "RECALLD_INDEX_STALE_AFTER": "30s", "RECALLD_INDEX_MAX_FILE_SIZE": "1MB",
			"RECALLD_SANDBOXES": "/a, /b", "RECALLD_TCP_ENABLED": "true", "RECALLD_RECALL_MIN_RELEVANCE_STEP": ".4",
		},
		map[string]string{"log.level": "debug", "queue.depth": "77"})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Data, want.Embedding.Ollama.URL = cfg.Data, "http://127.0.0.1:11434"
	want.Log.Level, want.Log.Format = "debug", "json"
	want.Index.SkipDirs = []string{"only"}
	want.Index.MaxFileSize = 1e6
	want.Recall.MinRelevance.Chunk, want.Recall.MinRelevance.Step = .9, .4
	want.Index.StaleAfter, want.Queue.Depth = 30*time.Second, 77
	want.Sandboxes = []string{"/a", "/b"}
	want.TCP.Enabled = true
	want.Embedding.Ollama.Prefixes["house-model"] = config.Prefix{Query: "q: ", Document: "d: "}
	want.Embedding.Ollama.Prefixes["bge-m3"] = config.Prefix{Query: "x"}
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

// TestFormerSettings: a file with every setting of a former version, the same settings as
// variables, and as flags, change nothing but give a notice for each that has gone.
func TestFormerSettings(t *testing.T) {
	former, err := os.ReadFile(filepath.Join("testdata", "all-former-settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := map[string]string{ // to values of a type that the setting never had
		"log.max_size": "x", "daemon.start_timeout": "x", "daemon.drain_timeout": "x", "index.workers": "x", "index.reconcile_every": "x",
		"queue.lease": "x", "queue.max_attempts": "x", "queue.backoff_min": "x", "queue.backoff_max": "x",
		"recall.query_deadline": "x", "recall.vector_weight": "x", "recall.half_life_days.lesson": "x", "recall.half_life_days.step": "x",
		"recall.half_life_days.chunk": "x", "recall.half_life_days.task": "x", "recall.half_life_days.reference": "x",
		"recall.half_life_days.rule": "x", "recall.half_life_days.tool": "x",
		"embedding.ollama.batch": "x", "embedding.ollama.concurrency": "x", "embedding.ollama.keep_alive": "x",
		"context.shares.rule": "x", "context.shares.reference": "x", "context.shares.tool": "x",
		"context.shares.lesson": "x", "context.shares.step": "x", "context.shares.chunk": "x",
	}
	env := map[string]string{}
	for path, value := range gone {
		env[config.EnvName(path)] = value
	}
	for name, tc := range map[string]struct {
		file     string
		env, set map[string]string
		source   string
		notices  int
	}{
		"file":            {string(former), nil, nil, "recalld.yaml:", len(gone)},
		"alone in a file": {"queue: {lease: 30s}\n", nil, nil, "recalld.yaml:1: queue.lease", 1},
		"empty group":     {"recall:\n  half_life_days:\n", nil, nil, "", 0},
		"environment":     {"", env, nil, "RECALLD_", len(gone)},
		"flags":           {"", nil, gone, "--set: ", len(gone)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, tc.file, tc.env, tc.set)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Notices) != tc.notices {
				t.Errorf("%d notices, want %d: %q", len(got.Notices), tc.notices, got.Notices)
			}
			for _, notice := range got.Notices {
				if !strings.Contains(notice, tc.source) || !strings.HasSuffix(notice, " is no longer a setting and has no effect") {
					t.Errorf("notice %q", notice)
				}
			}
			// The prefixes that the file spells out are those that the library knows.
			got.Notices, got.Data, got.Embedding.Ollama.Prefixes = nil, want.Data, want.Embedding.Ollama.Prefixes
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("settings (-defaults +got):\n%s", diff)
			}
		})
	}
}

// What people leave behind in a file must not change a default.
func TestEmptyFilesAreTheDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comments": "# nothing\n", "empty section": "log:\n", "separator": "---\n",
		"empty nested section": "embedding:\n  ollama:\n", "byte order mark": "\ufefflog:\n",
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := load(t, text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := config.Default()
			want.Data, want.Embedding.Ollama.URL = cfg.Data, cfg.Embedding.Ollama.URL
			if diff := cmp.Diff(want, cfg); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		file  string
		env   map[string]string
		set   map[string]string
		field string
		want  string // in the message
	}{
		"unknown section":    {file: "indx: {}\n", field: "indx", want: "unknown setting"},
		"unknown key":        {file: "index:\n  max_flies: 3\n", field: "index.max_flies", want: ":2:"},
		"unknown nested key": {file: "embedding:\n  ollama:\n    modell: x\n", field: "embedding.ollama.modell", want: "unknown"},
		"unknown kind":       {file: "recall: {min_relevance: {lessons: 1}}\n", field: "recall.min_relevance.lessons", want: "unknown"},
		"duration":           {file: "index:\n  stale_after: soon\n", want: "soon"},
		"size":               {file: "index:\n  max_file_size: big\n", want: "is not a size"},
		"type":               {file: "queue:\n  depth: many\n", field: "queue.depth"},
		"two documents":      {file: "log: {level: info}\n---\nlog: {level: warn}\n", want: "more than one document"},
		"no yaml":            {file: "log: [\n", want: "recalld.yaml"},
		"same key twice":     {file: "log: {level: info}\nlog: {level: warn}\n", want: "already defined"},

		"level":              {file: "log: {level: loud}\n", field: "log.level", want: "debug, info, warn, error"},
		"code deadline":      {file: "recall: {code_deadline: 501ms}\n", field: "recall.code_deadline", want: "1ms–500ms"},
		"floor":              {file: "recall: {min_relevance: {chunk: 1.5}}\n", field: "recall.min_relevance.chunk", want: "0–1"},
		"floor not a number": {file: "recall: {min_relevance: {chunk: .nan}}\n", field: "recall.min_relevance.chunk", want: "0–1"},
		"limit":              {file: "recall: {limit: 51}\n", field: "recall.limit", want: "1–50"},
		"or none":            {file: "limits: {processors: -1}\n", field: "limits.processors", want: "0 or 1–1024"},
		"tokens":             {file: "recall: {max_tokens: 49}\n", field: "recall.max_tokens", want: "50–8000"},
		"address":            {file: "tcp: {address: \"0.0.0.0:7420\"}\n", field: "tcp.address", want: "loopback"},
		"address by name":    {file: "tcp: {address: \"example.com:7420\"}\n", field: "tcp.address", want: "loopback"},
		"address, no port":   {file: "tcp: {address: \"127.0.0.1\"}\n", field: "tcp.address", want: "host:port"},
		"port":               {file: "tcp: {address: \"127.0.0.1:99999\"}\n", field: "tcp.address", want: "port"},
		"origin":             {file: "tcp: {allowed_origins: [\"http://a/b\"]}\n", field: "tcp.allowed_origins[0]", want: "origin"},
		"skipped folder":     {file: "index: {skip_dirs: [a/b]}\n", field: "index.skip_dirs[0]"},
		"skipped file":       {file: "index: {skip_files: [\"[\"]}\n", field: "index.skip_files[0]"},
		"ollama mode":        {file: "embedding: {ollama: {enabled: maybe}}\n", field: "embedding.ollama.enabled", want: "auto, on, off"},
		"ollama elsewhere":   {file: "embedding: {ollama: {url: \"http://10.0.0.9:11434\"}}\n", field: "embedding.ollama.url", want: "allow_remote"},
		"ollama by env, on": {file: "embedding: {ollama: {enabled: on}}\n", env: map[string]string{"OLLAMA_HOST": "gpu.example.com"},
			field: "embedding.ollama.url", want: "allow_remote"},
		"ollama by our env": {env: map[string]string{"RECALLD_EMBEDDING_OLLAMA_URL": "http://gpu.example.com:11434"},
			field: "embedding.ollama.url", want: "allow_remote"},
		"no home": {file: "socket: ~/s\n", env: map[string]string{"HOME": "", "USERPROFILE": ""}, field: "socket", want: "HOME is not set"},
		"model":   {file: "embedding: {ollama: {model: \"\"}}\n", field: "embedding.ollama.model"},

		"window":                 {file: "tasks: {window: 0}\n", field: "tasks.window", want: "1–100"},
		"window, too large":      {file: "tasks: {window: 101}\n", field: "tasks.window", want: "1–100"},
		"override's window":      {file: "tasks: {overrides: [{window: 5}, {project: shop, window: 0}]}\n", field: "tasks.overrides[1].window", want: "1–100"},
		"override of nothing":    {file: "tasks: {overrides: [{project: shop}]}\n", field: "tasks.overrides[0]", want: "leave_out"},
		"override's field":       {file: "tasks: {overrides: [{type: x}]}\n", want: "type"},
		"override's long name":   {file: "tasks: {overrides: [{task_type: " + strings.Repeat("x", 201) + ", window: 2}]}\n", field: "tasks.overrides[0].task_type", want: "200"},
		"too many overrides":     {file: "tasks: {overrides: [" + strings.Repeat("{window: 5}, ", 101) + "]}\n", field: "tasks.overrides", want: "at most 100"},
		"context's tokens":       {file: "context: {max_tokens: 49}\n", field: "context.max_tokens", want: "50–100000"},
		"context's tokens, many": {file: "context: {max_tokens: 100001}\n", field: "context.max_tokens", want: "50–100000"},
		"considered":             {file: "context: {top_k: 201}\n", field: "context.top_k", want: "1–200"},
		"taken":                  {file: "context: {top_n: 0}\n", field: "context.top_n", want: "1–50"},
		"always taken":           {file: "context: {include_score: 1.1}\n", field: "context.include_score", want: "0–1"},
		"never a setting":        {file: "context: {shares: {task: 0.1}}\n", field: "context.shares", want: "unknown setting"},
		"follow, too often":      {file: "follow_every: 99ms\n", field: "follow_every", want: "100ms–1h"},
		"code on disk":           {file: "index: {max_size: 999KB}\n", field: "index.max_size", want: "1MB–1000GB"},
		"kept turns":             {file: "context: {keep_turns: 0}\n", field: "context.keep_turns", want: "1–100"},
		"summary's model":        {file: "context: {summary_model: \"a b\"}\n", field: "context.summary_model", want: "without spaces"},
		"summary's time":         {file: "context: {summary_timeout: 0s}\n", field: "context.summary_timeout", want: "1s–10m"},
		"summary's time, below":  {file: "context: {summary_timeout: -1s}\n", field: "context.summary_timeout", want: "1s–10m"},
		"no toolset":             {file: "mcp: {toolsets: []}\n", field: "mcp.toolsets", want: "1–100"},
		"empty toolset":          {file: "mcp: {toolsets: [core, \"\"]}\n", field: "mcp.toolsets[1]", want: "knowledge"},
		"not a toolset":          {file: "mcp: {toolsets: [\"core,admin\"]}\n", field: "mcp.toolsets[0]", want: "name of a tool"},
		"no such key":            {file: "search: {keys: [ctrl-m=up]}\n", field: "search.keys[0]", want: "ctrl-LETTER"},
		"no action":              {file: "search: {keys: [ctrl-j]}\n", field: "search.keys[0]", want: "next-kind"},
		"one key, two actions":   {file: "search: {keys: [f5=up, f6=up, f5=down]}\n", field: "search.keys[2]", want: "one action a key"},
		"too many toolsets":      {file: "mcp: {toolsets: [" + strings.Repeat("core, ", 101) + "]}\n", field: "mcp.toolsets", want: "1–100"},

		"environment":  {env: map[string]string{"RECALLD_QUEUE_DEPTH": "x"}, field: "queue.depth", want: "RECALLD_QUEUE_DEPTH"},
		"flag":         {set: map[string]string{"log.levle": "x"}, field: "log.levle", want: "unknown setting"},
		"flag's value": {set: map[string]string{"redact.enabled": "perhaps"}, field: "redact.enabled", want: "true nor false"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, tc.file, tc.env, tc.set)
			if err == nil {
				t.Fatal("accepted")
			}
			e, ok := errors.AsType[*config.Error](err)
			if !ok {
				t.Fatalf("error is a %T, want a *config.Error in it: %v", err, err)
			}
			if tc.field != "" && e.Field != tc.field {
				t.Errorf("field %q, want %q: %v", e.Field, tc.field, err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not say %q", err, tc.want)
			}
		})
	}
}

// TestFileError: an error tells whether the file cannot be read as settings.
func TestFileError(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		env  map[string]string
		want bool
	}{
		"no yaml":     {file: "log: [\n", want: true},
		"unknown key": {file: "indx: {}\n", want: true},
		"variable":    {env: map[string]string{"RECALLD_QUEUE_DEPTH": "x"}},
	} {
		_, err := load(t, tc.file, tc.env, nil)
		if _, got := errors.AsType[*config.FileError](err); got != tc.want {
			t.Errorf("%s: %v is of the file: %v, want %v", name, err, got, tc.want)
		}
	}
	_, err := config.Load(config.Sources{File: t.TempDir(), Dir: t.TempDir()})
	if _, got := errors.AsType[*config.FileError](err); !got {
		t.Errorf("a folder: %v is not of the file", err)
	}
}

// All faults are reported at once.
func TestValidateJoins(t *testing.T) {
	cfg := config.Default()
	cfg.Log.Level, cfg.Recall.Limit = "x", 0
	err := cfg.Validate()
	for _, field := range []string{"log.level", "recall.limit"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %s", err, field)
		}
	}
	def := config.Default()
	if err := def.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

// What the limits allow at their ends is allowed.
func TestValidAtTheEdges(t *testing.T) {
	for _, text := range []string{
		"tasks: {window: 1}", "tasks: {window: 100, overrides: [{task_type: x, window: 100}, {project: p, leave_out: true}, {requires_context: true}]}",
		"context: {max_tokens: 50, top_k: 1, top_n: 50, include_score: 1, keep_turns: 100}",
		"context: {max_tokens: 100000, top_k: 200, top_n: 1, include_score: 0, keep_turns: 1}",
		"context: {summary_model: \"qwen3:4b\", summary_timeout: 10m}",
		"follow_every: 0s\nindex: {max_size: 0}", "mcp: {toolsets: [all]}", "mcp: {toolsets: [core, knowledge, history, tasks, context, admin, index_repo]}",
	} {
		if _, err := load(t, text+"\n", nil, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Lists come from the environment too.
	cfg, err := load(t, "", map[string]string{"RECALLD_MCP_TOOLSETS": "core, knowledge"}, nil)
	if err != nil || !slices.Equal(cfg.MCP.Toolsets, []string{"core", "knowledge"}) {
		t.Errorf("toolsets from the environment: %q, %v", cfg.MCP.Toolsets, err)
	}
}

func TestNamedFileMustExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := config.Load(config.Sources{File: missing}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one of a missing file", err)
	}
	home := t.TempDir()
	if _, err := config.Load(config.Sources{Getenv: func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home}[name]
	}}); err != nil {
		t.Errorf("without a file in the platform's place: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(string(configs.YAML))
	f.Add("log: {level: warn}\n")
	f.Add("recall:\n  min_relevance: [1]\n")
	f.Add("a: &a [*a]\n")
	dir := f.TempDir()
	file := filepath.Join(dir, "recalld.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Skipf("the file cannot be written: %v", err)
		}
		cfg, err := config.Load(config.Sources{File: file, Data: dir, Getenv: func(string) string { return "" }})
		if err == nil && cfg.Validate() != nil {
			t.Errorf("loaded settings that do not validate: %v", cfg.Validate())
		}
	})
}
