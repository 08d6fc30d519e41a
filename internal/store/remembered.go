package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Remembered passes to fn what people and agents have stored, kind after kind, in an order in
// which it can be stored again: projects, ids of what was forgotten, sessions, records,
// states, receipts. Left out are code and everything that is derived, and what belongs to
// this machine: folders of projects and the user's consents.
func (x *Snapshot) Remembered(ctx context.Context, fn func(memory.ArchiveKind, any) error) error {
	v := View{x.txn}
	each := func(kind memory.ArchiveKind, prefix []byte, read func(rest string, payload []byte) (any, error)) error {
		for value, err := range scan(v, prefix, func(key, payload []byte) (any, error) { return read(string(key[len(prefix):]), payload) }) {
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
	if err := each(memory.ArchivedProject, prefixProject, func(_ string, payload []byte) (any, error) {
		p, err := decode[memory.Project](payload)
		p.Roots, p.Folders, p.Place = nil, nil, memory.FolderRef{}
		return p, err
	}); err != nil {
		return err
	}
	if err := each(memory.ArchivedForgotten, prefixTomb, func(id string, _ []byte) (any, error) { return id, nil }); err != nil {
		return err
	}
	if err := each(memory.ArchivedSession, prefixSession, func(_ string, payload []byte) (any, error) { return decode[memory.Session](payload) }); err != nil {
		return err
	}
	if err := each(memory.ArchivedRecord, prefixRecord, func(_ string, payload []byte) (any, error) { return decode[memory.Record](payload) }); err != nil {
		return err
	}
	if err := each(memory.ArchivedStateOf, prefixState, func(rest string, payload []byte) (any, error) {
		parts := strings.Split(rest, "\x00")
		if len(parts) != 3 || parts[1] == memory.StateTrust {
			return nil, nil
		}
		return memory.ArchivedState{Project: parts[0], Kind: parts[1], ID: parts[2], Value: json.RawMessage(append([]byte{}, payload...))}, nil
	}); err != nil {
		return err
	}
	return each(memory.ArchivedReceipt, prefixReceipt, func(_ string, payload []byte) (any, error) { return decode[memory.Receipt](payload) })
}
