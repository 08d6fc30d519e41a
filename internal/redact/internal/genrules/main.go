// Genrules writes the rules of gitleaks, as the library holds them, into a table
// that package redact embeds: one rule a line, so that a change of the library
// shows in review. Run it with "go generate ./internal/redact" after another
// version of the library was taken; its test says when the table is out of date.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genrules FILE")
		os.Exit(2)
	}
	table, err := generate()
	if err == nil {
		err = os.WriteFile(os.Args[1], table, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genrules:", err)
		os.Exit(1)
	}
}

// leftOut are rules that mean nothing, or too much, without the path of a file.
var leftOut = map[string]string{
	"pkcs12-file":           "it looks at the path only",
	"hashicorp-tf-password": "outside of Terraform any string after the word password would do",
}

// source is gitleaks' own form of its rules, as far as texts without a path need it.
type source struct {
	Allowlist allow
	Rules     []rule
}

type rule struct {
	ID          string   `toml:"id" json:"id"`
	Regex       string   `toml:"regex" json:"regex"`
	SecretGroup int      `toml:"secretGroup" json:"group,omitempty"`
	Entropy     float64  `toml:"entropy" json:"entropy,omitempty"`
	Keywords    []string `toml:"keywords" json:"keywords"`
	Allowlists  []allow  `toml:"allowlists" json:"allow,omitempty"`
}

type allow struct {
	Condition string   `toml:"condition" json:"-"`
	Paths     []string `toml:"paths" json:"-"`
	Target    string   `toml:"regexTarget" json:"target,omitempty"`
	Regexes   []string `toml:"regexes" json:"regexes,omitempty"`
	Stopwords []string `toml:"stopwords" json:"stopwords,omitempty"`
}

// generate returns the table: the global allowlist first, then one rule a line.
func generate() ([]byte, error) {
	var all source
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &all); err != nil {
		return nil, fmt.Errorf("read rules of gitleaks: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all.Allowlist); err != nil {
		return nil, fmt.Errorf("write allowlist: %w", err)
	}
	for _, r := range all.Rules {
		if _, out := leftOut[r.ID]; out {
			continue
		}
		if r.Regex == "" || len(r.Keywords) == 0 {
			return nil, fmt.Errorf("rule %s has no pattern or no keyword: say what is to become of it", r.ID)
		}
		r.Allowlists = withoutPaths(r.Allowlists)
		if err := enc.Encode(r); err != nil {
			return nil, fmt.Errorf("write rule %s: %w", r.ID, err)
		}
	}
	return out.Bytes(), nil
}

// withoutPaths leaves out allowlists that ask for a path, alone or as well.
func withoutPaths(lists []allow) []allow {
	var kept []allow
	for _, l := range lists {
		if len(l.Regexes)+len(l.Stopwords) > 0 && (l.Condition != "AND" || len(l.Paths) == 0) {
			kept = append(kept, l)
		}
	}
	return kept
}
