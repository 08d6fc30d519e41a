package team

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/recalld/recalld/internal/memory"
)

//go:embed migrations/*.sql
var files embed.FS

// migrations are the statements that lead from each schema to the next one.
func migrations() []string {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	slices.Sort(names)
	list := make([]string, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it was just listed
		}
		list[i] = string(text)
	}
	return list
}

// members is the role whose rights every member has.
const members = "recalld_members"

// migrationLock keeps two operators from migrating at once (pg_advisory_xact_lock).
const migrationLock = 7_236_255

// Admin is a connection of the operator: the owner of the database, with the right to make
// roles. It needs no superuser.
type Admin struct {
	conn *pgx.Conn
	url  string
}

// oldest is the first version of PostgreSQL with transaction ids of 64 bits (xid8).
const oldest = 13

// OpenAdmin connects as the operator. A server that is too old is CodeIncompatible.
func OpenAdmin(ctx context.Context, url string) (*Admin, error) {
	config, err := settings(url)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to team: %w", serverError(err))
	}
	found, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), " ") // of the packager
	major, _, _ := strings.Cut(found, ".")
	if n, err := strconv.Atoi(major); err == nil && n < oldest { // a new one may count otherwise
		_ = conn.Close(ctx)
		return nil, &memory.Error{Code: memory.CodeIncompatible, Message: fmt.Sprintf("the team's server is PostgreSQL %s, and a team needs %d or newer", found, oldest), Hint: "upgrade the server"}
	}
	return &Admin{conn, url}, nil
}

// Close ends the connection.
func (a *Admin) Close(ctx context.Context) error { return a.conn.Close(ctx) }

// Init brings the database to the schema of this program, in one transaction, and returns
// what it did. Done again, it does nothing. A newer schema is CodeIncompatible, one without
// some of its tables CodeCorrupt.
func (a *Admin) Init(ctx context.Context) (did []string, err error) {
	err = pgx.BeginFunc(ctx, a.conn, func(tx pgx.Tx) error {
		did = nil
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, `select exists (select from pg_roles where rolname = $1)`, members).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if _, err := tx.Exec(ctx, `create role recalld_members nologin`); err != nil {
				return err
			}
			did = append(did, "created the role "+members)
		}
		found := 0
		if err := tx.QueryRow(ctx, `select to_regclass('recalld.version') is not null`).Scan(&exists); err != nil {
			return err
		}
		if exists {
			if err := tx.QueryRow(ctx, `select schema from recalld.version`).Scan(&found); err != nil {
				return err
			}
		} else {
			if _, err := tx.Exec(ctx, `create schema if not exists recalld`); err != nil {
				return err
			}
			did = append(did, "created the schema recalld")
		}
		list := migrations()
		if found > len(list) {
			return compareSchema(found)
		}
		for n := found; n < len(list); n++ {
			if _, err := tx.Exec(ctx, list[n]); err != nil {
				return err
			}
			did = append(did, fmt.Sprintf("migrated it to schema %d", n+1))
		}
		if _, err := tx.Exec(ctx, `update recalld.version set schema = $1`, len(list)); err != nil {
			return err
		}
		// Rows that were restored from a dump of another server may name transactions that
		// this one has yet to reach, and would be shown to nobody until then. Any change
		// gives them its own.
		tag, err := tx.Exec(ctx, `update recalld.lesson set hash = hash where xid >= pg_snapshot_xmax(pg_current_snapshot())`)
		if n := tag.RowsAffected(); n > 0 {
			did = append(did, fmt.Sprintf("renewed %d restored shares", n))
			_, err = tx.Exec(ctx, `select pg_notify('recalld', '')`)
		}
		return err
	})
	// A table is missing, or there already, or has no row.
	if state := stateOf(err); state == "42P01" || state == "42P07" || errors.Is(err, pgx.ErrNoRows) {
		err = &memory.Error{Code: memory.CodeCorrupt, Message: "this database holds only a part of a team's memory", Cause: err,
			Hint: "restore the database from a dump, or drop its schema recalld and begin anew with 'recalld team init URL' and 'recalld team add'"}
	}
	if err != nil {
		return nil, fmt.Errorf("prepare team: %w", adminError(err))
	}
	return did, nil
}

