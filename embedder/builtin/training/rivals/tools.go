package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// rivals lists all tools, in the order of the table.
func rivals(recalld string) []*rival {
	return []*rival{
		askRecalld("recalld", recalld, func(r *rival) [][]string {
			// The daemon runs as long as the first command does, so that its processor time
			// counts for that command.
			return [][]string{{"sh", "-c", `"$0" serve & pid=$!; "$0" index --wait "$1" && "$0" stop; wait $pid`, recalld, r.root}}
		}),
		askRecalld("recalld without its threshold", recalld, nil, "--min-relevance", "0.01"),
		{
			name: "ripgrep", needs: []string{"rg"}, read: readLines,
			ask: func(_ *rival, q question) []string {
				return []string{"rg", "-n", "-i", "--no-heading", "--with-filename", "-e", pattern(q)}
			},
		},
		{
			name: "ripgrep, pattern of a definition", needs: []string{"rg"}, read: readLines,
			ask: func(_ *rival, q question) []string {
				if len(q.words) > 0 {
					return nil
				}
				return []string{"rg", "-n", "--no-heading", "--with-filename", "-e", `^func (\([^)]*\) )?` + q.text + `[\[(]`}
			},
		},
		{
			name: "grep", needs: []string{"grep"}, read: readLines,
			ask: func(_ *rival, q question) []string { return []string{"grep", "-rnIEi", "-e", pattern(q), "."} },
		},
		{
			name: "codesearch", needs: []string{"cindex", "csearch"}, read: readLines,
			index: func(r *rival) [][]string { return [][]string{{"cindex", r.root}} },
			ask:   func(_ *rival, q question) []string { return []string{"csearch", "-n", "-i", pattern(q)} },
			env:   func(r *rival) []string { return []string{"CSEARCHINDEX=" + filepath.Join(r.scratch, "index")} },
		},
		{
			name: "zoekt with ctags", needs: []string{"zoekt", "zoekt-index", "ctags"}, read: readLines,
			index: func(r *rival) [][]string {
				return [][]string{{"zoekt-index", "-require_ctags", "-index", r.scratch, r.root}}
			},
			ask: askZoekt,
			env: func(*rival) []string { return []string{"CTAGS_COMMAND=ctags"} },
		},
		{
			name: "zoekt without ctags", needs: []string{"zoekt", "zoekt-index"}, read: readLines,
			index: func(r *rival) [][]string {
				return [][]string{{"zoekt-index", "-disable_ctags", "-index", r.scratch, r.root}}
			},
			ask: askZoekt,
		},
	}
}

// askRecalld is recalld with additional flags. All variants share the data folder of the
// one that has an index.
func askRecalld(name, program string, index func(*rival) [][]string, flags ...string) *rival {
	return &rival{
		name: name, sharing: "recalld", needs: []string{program}, index: index, read: readRecalld,
		ask: func(_ *rival, q question) []string {
			command := []string{program, "recall", "--kinds", "chunk", "--limit", "5", "--max-tokens", "4000", "--json"}
			return append(append(command, flags...), "--", q.text)
		},
		end: func(*rival) []string { return []string{program, "stop"} },
		env: func(r *rival) []string {
			return []string{"RECALLD_DATA=" + filepath.Join(r.scratch, "data"), "RECALLD_EMBEDDING_OLLAMA_ENABLED=off"}
		},
	}
}

// pattern is a name as a word, or any of a sentence's words.
func pattern(q question) string {
	if len(q.words) == 0 {
		return `\b` + regexp.QuoteMeta(q.text) + `\b`
	}
	return strings.Join(q.words, "|")
}

// askZoekt searches for a name, or for any of a sentence's words; zoekt ranks the results
// itself.
func askZoekt(r *rival, q question) []string {
	query := q.text
	if len(q.words) > 0 {
		query = strings.Join(q.words, " or ")
	}
	return []string{"zoekt", "-index_dir", r.scratch, query}
}

// readRecalld reads the items of a response.
func readRecalld(_ *rival, out []byte, _ question) ([]place, error) {
	var answer struct {
		Items []struct {
			Source struct {
				Path  string
				Lines [2]int
			}
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, err
	}
	var found []place
	for _, item := range answer.Items {
		found = append(found, place{filepath.FromSlash(item.Source.Path), item.Source.Lines[0], item.Source.Lines[1]})
	}
	return found, nil
}

// line is one line that a tool printed.
type line struct {
	path   string
	number int
	text   string
}

// readLines reads lines of the form path:number:text. For a tool that does not rank, lines
// are sorted by the number of the sentence's words.
func readLines(r *rival, out []byte, q question) ([]place, error) {
	var found []line
	for text := range bytes.Lines(out) {
		path, rest, ok := strings.Cut(strings.TrimRight(string(text), "\n"), ":")
		number, rest, ok2 := strings.Cut(rest, ":")
		n, err := strconv.Atoi(number)
		if !ok || !ok2 || err != nil {
			continue // "Binary file matches", and lines without a position
		}
		if filepath.IsAbs(path) {
			if path, err = filepath.Rel(r.root, path); err != nil {
				return nil, fmt.Errorf("place result: %w", err)
			}
		}
		found = append(found, line{filepath.Clean(path), n, rest})
	}
	if strings.HasPrefix(r.name, "zoekt") {
		return mostWords(found, nil), nil
	}
	return mostWords(found, q.words), nil
}
