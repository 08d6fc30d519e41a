package config

import "time"

// searchPrompt is the query prompt that the authors of mxbai-embed-large,
// snowflake-arctic-embed and the English bge models publish.
const searchPrompt = "Represent this sentence for searching relevant passages: "

// Default returns every setting at its default. Data is empty: Load puts the
// platform's folder in its place.
func Default() Config {
	return Config{
		Log: Log{Level: "info", Format: "text", MaxSize: 10e6},
		Daemon: Daemon{
			Autostart:    true,
			StartTimeout: 20 * time.Second,
			DrainTimeout: 10 * time.Second,
		},
		TCP:       TCP{Address: "127.0.0.1:7420", AllowedOrigins: []string{}},
		Sandboxes: []string{},
		Sources:   TrustedSources{Trusted: []string{}},
		Index: Index{
			MaxFileSize: 500e3,
			MaxFiles:    50_000,
			SkipDirs: []string{
				".git", ".hg", ".svn", ".idea", ".vscode", ".cache", ".gradle", ".mypy_cache",
				".next", ".nuxt", ".pytest_cache", ".terraform", ".tox", ".venv", "__pycache__",
				"bower_components", "build", "coverage", "dist", "node_modules", "out", "target",
				"vendor", "venv", "agent-knowledge", "llm-knowledge",
			},
			SkipFiles: []string{
				"*.min.js", "*.min.css", "*.map", "*.pb.go", "*_pb2.py", "*.generated.*", "*.snap",
				"*.lock", "go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml",
				"packages.lock.json", ".terraform.lock.hcl", "Package.resolved", "gradle.lockfile",
			},
			SkipGenerated: true,
			TimeLimit:     10 * time.Minute,
			Workers:       16,
			StaleAfter:    5 * time.Minute,

			Full:           true,
			Light:          true,
			Watch:          true,
			ReconcileEvery: 10 * time.Minute,
			MaxSize:        10e9,
		},
		Queue: Queue{
			Depth:       1000,
			Lease:       30 * time.Second,
			MaxAttempts: 10,
			BackoffMin:  time.Second,
			BackoffMax:  10 * time.Minute,
		},
		Recall: Recall{
			Limit:         5,
			MaxTokens:     1000,
			CodeDeadline:  200 * time.Millisecond,
			QueryDeadline: 250 * time.Millisecond,
			CodeResults:   3,
			CodeSize:      2 << 10,
			MinRelevance:  ByKind{Lesson: .5, Step: .5, Chunk: .75, Task: .5, Reference: .5, Rule: .5, Tool: .5},
			HalfLifeDays:  ByKind{Lesson: 90, Step: 14, Task: 14},
			VectorWeight:  .1, // as index.ZScoreWeight, which says why
		},
		Embedding: Embedding{Ollama: Ollama{
			Enabled:     "auto",
			Model:       "nomic-embed-text",
			Batch:       32,
			Concurrency: 4,
			Timeout:     2 * time.Minute,
			KeepAlive:   5 * time.Minute,
			Prefixes:    defaultPrefixes(),
		}},
		Redact:   Redact{Enabled: true},
		Receipts: Receipts{RetentionDays: 90},
		Lessons:  Lessons{Log: true, Dir: "agent-knowledge/logs"},
		Sessions: Sessions{
			Files:    true,
			Dir:      "test-artifacts/llm-knowledge",
			FlowTags: []string{"send", "swap", "connect", "sign", "onboarding", "settings", "tx-confirmation"},
			Labels:   defaultLabels(),
		},
		Tasks: Tasks{Window: 5, Overrides: []TaskOverride{}},
		Context: Context{
			MaxTokens: 4000, TopK: 20, TopN: 5, IncludeScore: .7,
			Shares:    ContextShares{Rule: .25, Reference: .25, Tool: .2, Lesson: .15, Step: .1, Chunk: .25},
			Files:     true,
			KeepTurns: 3, SummaryTimeout: time.Minute,
		},
		FollowEvery: 2 * time.Second,
		MCP:         MCP{Prefix: "mm_", Toolsets: []string{"core"}},
	}
}

// defaultLabels know the tools of browser and coding agents by name.
func defaultLabels() []LabelRule {
	interactions := []string{"mm_click", "mm_type", "mm_fill*", "mm_press*"}
	return []LabelRule{
		{Label: "discovery", Tools: []string{"mm_describe_screen", "read", "read_*", "grep", "glob", "ls", "list_*", "search*", "*_search", "webfetch", "fetch*"}},
		{Label: "navigation", Tools: []string{"mm_navigate*"}},
		{Label: "interaction", Tools: append(interactions, "edit", "edit_*", "multiedit", "write", "write_*", "notebookedit", "apply_patch")},
		{Label: "confirmation", Tools: interactions, Target: "confirm"},
		{Label: "execution", Tools: []string{"bash", "shell", "run", "run_*", "exec*", "terminal*"}},
		{Label: "verification", Tools: []string{"test", "test_*", "run_tests", "*_test"}},
		{Label: "error-recovery", Failed: true},
	}
}

// defaultPrefixes are the prompts of the models' own cards.
func defaultPrefixes() map[string]Prefix {
	return map[string]Prefix{
		"nomic-embed-text":              {Query: "search_query: ", Document: "search_document: "},
		"nomic-embed-code":              {Query: "Represent this query for searching relevant code: "},
		"mxbai-embed-large":             {Query: searchPrompt},
		"snowflake-arctic-embed":        {Query: searchPrompt},
		"snowflake-arctic-embed2":       {Query: "query: "},
		"snowflake-arctic-embed-m-v2.0": {Query: "query: "},
		"snowflake-arctic-embed-l-v2.0": {Query: "query: "},
		"embeddinggemma":                {Query: "task: search result | query: ", Document: "title: none | text: "},
		"qwen3-embedding": {Query: "Instruct: Given a web search query, retrieve relevant passages " +
			"that answer the query\nQuery:"},
		"bge-m3":           {},
		"bge-large":        {Query: searchPrompt},
		"bge-base":         {Query: searchPrompt},
		"bge-small":        {Query: searchPrompt},
		"e5-":              {Query: "query: ", Document: "passage: "},
		"multilingual-e5-": {Query: "query: ", Document: "passage: "},
		"all-minilm":       {},
	}
}