// Add makes a login role for a member who may see and share these projects; "*" stands for
// all. For a member who exists, only the projects are added. It returns the address to join
// with, with a new password, "" for a member who exists.
func (a *Admin) Add(ctx context.Context, member string, projects []string) (join string, err error) {
	if err := checkMember(member); err != nil {
		return "", err
	}
	password := rand.Text()
	if join, err = memberURL(a.url, member, password); err != nil {
		return "", err
	}
	err = pgx.BeginFunc(ctx, a.conn, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, `select exists (select from pg_roles where rolname = $1)`, member).Scan(&exists); err != nil {
			return err
		}
		name := pgx.Identifier{member}.Sanitize()
		if !exists {
			// A statement that makes a role takes no parameters; the password has letters
			// and digits only.
			if _, err := tx.Exec(ctx, fmt.Sprintf(`create role %s login password '%s'`, name, password)); err != nil {
				return err
			}
		} else {
			join = ""
		}
		if _, err := tx.Exec(ctx, `grant recalld_members to `+name); err != nil {
			return err
		}
		for _, p := range projects {
			if _, err := tx.Exec(ctx, `insert into recalld.access values ($1, $2) on conflict do nothing`, member, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("add member: %w", adminError(err))
	}
	return join, nil
}

// Remove takes a member's access away, and with lessons everything that it shared.
func (a *Admin) Remove(ctx context.Context, member string, lessons bool) (taken int64, err error) {
	if err := checkMember(member); err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, a.conn, func(tx pgx.Tx) error {
		if lessons {
			tag, err := tx.Exec(ctx, `update recalld.lesson set body = null, hash = '' where member = $1 and body is not null`, member)
			if err != nil {
				return err
			}
			taken = tag.RowsAffected()
			if _, err := tx.Exec(ctx, `select pg_notify('recalld', '')`); err != nil {
				return err
			}
		}
		// A role that is no member is not the team's to drop.
		var exists bool
		if err := tx.QueryRow(ctx, `select exists (select from pg_auth_members where roleid = $1::regrole and member = (select oid from pg_roles where rolname = $2))`, members, member).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return &memory.Error{Code: memory.CodeNotFound, Field: "member", Message: "the team has no member " + memory.Quote(member)}
		}
		if _, err := tx.Exec(ctx, `delete from recalld.access where member = $1`, member); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `drop role `+pgx.Identifier{member}.Sanitize())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove member: %w", adminError(err))
	}
	return taken, nil
}

// checkMember refuses names that are hard to type, or that a role cannot have.
func checkMember(name string) error {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	}
	if name == "" || len(name) > 63 || strings.HasPrefix(name, "pg_") || name == members || strings.ContainsFunc(name, special) {
		return memory.Invalid("member", "1–63 small letters, digits, '.', '-' and '_'", "%s is not a member's name", memory.Quote(name))
	}
	return nil
}

// memberURL is the operator's address with the name and password of a member, and without
// anything by which the operator logs in.
func memberURL(admin, member, password string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", memory.Invalid("url", "postgres://OWNER@HOST/DATABASE", "only a URL can be rewritten for the member")
	}
	q := u.Query()
	for _, name := range []string{"user", "password", "passfile", "sslcert", "sslkey", "sslpassword", "service", "servicefile"} {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	u.User = url.UserPassword(member, password)
	return u.String(), nil
}

// adminError adds what an operator can do about an error of the server.
func adminError(err error) error {
	if stateOf(err) == "42501" {
		return &memory.Error{Code: memory.CodeForbidden, Message: "this role may not do that: " + memory.AsError(serverError(err)).Message,
			Hint: "use the owner of the database, with the attribute createrole", Cause: err}
	}
	if own, ok := errors.AsType[*memory.Error](err); ok {
		return own
	}
	return cmp.Or(notPrepared(err), serverError(err))
}
