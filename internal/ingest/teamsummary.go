package ingest

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// TeamSummaryID names a session for a team. A member shares one summary of a session: a later
// one replaces it.
func TeamSummaryID(teamProject, session string) string {
	return memory.RecordID("y", teamProject, session)
}

// summaryIDPattern is what TeamSummaryID makes: the rows are written by others.
var summaryIDPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^y-[0-9a-f]{16}$`) })

// summaryID is the id here of a member's summary with this TeamSummaryID.
func summaryID(project, member, id string) string {
	return memory.RecordID("y", project, member, id)
}

// SharedSummary is the session summary of a member: a text, or nil for the one with this
// TeamSummaryID that the member took back.
type SharedSummary struct {
	Member, ID string
	Summary    *memory.TeamSummary
}

// TakeSummaries takes over the session summaries that members of a team share of a project,
// and removes those that they took back. What was forgotten here stays out. Problems are the
// summaries that were skipped.
func (s *Service) TakeSummaries(ctx context.Context, project memory.Project, list []SharedSummary) (Imported, error) {
	var out Imported
	// A summary must not be forgotten between the look for its tombstone and the commit.
	s.forgetting.Lock()
	defer s.forgetting.Unlock()
	size := func(x SharedSummary) int {
		if x.Summary == nil {
			return 0
		}
		return len(x.Summary.Text)
	}
	taken := 0
	for _, part := range bySize(list, size) {
		b := memory.Batch{Action: "take session summaries of the team", Detail: map[string]any{"project": project.ID, "summaries": len(part)}}
		var texts []memory.Document
		for i, x := range part {
			id := summaryID(project.ID, x.Member, x.ID)
			if x.Summary == nil {
				b.DropRecords = append(b.DropRecords, id)
				continue
			}
			one, err := s.summaryRecord(x, project.ID)
			if err != nil {
				out.Problems = append(out.Problems, Problem{taken + i, err})
				continue
			}
			left, err := s.opts.Records.Tombstoned(id)
			if err != nil {
				return out, fmt.Errorf("take summaries: %w", err)
			}
			if left {
				out.Forgotten++
				continue
			}
			old, known, err := find(s.opts.Records, id)
			if err != nil {
				return out, fmt.Errorf("take summaries: %w", err)
			}
			if known && old.Doc == one.Doc && old.Created.Equal(one.Created) {
				out.Known++
				continue
			}
			b.Records, texts = append(b.Records, one), append(texts, memory.Document{ID: one.Doc, Text: one.Text})
		}
		taken += len(part)
		if len(b.Records)+len(b.DropRecords) == 0 {
			continue
		}
		if err := s.addProject(&b, project); err != nil {
			return out, err
		}
		if _, err := s.commit(ctx, b, texts); err != nil {
			return out, fmt.Errorf("take summaries: %w", err)
		}
		out.Added += len(b.Records)
	}
	return out, nil
}

// summaryRecord checks and cleans a summary as if it were read from a file. Its session is none
// of this machine.
func (s *Service) summaryRecord(x SharedSummary, project string) (memory.Record, error) {
	if !summaryIDPattern().MatchString(x.ID) {
		return memory.Record{}, memory.Invalid("id", "y- and 16 hexadecimal digits", "it is %s", memory.Quote(x.ID))
	}
	if n := utf8.RuneCountInString(x.Summary.Text); n > memory.MaxTeamSummary {
		return memory.Record{}, memory.Invalid("summary", fmt.Sprintf("at most %d characters", memory.MaxTeamSummary), "it has %d", n)
	}
	text, _ := s.Clean(x.Summary.Text, memory.MaxTeamSummary)
	if text == "" {
		return memory.Record{}, memory.Invalid("summary", "", "it says nothing")
	}
	return memory.Record{
		ID: summaryID(project, x.Member, x.ID), Kind: memory.SessionSummary, Project: project,
		Created: notAfter(x.Summary.At, s.now()), Provenance: memory.Provenance{Origin: memory.OriginTeam, Agent: x.Member, Session: x.ID},
		Doc: memory.DocumentID(text), Text: text,
	}, nil
}
