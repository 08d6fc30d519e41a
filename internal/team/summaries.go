package team

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
)

// Compacted notes that a session of a project has another summary.
func (s *Service) Compacted(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Summaries && s.member != nil && s.member.find(project) != nil {
		s.dirty[project] = true
		signal(s.wake)
	}
}

// summaries returns the session summaries of a project by session, without secrets and places.
func (s *Service) summaries(p project) (map[string]*memory.TeamSummary, error) {
	sessions, err := s.opts.Store.ProjectSessions(p.ID)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	folders, err := s.folders(p.ID)
	if err != nil {
		return nil, err
	}
	all := map[string]*memory.TeamSummary{}
	for _, x := range sessions {
		raw, err := s.opts.Store.State(memory.StateKey{Project: p.ID, Kind: memory.StateSession, ID: x.ID})
		if memory.CodeOf(err) == memory.CodeNotFound {
			continue
		}
		var state struct {
			Summary string    `json:"summary"`
			At      time.Time `json:"compactedAt"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &state)
		}
		if err != nil { // one damaged state keeps nothing else
			s.opts.Logger.Warn("a session summary cannot be read", "part", "team", "session", x.ID, "error", err)
			continue
		}
		if text := s.portable(state.Summary, folders); text != "" {
			all[x.ID] = &memory.TeamSummary{Text: text, At: state.At.UTC()}
		}
	}
	return all, nil
}

// dropPrivate removes the summaries of sessions that private lessons tell of, that are marked
// as private, or that were forgotten. It looks at the marks last: whoever reads the summaries
// before the lessons, and these before the marks, misses no lesson that is forgotten meanwhile.
func (s *Service) dropPrivate(p project, all map[string]*memory.TeamSummary, private map[string]bool) error {
	sessions, err := s.opts.Store.ProjectSessions(p.ID)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	open := map[string]bool{}
	for _, x := range sessions {
		open[x.ID] = !x.Private && !private[x.ID]
	}
	maps.DeleteFunc(all, func(id string, _ *memory.TeamSummary) bool { return !open[id] })
	return nil
}

// folders are the folders of a project on this machine, the longest first: one may lie in
// another.
func (s *Service) folders(project string) ([]string, error) {
	known, err := s.opts.Store.Projects()
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	sandboxes, err := s.opts.Store.ProjectSandboxes(project)
	if err != nil {
		return nil, fmt.Errorf("list folders: %w", err)
	}
	var all []string
	for _, p := range known {
		if p.ID == project {
			all = append(all, p.Roots...)
		}
	}
	for _, x := range sandboxes {
		all = append(all, x.Root)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all, nil
}

// portable returns a text without secrets and without the places of this machine: paths in
// the project's folders are relative to them, those in the user's home begin with "~". It is
// cut to memory.MaxTeamSummary.
func (s *Service) portable(text string, folders []string) string {
	text, _ = s.opts.Redact(text)
	for _, dir := range folders {
		text = replacePath(text, dir, "")
	}
	text = strings.TrimSpace(replacePath(text, s.opts.Home, "~"))
	if utf8.RuneCountInString(text) <= memory.MaxTeamSummary {
		return text
	}
	const cut = "…"
	runes := []rune(text)[:memory.MaxTeamSummary-len([]rune(cut))]
	return strings.TrimSpace(string(runes)) + cut
}

// replacePath replaces a folder where it is written as a path of its own or begins one, with
// either slash, more than one of them, and in any case of letters. With "" for it, paths become
// relative to the folder, and the folder itself "./".
func replacePath(text, dir, with string) string {
	dir = strings.ToValidUTF8(filepath.Clean(dir), "\uFFFD")
	if len(dir) < len("/x/") { // no folder, or the root
		return text
	}
	names := strings.FieldsFunc(dir, isSlash)
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	pattern := strings.Join(names, `[/\\]+`)
	if isSlash(rune(dir[0])) {
		pattern = `[/\\]` + pattern
	}
	var b strings.Builder
	from := 0
	for _, at := range regexp.MustCompile(`(?i)`+pattern).FindAllStringIndex(text, -1) {
		start, end := at[0], at[1]
		if inName(text[:start]) || nameGoesOn(text[end:]) {
			continue
		}
		b.WriteString(text[from:start] + with)
		if from = end; with != "" {
			continue
		}
		switch rest := strings.TrimLeftFunc(text[end:], isSlash); {
		case len(rest) == len(text[end:]):
			b.WriteString("./")
		case goesOn(rest):
			from = len(text) - len(rest)
		default:
			b.WriteString(".")
		}
	}
	return b.String() + text[from:]
}

func isSlash(c rune) bool { return c == '/' || c == '\\' }

// beforePath is the end of a text that a path may follow although it is a letter: of an option,
// as in -I/usr/include, or of an escaped line break or tab.
var beforePath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^\pL\pN_-])-\pL$|\\[nrt]$`) })

// inName says that what follows a text belongs to a name in it.
func inName(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return named(last) && !isUnspaced(last) && !beforePath().MatchString(text)
}

// named says that a name in a path may hold a character.
func named(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-'
}

// nameGoesOn says that the name before a text goes on in it.
func nameGoesOn(text string) bool {
	next, _ := utf8.DecodeRuneInString(text)
	return !isUnspaced(next) && goesOn(text)
}

// isUnspaced says that a letter is of a script that writes words without spaces, or particles
// without one after a word: a path may stand in such a sentence without any space. It is taken
// for one even where such a letter belongs to another name: better a garbled path than a leak.
func isUnspaced(c rune) bool {
	return c == 'ー' || unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// goesOn says that a text goes on with a name. A full stop alone ends a sentence.
func goesOn(text string) bool {
	c, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, "."))
	return named(c)
}

// takeSummaries stores the session summaries that others share, or took back.
func (s *Service) takeSummaries(ctx context.Context, local memory.Project, list []ingest.SharedSummary) error {
	if len(list) == 0 {
		return nil
	}
	done, err := s.opts.Taker.TakeSummaries(ctx, local, list)
	for _, problem := range done.Problems {
		s.opts.Logger.Warn("a session summary was skipped", "part", "team", "project", local.ID, "member", list[problem.Index].Member, "error", problem.Err)
	}
	return err
}
