package team

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
)

// rowsAtOnce bounds the rows of one statement.
const rowsAtOnce = 500

// The kinds of rows.
const (
	kindLesson  = "lesson"
	kindSummary = "summary"
)

// row is a share of the user as the server gets it.
type row struct {
	kind, id, body string
	hash           []byte
}

// newRow returns the row of what a share says.
func newRow(kind, id string, said any) (row, error) {
	text, err := json.Marshal(said)
	if err != nil {
		return row{}, fmt.Errorf("write share: %w", err)
	}
	sum := sha256.Sum256(text)
	return row{kind, id, string(text), sum[:16]}, nil
}

// projects returns the team projects that the member may see; "*" stands for all.
func (c *connection) projects(ctx context.Context) ([]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := c.pool.Query(ctx, `select project from recalld.projects() as project order by 1`)
	if err != nil {
		return nil, fmt.Errorf("list team projects: %w", serverError(err))
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list team projects: %w", serverError(err))
	}
	return list, nil
}

// clock returns how far the server's clock is ahead of this machine's.
func (c *connection) clock(ctx context.Context) (time.Duration, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var at time.Time
	begin := time.Now()
	if err := c.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&at); err != nil {
		return 0, fmt.Errorf("read the server's clock: %w", serverError(err))
	}
	return at.Sub(begin.Add(time.Since(begin) / 2)), nil
}

// instance names the server's history: another one has other transaction ids, or lacks the
// last transactions of this one. It changes when a standby is promoted and when the database
// is copied to another server.
func (c *connection) instance(ctx context.Context) (string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var name string
	// The name of a log file begins with the timeline, which a promotion raises.
	err := c.pool.QueryRow(ctx, `select system_identifier || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) from pg_control_system()`).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("identify the server: %w", serverError(err))
	}
	return name, nil
}

// own returns the hashes of the member's own rows of a project, by id. Rows that were taken
// back are not among them.
func (c *connection) own(ctx context.Context, project string) (map[string]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := c.pool.Query(ctx, `select id, hash from recalld.lesson where project = $1 and member = session_user and body is not null`, project)
	if err != nil {
		return nil, fmt.Errorf("read own shares: %w", serverError(err))
	}
	own := map[string]string{}
	var id string
	var hash []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &hash}, func() error {
		own[id] = string(hash)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read own shares: %w", serverError(err))
	}
	return own, nil
}

// send takes the member's shares with the ids gone back and writes others, rowsAtOnce with a
// statement. It takes back first: that may be done without access to the project, the rest not.
func (c *connection) send(ctx context.Context, project string, gone []string, said []row) error {
	for part := range slices.Chunk(gone, rowsAtOnce) {
		if err := c.takeBack(ctx, project, part); err != nil {
			return fmt.Errorf("write shares: %w", serverError(err))
		}
	}
	for part := range slices.Chunk(said, rowsAtOnce) {
		if err := c.put(ctx, project, part); err != nil {
			return fmt.Errorf("write shares: %w", serverError(err))
		}
	}
	return nil
}

// put writes rows. One that says nothing new is left as it is.
func (c *connection) put(ctx context.Context, project string, rows []row) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	kinds, ids, bodies, hashes := make([]string, len(rows)), make([]string, len(rows)), make([]string, len(rows)), make([][]byte, len(rows))
	for i, r := range rows {
		kinds[i], ids[i], bodies[i], hashes[i] = r.kind, r.id, r.body, r.hash
	}
	_, err := c.pool.Exec(ctx, `
		with written as (
			insert into recalld.lesson as old (project, kind, id, body, hash)
			select $1, x.kind, x.id, x.body::jsonb, x.hash from unnest($2::text[], $3::text[], $4::text[], $5::bytea[]) as x (kind, id, body, hash)
			on conflict (project, id, member) do update set body = excluded.body, hash = excluded.hash
			where old.hash <> excluded.hash or old.body is null
			returning 1)
		select pg_notify('recalld', $6) from (select count(*) as n from written) as w where w.n > 0`, project, kinds, ids, bodies, hashes, notified(project))
	return err
}

