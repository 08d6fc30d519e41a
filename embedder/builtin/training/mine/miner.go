package main

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/embedder/builtin/training/mine/clean"
	"github.com/recalld/recalld/embedder/builtin/training/mine/mirror"
	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// maxFile is the largest file that is read, in bytes: larger ones are data or generated.
// Files of data sets may be as large as git allows.
const maxFile = 1_000_000

// maxAdded and minAdded bound the number of lines in a change that its subject can
// describe.
const (
	minAdded = 2
	maxAdded = 40
)

// mined is the result of one source before duplicates of other sources are removed.
type mined struct {
	sample  *sample
	dropped map[clean.Reason]int
	// held counts the pairs dropped because of each evaluation set.
	held map[string]int
}

// mineSource reads one source.
func mineSource(ctx context.Context, o options, held *clean.Held, s source) (mined, error) {
	perKind := o.PerKind
	if s.dataset != "" {
		perKind = o.PerSource // data sets have few kinds
	}
	m := mined{newSample(perKind), map[clean.Reason]int{}, map[string]int{}}
	take := func(p scan.Pair) { m.take(held, p) }
	repository, err := mirror.Open(ctx, o.Mirrors, s.name, s.commit)
	if err != nil {
		return m, fmt.Errorf("open mirror: %w", err)
	}
	if slices.Contains(s.parts, scan.Commits) {
		err := repository.Messages(ctx, func(c mirror.Commit) {
			if !isBot(c.Author) {
				scan.CommitMessage(c.Message, take)
			}
		})
		if err != nil {
			return m, fmt.Errorf("read messages: %w", err)
		}
	}
	if slices.Contains(s.parts, scan.Changes) && o.Changes > 0 {
		if err := repository.Changes(ctx, o.Changes, func(c mirror.Commit) { change(c, take) }); err != nil {
			return m, fmt.Errorf("read changes: %w", err)
		}
	}
	files, err := repository.Files(ctx)
	if err != nil {
		return m, err
	}
	scanners := s.scanners(files)
	files = slices.DeleteFunc(files, func(f mirror.File) bool { return scanners[f.Path] == nil })
	err = repository.Read(ctx, files, func(f mirror.File, content []byte) {
		if text := string(content); !strings.Contains(text[:min(len(text), 8000)], "\x00") || s.dataset != "" {
			scanners[f.Path](strings.ReplaceAll(text, "\r\n", "\n"), take)
		}
	})
	if err != nil {
		return m, fmt.Errorf("read files: %w", err)
	}
	return m, nil
}

// scanners returns the scanner of each file that is worth reading.
func (s source) scanners(files []mirror.File) map[string]func(string, scan.Emit) {
	chosen := map[string]func(string, scan.Emit){}
	for _, f := range files {
		if s.dataset != "" {
			set, _ := scan.Dataset(s.dataset)
			if set.Has(f.Path) {
				chosen[f.Path] = set.Scan
			}
			continue
		}
		scanner, part, ok := scan.File(f.Path)
		if ok && slices.Contains(s.parts, part) && f.Size <= maxFile && !isForeign(f.Path) {
			chosen[f.Path] = scanner
		}
	}
	return chosen
}

var foreignPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(vendor|third_party|third-party|node_modules|deps|dist|generated|fixtures|snapshots?|__snapshots__|locales?|i18n|translations?|versioned_docs|testdata|autogen|bundled|external)/` +
		`|\.min\.|_pb2?\.|\.pb\.|zz_generated|\.gen\.|(^|/)(licen[sc]e|copying|code_of_conduct|contributors|maintainers|authors)[^/]*$` +
		`|(^|[/_.-])(zh|ja|ko|ru|fr|de|es|pt|it|pl|tr|vi|uk|fa|id|cn|jp|kr|zh-cn|zh_cn|zh-tw|pt-br|pt_br|zh-hans)([/_.-])`)
})

// isForeign says whether a path is vendored, generated, a licence or a translation.
func isForeign(name string) bool { return foreignPath().MatchString(path.Clean(name)) }

// isBot says whether a program wrote a commit.
func isBot(author string) bool {
	lower := strings.ToLower(author)
	return strings.Contains(lower, "bot") && !strings.Contains(lower, "abbot") && !strings.Contains(lower, "bott") || strings.Contains(lower, "automation") || strings.Contains(lower, "github-actions")
}

// change makes a pair of a commit's subject and what it adds.
func change(c mirror.Commit, emit scan.Emit) {
	if isBot(c.Author) {
		return
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	subject = scan.CommitSubject(subject)
	lines := strings.Count(c.Added, "\n")
	if len(strings.Fields(subject)) >= 3 && lines >= minAdded && lines <= maxAdded {
		emit(scan.Pair{Kind: scan.Change, A: subject, B: c.Added})
	}
}

// take keeps a pair if it is good and in no evaluation set.
func (m *mined) take(held *clean.Held, p scan.Pair) {
	p.A, p.B = clean.Text(strings.Join(strings.Fields(p.A), " ")), clean.Text(p.B)
	if reason, drop := clean.Check(p.A, p.B); drop {
		m.dropped[reason]++
		return
	}
	if !m.sample.wants(p) {
		return
	}
	for _, text := range []string{p.A, p.B} {
		if set, in := held.In(text); in {
			m.dropped[clean.Contaminated]++
			m.held[set]++
			return
		}
	}
	m.sample.add(p)
}
