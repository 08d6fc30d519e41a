// Package team shares lessons among the members of a team through a PostgreSQL server.
//
// Every member keeps a whole copy of the team's lessons in its own store: the server is
// asked in the background, and never by a recall. So an answer has the same ranking,
// relevance and speed whether or not the server can be reached, and a lesson of a colleague
// is found without a network.
//
// Vocabulary. A member is a login role of the server. A team project is named by the
// normalised address of its repository, so that the clones of all members meet in it. A
// share is what one member says of one lesson: its text, how often it worked for that
// member, and whether the member withdrew it. The server has one row for each share, which
// only its member can write (row-level security).
//
// Nothing is queued. What is still to be sent follows from comparing the store with the
// member's own rows, so a share is not lost by a crash here or by a failover there: the
// next comparison sends it again. What is new on the server is found by transaction ids.
package team

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of the traffic with a server.
const (
	dialTimeout = 10 * time.Second
	// statementTimeout is the server's own bound, callTimeout ours for a server that has
	// vanished without a word.
	statementTimeout = 30 * time.Second
	callTimeout      = statementTimeout + dialTimeout
	maxConnections   = 2
	// maxBody bounds a share in bytes, as the schema does.
	maxBody = 256 << 10
	// rowsAtOnce bounds the rows of one statement.
	rowsAtOnce = 500
)

// Row is a share on the server.
type Row struct {
	Project, ID, Member string
	// Body is nil once the member took the lesson back.
	Body *memory.TeamLesson
	hash []byte
}

// NewRow returns the row of a share; a nil body takes it back.
func NewRow(project, id string, body *memory.TeamLesson) (Row, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return Row{}, fmt.Errorf("write share: %w", err)
	}
	if len(text) > maxBody {
		return Row{}, memory.Invalid("lesson", "at most 256 KiB", "lesson %s has %d bytes with its tags", id, len(text))
	}
	sum := sha256.Sum256(text)
	return Row{Project: project, ID: id, Body: body, hash: sum[:16]}, nil
}

// Server is a connection to a team's server. It is safe for concurrent use.
type Server struct {
	pool   *pgxpool.Pool
	member string
}

// Settings reads a connection string: an address (postgres://…) or keywords, with several
// hosts if the server has standbys. It refuses a connection that is not encrypted and
// verified, unless every host is on this machine.
func Settings(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error of the library holds the string, perhaps with its password.
		return nil, memory.Invalid("url", "postgres://MEMBER@HOST/DATABASE", "the connection string cannot be read")
	}
	config.MaxConns = maxConnections
	c := config.ConnConfig
	c.ConnectTimeout = dialTimeout
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "recalld"
	}
	c.RuntimeParams["statement_timeout"] = fmt.Sprint(statementTimeout.Milliseconds())
	// With several hosts only the one that takes writes is of use.
	if len(c.Fallbacks) > 0 && c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	hosts := []struct {
		host string
		tls  *tls.Config
	}{{c.Host, c.TLSConfig}}
	for _, f := range c.Fallbacks {
		hosts = append(hosts, struct {
			host string
			tls  *tls.Config
		}{f.Host, f.TLSConfig})
	}
	for _, h := range hosts {
		// verify-ca of the library verifies in a callback and skips the name.
		if !local(h.host) && (h.tls == nil || h.tls.InsecureSkipVerify) {
			return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "url",
				Message: fmt.Sprintf("the connection to %s would not be encrypted and verified", h.host),
				Hint:    "add sslmode=verify-full (and sslrootcert=FILE for an authority of your own)"}
		}
	}
	return config, nil
}

// local says that a host is this machine.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Open connects as a member, and checks the server's schema. It returns CodeUnavailable if
// the server cannot be reached, CodeForbidden if it refuses the member, and CodeIncompatible
// if its schema is not that of this program.
func Open(ctx context.Context, url string) (*Server, error) {
	config, err := Settings(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to team: %w", serverError(err))
	}
	s := &Server{pool: pool, member: config.ConnConfig.User}
	if err := s.check(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect to team: %w", err)
	}
	return s, nil
}

