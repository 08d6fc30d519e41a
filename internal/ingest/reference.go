package ingest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// PutReferences stores texts whole under their names, as references of a project. They
// replace earlier ones of the same names. They are not merged or redacted, because they
// must be returned unchanged. A text longer than memory.MaxReferenceText is stored in parts.
func (s *Service) PutReferences(ctx context.Context, project memory.Project, docs []memory.ReferenceDoc) error {
	for _, part := range bySize(lastOfName(docs), func(d memory.ReferenceDoc) int { return 2 * len(d.Text) }) {
		b := memory.Batch{Projects: []memory.Project{project}, Action: "put references",
			Detail: map[string]any{"project": project.ID, "references": len(part)}}
		var texts []memory.Document
		parts := make(map[string]int, len(part)) // by name
		for _, d := range part {
			records, err := s.referenceRecords(project, d)
			if err != nil {
				return err
			}
			parts[d.Name] = len(records)
			b.DropRecords = append(b.DropRecords, ReferenceID(project, d.Name, len(records)))
			for _, r := range records {
				b.Records = append(b.Records, r)
				texts = append(texts, memory.Document{ID: r.Doc, Text: r.Text})
			}
		}
		c, err := s.commit(ctx, b, texts)
		if err == nil {
			err = s.dropFurtherParts(ctx, project, parts, c.Dropped)
		}
		if err != nil {
			return fmt.Errorf("put references: %w", err)
		}
	}
	return nil
}

// lastOfName returns the last document of each name: a batch may write a record only once.
func lastOfName(docs []memory.ReferenceDoc) []memory.ReferenceDoc {
	place := make(map[string]int, len(docs))
	var kept []memory.ReferenceDoc
	for _, d := range docs {
		if i, ok := place[d.Name]; ok {
			kept[i] = d
			continue
		}
		place[d.Name] = len(kept)
		kept = append(kept, d)
	}
	return kept
}

// dropFurtherParts removes the remaining parts of earlier, longer references. Parts are
// numbered without a gap: after each removed part there may be another.
func (s *Service) dropFurtherParts(ctx context.Context, project memory.Project, parts map[string]int, dropped int) error {
	for further := 1; dropped > 0; further++ {
		var b memory.Batch
		for name, n := range parts {
			b.DropRecords = append(b.DropRecords, ReferenceID(project, name, n+further))
		}
		c, err := s.opts.Committer.Commit(ctx, b)
		if err != nil {
			return err
		}
		dropped = c.Dropped
	}
	return nil
}

// ReferenceID is the id of a part of a reference, counted from 0.
func ReferenceID(project memory.Project, name string, part int) string {
	return memory.RecordID("r", project.ID, name, strconv.Itoa(part))
}

func (s *Service) referenceRecords(project memory.Project, d memory.ReferenceDoc) ([]memory.Record, error) {
	if err := memory.Text("name", d.Name, 1, memory.MaxNameText); err != nil {
		return nil, err
	}
	created := d.Created
	if created.IsZero() {
		created = s.opts.Clock().UTC()
	}
	text := d.Text
	if d.Title != "" {
		text = d.Title + "\n" + d.Text
	}
	var records []memory.Record
	for i, part := range splitText(strings.ToValidUTF8(text, "\uFFFD"), memory.MaxReferenceText) {
		records = append(records, memory.Record{
			ID:   ReferenceID(project, d.Name, i),
			Kind: memory.Reference, Project: project.ID, Created: created,
			Doc: memory.DocumentID(part), Text: part,
			Provenance: memory.Provenance{Origin: memory.OriginImported},
			Reference:  &memory.RefContent{Name: d.Name, Title: d.Title, Part: i},
		})
	}
	return records, nil
}

// splitText cuts a text into parts of at most limit bytes, at the last blank
// line, line end or space before the limit, and never inside a rune.
func splitText(text string, limit int) []string {
	var parts []string
	for len(text) > limit {
		cut := limit
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		for _, sep := range []string{"\n\n", "\n", " "} {
			if i := strings.LastIndex(text[:cut], sep); i > limit/2 {
				cut = i + len(sep)
				break
			}
		}
		parts = append(parts, text[:cut])
		text = text[cut:]
	}
	return append(parts, text)
}
