package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// RecordProject adds what was seen of a project to the stored one: names, remote, place,
// folders, history and, unless empty, the root. It reports whether the project is stored;
// if not, it stores nothing. It writes only changes.
func (s *Store) RecordProject(ctx context.Context, p memory.Project, root string) (stored bool, err error) {
	_, err = s.Update(ctx, func(tx *Tx) error {
		stored = false
		old, err := tx.Project(p.ID)
		if err != nil {
			if memory.CodeOf(err) == memory.CodeNotFound {
				return nil
			}
			return err
		}
		stored = true
		seen := old
		seen.Remote, seen.Place = cmp.Or(p.Remote, old.Remote), cmp.Or(p.Place, old.Place)
		seen.Folders, seen.History, seen.Apart = p.Folders, p.History, p.Apart
		for _, name := range p.Names {
			if !slices.Contains(seen.Names, name) {
				seen.Names = append(seen.Names, name)
			}
		}
		if root != "" && !slices.Contains(seen.Roots, root) {
			seen.Roots = append([]string{root}, seen.Roots...)
			seen.Roots = seen.Roots[:min(len(seen.Roots), memory.MaxRoots)]
		}
		if seen.Apart == old.Apart && slices.Equal(seen.Folders, old.Folders) && slices.Equal(seen.History, old.History) &&
			seen.Remote == old.Remote && seen.Place == old.Place && len(seen.Names) == len(old.Names) && slices.Equal(seen.Roots, old.Roots) {
			return nil
		}
		return tx.writeProject(seen)
	})
	if err != nil {
		return false, fmt.Errorf("record project: %w", err)
	}
	return stored, nil
}

// putProject writes a project. It keeps the stored roots, because the caller may have read
// the project before RecordProject changed them.
func (tx *Tx) putProject(p memory.Project) error {
	old, err := tx.Project(p.ID)
	known, _, err := existing(tx.s, old, err)
	if err != nil {
		return err
	}
	p.Roots = nil
	if known != nil {
		p.Roots = known.Roots
	}
	return tx.writeProject(p)
}

func (tx *Tx) writeProject(p memory.Project) error {
	tx.projects = true
	return tx.putValue(key(prefixProject, p.ID), p)
}
