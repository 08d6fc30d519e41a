package config

import "reflect"

// Default returns every setting at its default. Data is empty: Load replaces it by the
// platform's folder.
func Default() Config {
	c := Config{
		Embedding: Embedding{Ollama: Ollama{Prefixes: map[string]Prefix{}}},
		Sessions:  Sessions{Labels: defaultLabels()},
		Tasks:     Tasks{Overrides: []TaskOverride{}},
	}
	for _, s := range c.settings() {
		text := s.tag.Get("default")
		if text == "" && s.value.Kind() != reflect.Slice { // an empty list is not nil
			continue
		}
		if err := s.set(text); err != nil {
			panic("config: default of " + s.path + ": " + err.Error())
		}
	}
	return c
}

// defaultLabels name the tools of browser and coding agents.
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
