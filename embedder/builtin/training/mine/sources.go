package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// source is one repository of the list.
type source struct {
	name    string // owner/name
	commit  string
	licence string // short name; several are joined by /
	parts   []scan.Part
	dataset string // the scanner of its files, if it is a data set
}

// readSources reads the list: one source a line, "owner/name commit licence what". what is
// a comma-separated list of parts of an ordinary repository, or the name of a data set's
// scanner. Blank lines and lines that begin with # are skipped.
func readSources(name string) ([]source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open list: %w", err)
	}
	defer f.Close()
	return parseSources(f)
}

func parseSources(r io.Reader) ([]source, error) {
	var list []source
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := parseSource(line)
		if err != nil {
			return nil, fmt.Errorf("parse line %d of the list: %w", n, err)
		}
		if slices.ContainsFunc(list, func(t source) bool { return t.name == s.name }) {
			return nil, fmt.Errorf("parse line %d of the list: %s is there twice", n, s.name)
		}
		list = append(list, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read list: %w", err)
	}
	return list, nil
}

func parseSource(line string) (source, error) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return source{}, fmt.Errorf("it has %d fields, not 4", len(fields))
	}
	s := source{name: fields[0], commit: fields[1], licence: fields[2]}
	if strings.Count(s.name, "/") != 1 {
		return source{}, fmt.Errorf("%q is not owner/name", s.name)
	}
	if _, ok := scan.Dataset(fields[3]); ok {
		s.dataset = fields[3]
		return s, nil
	}
	for part := range strings.SplitSeq(fields[3], ",") {
		if !slices.Contains(scan.Parts(), scan.Part(part)) {
			return source{}, fmt.Errorf("%q is neither a part of a repository nor a data set", part)
		}
		s.parts = append(s.parts, scan.Part(part))
	}
	return s, nil
}
