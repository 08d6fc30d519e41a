package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
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
	// maxConnections is one. The connection listens between exchanges; a notification that
	// arrives during an exchange is kept until its end.
	maxConnections = 1
)

// connection is a connection to a team's server. It is safe for concurrent use.
type connection struct {
	pool *pgxpool.Pool
	// member is the name that the server knows the user by.
	member string
}

// settings reads a connection string: an address (postgres://…) or keywords, with several
// hosts if the server has standbys. It refuses a connection that is not encrypted and
// verified, unless every host is on this machine.
func settings(url string) (*pgxpool.Config, error) {
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
	// A pooler may give each transaction another session, without its prepared statements.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	// The limit is no parameter of the start, because poolers refuse that. The connection
	// listens before its first exchange, so that nothing falls between the two.
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, fmt.Sprintf("set statement_timeout = %d; listen recalld", statementTimeout.Milliseconds()))
		return err
	}
	// Only a server that takes writes is of use.
	if c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	for _, h := range append([]*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		// verify-ca of the library verifies in a callback and skips the name.
		if !local(h.Host) && (h.TLSConfig == nil || h.TLSConfig.InsecureSkipVerify) {
			return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "url",
				Message: fmt.Sprintf("the connection to %s would not be encrypted and verified", h.Host),
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

// connect connects as a member, and checks the server's schema. It returns CodeUnavailable if
// the server cannot be reached, CodeForbidden if it refuses the member, and CodeIncompatible
// if its schema is not that of this program.
func connect(ctx context.Context, url string) (*connection, error) {
	config, err := settings(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to team: %w", serverError(err))
	}
	c := &connection{pool: pool, member: config.ConnConfig.User}
	if err := c.check(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect to team: %w", err)
	}
	return c, nil
}

func (c *connection) close() { c.pool.Close() }

// bounded is a context of one call.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// notPrepared is the error of a database on which 'team init' was not run, where a table, schema
// or role of it is missing; nil for other errors.
func notPrepared(err error) error {
	if !slices.Contains([]string{"42P01", "3F000", "42704"}, stateOf(err)) {
		return nil
	}
	return &memory.Error{Code: memory.CodeNotFound, Message: "this database holds no team memory", Hint: "its operator runs 'recalld team init URL' first", Cause: err}
}

// check compares the schemas.
func (c *connection) check(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	var found int
	err := c.pool.QueryRow(ctx, `select schema from recalld.version`).Scan(&found)
	if err != nil {
		return cmp.Or(notPrepared(err), serverError(err))
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

// stateOf returns the code of an error of the server, "" for any other.
func stateOf(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// serverError says in plain words why a server does not serve, without the connection
// string, which may hold a password.
func serverError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the team's server cannot be reached: " + plain(err), Cause: err, Hint: "what is remembered here works without it"}
	}
	switch refused.Code {
	case "28P01", "28000":
		if strings.Contains(refused.Message, "pg_hba.conf") {
			return &memory.Error{Code: memory.CodeForbidden, Message: "the rules of the team's server do not let this login in: " + refused.Message, Cause: err, Hint: "ask its operator for a line in pg_hba.conf"}
		}
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
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}
