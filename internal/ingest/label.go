package ingest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// LabelRule gives a label to the steps that it matches: the tool matches a pattern, the
// target contains the word, and the step failed. An empty condition always holds.
type LabelRule struct {
	Label string
	// Tools are patterns of path.Match, case ignored.
	Tools []string
	// Target is a word that the target holds, case ignored.
	Target string
	Failed bool
}

// NewLabels returns a function that derives a step's labels: the labels of all matching
// rules, each once, in the rules' order. A tool's name is tried whole and without the server
// prefix of a client ("mcp__browser__mm_click", "browser:mm_click"). The error of a bad
// pattern is path.ErrBadPattern.
func NewLabels(rules []LabelRule) (func(tool, target string, failed bool) []string, error) {
	rules = slices.Clone(rules)
	for i, r := range rules {
		rules[i].Target = strings.ToLower(r.Target)
		rules[i].Tools = make([]string, len(r.Tools))
		for j, pattern := range r.Tools {
			rules[i].Tools[j] = strings.ToLower(pattern)
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("read label rule %q: pattern %q: %w", r.Label, pattern, err)
			}
		}
	}
	return func(tool, target string, failed bool) []string {
		tool, target = strings.ToLower(tool), strings.ToLower(target)
		names := []string{tool, withoutServer(tool)}
		var labels []string
		for _, r := range rules {
			if r.fits(names, target, failed) && !slices.Contains(labels, r.Label) {
				labels = append(labels, r.Label)
			}
		}
		return labels
	}, nil
}

// fits says whether the rule, in lower case, fits a step.
func (r LabelRule) fits(names []string, target string, failed bool) bool {
	if r.Failed && !failed || !strings.Contains(target, r.Target) {
		return false
	}
	return len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, _ := path.Match(pattern, name) // checked when the rules were read
			return ok
		})
	})
}

// withoutServer takes the server's name off a tool's.
func withoutServer(tool string) string {
	for _, sep := range []string{"__", ":", "/"} {
		if i := strings.LastIndex(tool, sep); i >= 0 && i+len(sep) < len(tool) {
			tool = tool[i+len(sep):]
		}
	}
	return tool
}
