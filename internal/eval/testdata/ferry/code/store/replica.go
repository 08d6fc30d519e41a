package store

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

// Pool reads from replicas and writes to the primary.
type Pool struct {
	primary  *sql.DB
	replicas []*sql.DB
	next     atomic.Uint32
	wrote    func(ctx context.Context) time.Time
}

// reader picks a replica in turn. Who has just written reads from the primary for two
// seconds, otherwise their own change might be missing.
func (p *Pool) reader(ctx context.Context, now time.Time) *sql.DB {
	if len(p.replicas) == 0 || now.Sub(p.wrote(ctx)) < 2*time.Second {
		return p.primary
	}
	return p.replicas[int(p.next.Add(1))%len(p.replicas)]
}

// serializable runs a transaction again when PostgreSQL found a conflict (code 40001).
func (p *Pool) serializable(ctx context.Context, fn func(*sql.Tx) error, conflict func(error) bool) error {
	for tries := 0; ; tries++ {
		tx, err := p.primary.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		if err = fn(tx); err == nil {
			err = tx.Commit()
		} else {
			_ = tx.Rollback()
		}
		if err == nil || tries == 3 || !conflict(err) {
			return err
		}
	}
}
