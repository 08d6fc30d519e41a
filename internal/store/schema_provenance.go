package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// recordsWithProvenance leads to version 6: records have a provenance.
//
// Old records that no file can have brought get OriginTold: lessons that the audit log has
// as remembered, lessons of a session, steps of sessions that were started through the
// daemon, and entries that a host registered. All others came from a file. Whether a
// command named that file, or it was found in a repository, was not stored. They get
// OriginFollowed, the lower trust: they stay in their own project, and a lesson's rate
// moves to its history, because the file may have claimed it. Importing the file again
// raises the trust. An older program would show followed records in every project.
func recordsWithProvenance(db *badger.DB) error {
	remembered, sessions, err := reportedBefore(db)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	put := func(k []byte, v any) error {
		payload, err := encode(v)
		if err != nil {
			return err
		}
		return batch.Set(k, seal(k, payload))
	}
	err = db.View(func(txn *badger.Txn) error {
		v := View{txn}
		for r, err := range v.Records() {
			if err != nil || r.Provenance.Origin != "" { // Check reports damage
				continue
			}
			if !addProvenance(&r, remembered, sessions, now) {
				continue
			}
			if err := put(key(prefixRecord, r.ID), r); err != nil {
				return err
			}
		}
		for x, err := range v.Sessions("") {
			if err != nil || x.Provenance.Origin != "" || !x.Imported && !x.Bare {
				continue
			}
			x.Provenance.Origin = memory.OriginFollowed
			if err := put(keySession(x.Key()), x); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = batch.Flush()
	}
	if err != nil {
		return fmt.Errorf("add provenance: %w", err)
	}
	return nil
}

// reportedBefore returns the ids of the lessons that the audit log has as remembered, and
// the sessions that were started through the daemon.
func reportedBefore(db *badger.DB) (lessons map[string]bool, sessions map[memory.SessionKey]bool, err error) {
	lessons, sessions = map[string]bool{}, map[memory.SessionKey]bool{}
	err = db.View(func(txn *badger.Txn) error {
		v := View{txn}
		for lines, err := range v.Audit() {
			if err != nil {
				continue
			}
			for _, line := range lines {
				detail, _ := line.Detail.(map[string]any)
				if id, ok := detail["id"].(string); ok && line.Action == "remember" {
					lessons[id] = true
				}
			}
		}
		for x, err := range v.Sessions("") {
			if err == nil && !x.Imported && !x.Bare {
				sessions[x.Key()] = true
			}
		}
		return nil
	})
	return lessons, sessions, err
}

// addProvenance sets the provenance of a record, and reports whether it changed the record.
func addProvenance(r *memory.Record, remembered map[string]bool, sessions map[memory.SessionKey]bool, now time.Time) bool {
	const file = "file:" // as memory.FilePrefix
	p := &r.Provenance
	switch {
	case r.Event != nil && (remembered[r.ID] || r.Session != ""):
		p.Origin, p.Agent, p.Session = memory.OriginTold, r.Event.AgentID, r.Session
	case r.Event != nil:
		p.Origin = memory.OriginFollowed
		event := *r.Event
		if len(event.Observations) == 0 {
			event.Observations = []memory.Observation{{At: r.Created, AgentID: event.AgentID, Rate: event.Rate}}
		}
		event.Rate, event.RateAt = nil, time.Time{}
		if event.Withdrawn != nil {
			w := *event.Withdrawn
			w.Followed = !remembered[w.By]
			event.Withdrawn = &w
		}
		r.Event = &event
	case r.Step != nil && sessions[memory.SessionKey{Project: r.Project, ID: r.Session}]:
		p.Origin, p.Session = memory.OriginTold, r.Session
	case r.Step != nil:
		p.Origin = memory.OriginFollowed
	case r.Entry != nil && strings.HasPrefix(r.Entry.Source, file):
		p.Origin, p.Path = memory.OriginFollowed, strings.TrimPrefix(r.Entry.Source, file)
	case r.Entry != nil:
		p.Origin, p.Agent = memory.OriginTold, r.Entry.Source
	default:
		return false
	}
	if p.Followed() && r.Created.After(now) {
		r.Created = now
	}
	return true
}