// takeBack takes the bodies out of rows, which stay and keep their kinds. It inserts nothing, which
// the server would hold against the member's access to the project, also where a row is there.
func (c *connection) takeBack(ctx context.Context, project string, ids []string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := c.pool.Exec(ctx, `
		with gone as (
			select id from recalld.lesson
			where project = $1 and member = session_user and id = any($2::text[]) and body is not null order by id for update),
		written as (
			update recalld.lesson as old set body = null, hash = '' from gone
			where old.project = $1 and old.member = session_user and old.id = gone.id
			returning 1)
		select pg_notify('recalld', $3) from (select count(*) as n from written) as w where w.n > 0`, project, ids, notified(project))
	return err
}

// since calls fn with the shares that other members changed in the transactions from cursor
// on, and returns the cursor for the next call. A share may come again. One whose
// transaction is not over yet comes with a later call.
//
// No transaction spans the pages, so none is open while fn works: all before next have ended,
// and a share that changes meanwhile comes with the next call.
func (c *connection) since(ctx context.Context, project string, cursor uint64, fn func([]ingest.Shared, []ingest.SharedSummary) error) (uint64, error) {
	var next uint64
	var err error
	brief, cancel := bounded(ctx)
	defer cancel()
	if err := c.pool.QueryRow(brief, `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).Scan(&next); err != nil {
		return cursor, fmt.Errorf("read shares: %w", serverError(err))
	}
	p := page{last: place{xid: cursor}}
	for {
		if p, err = c.page(ctx, project, next, p.last); err != nil {
			return cursor, fmt.Errorf("read shares: %w", serverError(err))
		}
		if len(p.lessons)+len(p.summaries) == 0 {
			return next, nil
		}
		if err := fn(p.lessons, p.summaries); err != nil {
			return cursor, err
		}
	}
}

// place is where a share stands in the order of transactions.
type place struct {
	xid        uint64
	id, member string
}

// page is some shares, and the place of the last of them.
type page struct {
	lessons   []ingest.Shared
	summaries []ingest.SharedSummary
	last      place
}

// page returns the shares of transactions before next that follow one.
func (c *connection) page(ctx context.Context, project string, next uint64, after place) (p page, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := c.pool.Query(ctx, `
		select kind, id, member::text, body, xid::text::bigint from recalld.lesson
		where project = $1 and member <> session_user and xid < $2::text::xid8
		and (xid, id, member) > ($3::text::xid8, $4, $5::text::name) order by xid, id, member limit $6`,
		project, fmt.Sprint(next), fmt.Sprint(after.xid), after.id, after.member, rowsAtOnce)
	if err != nil {
		return page{}, err
	}
	var kind string
	var body []byte
	at := &p.last
	_, err = pgx.ForEachRow(rows, []any{&kind, &at.id, &at.member, &body, &at.xid}, func() error {
		if kind == kindSummary {
			p.summaries = append(p.summaries, ingest.SharedSummary{Member: at.member, ID: at.id, Summary: readBody[memory.TeamSummary](body)})
		} else {
			p.lessons = append(p.lessons, ingest.Shared{Member: at.member, ID: at.id, Lesson: readBody[memory.TeamLesson](body)})
		}
		return nil
	})
	return p, err
}

// readBody reads a share, nil for one that was taken back. One that cannot be read becomes an
// empty one: that is refused by itself, and the others are taken.
func readBody[T any](text []byte) *T {
	if text == nil {
		return nil
	}
	said := new(T)
	if json.Unmarshal(text, said) != nil {
		return new(T)
	}
	return said
}

// notified is what a notification says of a project. Every member may listen, and only those
// who know a project's name can tell it from another.
func notified(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:16])
}

// wait returns when a member has written to one of the projects, when the operator changed
// something, or when ctx ends.
func (c *connection) wait(ctx context.Context, projects []string) error {
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("listen to team: %w", serverError(err))
	}
	defer conn.Release()
	for {
		n, err := conn.Conn().WaitForNotification(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("listen to team: %w", serverError(err))
		case n.Payload == "" || slices.ContainsFunc(projects, func(p string) bool { return notified(p) == n.Payload }):
			// What came meanwhile is answered by the same exchange.
			over, cancel := context.WithCancel(ctx)
			cancel()
			for err == nil {
				_, err = conn.Conn().WaitForNotification(over)
			}
			return nil
		}
	}
}
