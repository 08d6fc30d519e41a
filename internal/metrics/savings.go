package metrics

import (
	"cmp"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// maxSavings bounds the projects whose savings status lists.
const maxSavings = 20

// Savings counts the tokens that answers have saved against reading the lessons' log. The
// zero value is ready, and safe for concurrent use.
type Savings struct {
	mu       sync.Mutex
	projects map[string]memory.Saving // by id; guarded by mu
}

// Answer counts an answer that holds lessons of its project, whose log takes so many
// bytes: the tokens of the log minus the tokens of the answer.
func (s *Savings) Answer(a *memory.RecallResponse, logSize int64) {
	own := func(i memory.Item) bool {
		return i.Kind == memory.Lesson && i.Project == a.Project && i.Strength != memory.Maybe
	}
	if !slices.ContainsFunc(a.Items, own) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.projects == nil {
		s.projects = map[string]memory.Saving{}
	}
	p := s.projects[a.Project]
	p.Project, p.ProjectName = a.Project, a.ProjectName
	p.Answers++
	p.Tokens += max(0, int64(render.TokensOf(int(logSize))-a.Tokens))
	s.projects[a.Project] = p
}

// State returns the sum, and the projects with the most; nil before the first answer.
func (s *Savings) State() *memory.Savings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.projects) == 0 {
		return nil
	}
	var all memory.Savings
	for _, p := range s.projects {
		all.Answers += p.Answers
		all.Tokens += p.Tokens
		all.Projects = append(all.Projects, p)
	}
	slices.SortFunc(all.Projects, func(a, b memory.Saving) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Project, b.Project))
	})
	all.Projects = all.Projects[:min(len(all.Projects), maxSavings)]
	return &all
}
