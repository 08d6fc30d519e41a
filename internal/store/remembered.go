package store

import (
	"bytes"
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// Remembered passes to fn what people and agents have stored, kind after kind, in an order in
// which it can be stored again: projects, ids of what was forgotten, sessions, records,
// states, receipts. Left out are code and everything that is derived, and what belongs to
// this machine: folders of projects and the user's consents.
func (x *Snapshot) Remembered(ctx context.Context, fn func(memory.ArchiveKind, any) error) error {
	v := View{x.txn}
	each := func(kind memory.ArchiveKind, prefix []byte, read func(key, payload []byte) (any, error)) error {
		for value, err := range scan(v, prefix, read) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && value != nil {
				err = fn(kind, value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := each(memory.ArchivedProject, prefixProject, func(_, payload []byte) (any, error) {
		p, err := decode[memory.Project](payload)
		p.Roots, p.Folders, p.Place = nil, nil, memory.FolderRef{}
		return p, err
	}); err != nil {
		return err
	}
	if err := each(memory.ArchivedForgotten, prefixTomb, func(key, _ []byte) (any, error) {
		return string(key[len(prefixTomb):]), nil
	}); err != nil {
		return err
	}
	if err := each(memory.ArchivedSession, prefixSession, decodeAny[memory.Session]); err != nil {
		return err
	}
	if err := each(memory.ArchivedRecord, prefixRecord, decodeAny[memory.Record]); err != nil {
		return err
	}
	if err := each(memory.ArchivedStateOf, prefixState, func(key, payload []byte) (any, error) {
		at, ok := parseState(key)
		if !ok || at.Kind == memory.StateTrust {
			return nil, nil
		}
		return memory.ArchivedState{Project: at.Project, Kind: at.Kind, ID: at.ID, Value: bytes.Clone(payload)}, nil
	}); err != nil {
		return err
	}
	return each(memory.ArchivedReceipt, prefixReceipt, decodeAny[memory.Receipt])
}

func decodeAny[T any](_, payload []byte) (any, error) { return decode[T](payload) }