// Close ends the connections.
func (s *Server) Close() { s.pool.Close() }

// Member is the name that the server knows the user by.
func (s *Server) Member() string { return s.member }

// bounded is a context of one call.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// check compares the schemas.
func (s *Server) check(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var found int
	err := s.pool.QueryRow(ctx, `select schema from recalld.version`).Scan(&found)
	if code := stateOf(err); code == "42P01" || code == "3F000" { // no such table, schema
		return &memory.Error{Code: memory.CodeNotFound, Message: "this database holds no team memory", Hint: "its operator runs 'recalld team init URL' first"}
	}
	if err != nil {
		return serverError(err)
	}
	return compareSchema(found)
}

func compareSchema(found int) error {
	switch own := len(migrations()); {
	case found > own:
		return &memory.Error{Code: memory.CodeIncompatible, Message: fmt.Sprintf("the team's server has schema %d, and this program knows up to %d", found, own), Hint: "update recalld on this machine"}
	case found < own:
		return &memory.Error{Code: memory.CodeIncompatible, Message: fmt.Sprintf("the team's server has schema %d, and this program needs %d", found, own), Hint: "its operator runs 'recalld team init URL' with the new program"}
	}
	return nil
}

// Projects returns the team projects that the member may see; "*" stands for all.
func (s *Server) Projects(ctx context.Context) ([]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `select project from recalld.projects() as project order by 1`)
	if err != nil {
		return nil, fmt.Errorf("list team projects: %w", serverError(err))
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list team projects: %w", serverError(err))
	}
	return list, nil
}

// Clock returns how far the server's clock is ahead of this machine's.
func (s *Server) Clock(ctx context.Context) (time.Duration, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var at time.Time
	begin := time.Now()
	if err := s.pool.QueryRow(ctx, `select clock_timestamp()`).Scan(&at); err != nil {
		return 0, fmt.Errorf("read the server's clock: %w", serverError(err))
	}
	return at.Sub(begin.Add(time.Since(begin) / 2)), nil
}

// Instance names the server's history: another one has other transaction ids, or lacks the
// last transactions of this one. It changes when a standby is promoted and when the database
// is copied to another server.
func (s *Server) Instance(ctx context.Context) (string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var name string
	// The name of a log file begins with the timeline, which a promotion raises.
	err := s.pool.QueryRow(ctx, `select system_identifier || '-' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) from pg_control_system()`).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("identify the server: %w", serverError(err))
	}
	return name, nil
}

// Own returns the hashes of the member's own rows of a project, by id. Rows that were taken
// back are not among them.
func (s *Server) Own(ctx context.Context, project string) (map[string]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `select id, hash from recalld.lesson where project = $1 and member = session_user and body is not null`, project)
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

// Put writes rows of the member, in one statement for each rowsAtOnce of them. A row that
// says nothing new is left as it is.
func (s *Server) Put(ctx context.Context, project string, rows []Row) error {
	for len(rows) > 0 {
		part := rows[:min(len(rows), rowsAtOnce)]
		rows = rows[len(part):]
		if err := s.put(ctx, project, part); err != nil {
			return fmt.Errorf("write shares: %w", err)
		}
	}
	return nil
}

func (s *Server) put(ctx context.Context, project string, part []Row) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	ids, bodies, hashes := make([]string, len(part)), make([]*string, len(part)), make([][]byte, len(part))
	for i, r := range part {
		ids[i], hashes[i] = r.ID, r.hash
		if r.Body != nil {
			text, err := json.Marshal(r.Body)
			if err != nil {
				return err
			}
			bodies[i] = new(string(text))
		}
	}
	_, err := s.pool.Exec(ctx, `
		with written as (
			insert into recalld.lesson as old (project, id, body, hash)
			select $1, x.id, x.body::jsonb, x.hash from unnest($2::text[], $3::text[], $4::bytea[]) as x (id, body, hash)
			on conflict (project, id, member) do update set body = excluded.body, hash = excluded.hash
			where old.hash <> excluded.hash or (old.body is null) <> (excluded.body is null)
			returning 1)
		select pg_notify('recalld', '') from (select count(*) as n from written) as w where w.n > 0`, project, ids, bodies, hashes)
	if err != nil {
		return serverError(err)
	}
	return nil
}

// Since calls fn with the rows that other members changed in the transactions from cursor
// on, and returns the cursor for the next call. A row may come again. Rows whose
// transaction is not over yet come with a later call.
func (s *Server) Since(ctx context.Context, project string, cursor uint64, fn func([]Row) error) (uint64, error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return cursor, fmt.Errorf("read shares: %w", serverError(err))
	}
	defer func() {
		end, cancel := bounded(context.WithoutCancel(ctx))
		defer cancel()
		_ = tx.Rollback(end)
	}()
	var next uint64
	if err := tx.QueryRow(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).Scan(&next); err != nil {
		return cursor, fmt.Errorf("read shares: %w", serverError(err))
	}
	from, after := cursor, Row{}
	for {
		rows, err := tx.Query(ctx, `
			select id, member::text, body, xid::text::bigint from recalld.lesson
			where project = $1 and member <> session_user and xid < $2::text::xid8
			and (xid, id, member) > ($3::text::xid8, $4, $5::text::name) order by xid, id, member limit $6`,
			project, fmt.Sprint(next), fmt.Sprint(from), after.ID, after.Member, rowsAtOnce)
		if err != nil {
			return cursor, fmt.Errorf("read shares: %w", serverError(err))
		}
		var part []Row
		var body []byte
		r := Row{Project: project}
		if _, err := pgx.ForEachRow(rows, []any{&r.ID, &r.Member, &body, &from}, func() error {
			one := r
			if body != nil {
				one.Body = new(memory.TeamLesson)
				if json.Unmarshal(body, one.Body) != nil {
					one.Body = new(memory.TeamLesson) // no lesson: it is skipped, and the others are taken
				}
			}
			part = append(part, one)
			return nil
		}); err != nil {
			return cursor, fmt.Errorf("read shares: %w", serverError(err))
		}
		if len(part) == 0 {
			return next, nil
		}
		if err := fn(part); err != nil {
			return cursor, err
		}
		after = part[len(part)-1]
	}
}

// Wait returns when a member has written to a project, or when ctx ends.
func (s *Server) Wait(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("listen to team: %w", serverError(err))
	}
	defer conn.Release()
	begin, cancel := bounded(ctx)
	defer cancel()
	if _, err := conn.Exec(begin, `listen recalld`); err != nil {
		return fmt.Errorf("listen to team: %w", serverError(err))
	}
	if _, err := conn.Conn().WaitForNotification(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("listen to team: %w", serverError(err))
	}
	return nil
}

// stateOf returns the code of an error of the server, "" for any other.
func stateOf(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// serverError says in plain words why a server does not serve, without the connection
// string, which may hold a password.
func serverError(err error) error {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case !errors.As(err, &refused):
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the team's server cannot be reached: " + plain(err), Cause: err, Hint: "what is remembered here works without it"}
	}
	switch refused.Code {
	case "28P01", "28000":
		return &memory.Error{Code: memory.CodeForbidden, Message: "the team's server refuses the name or password", Cause: err, Hint: "ask its operator for 'recalld team add NAME'"}
	case "3D000":
		return &memory.Error{Code: memory.CodeNotFound, Message: "the team's server has no such database", Cause: err}
	case "42501":
		return &memory.Error{Code: memory.CodeForbidden, Message: "the team's server does not allow this: " + refused.Message, Cause: err, Hint: "ask its operator"}
	case "53100":
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the disk of the team's server is full", Cause: err, Hint: "what is remembered here is kept, and sent later"}
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: "the team's server answers: " + refused.Message, Cause: err}
}

// plain is the last cause of an error of the network.
func plain(err error) string {
	var op *net.OpError
	switch {
	case errors.As(err, &op):
		return op.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}
