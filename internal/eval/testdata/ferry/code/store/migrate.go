// Package store keeps bookings in PostgreSQL.
package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// pending returns the files that were not applied yet, in order of their numbers.
func pending(files fs.FS, applied map[string]bool) ([]string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return applied[n] }), nil
}

// withLock runs fn while no other instance changes the schema.
func withLock(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	const key = 7_310_552
	if _, err := conn.ExecContext(ctx, "select pg_advisory_lock($1)", key); err != nil {
		return fmt.Errorf("lock schema: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", key)
	return fn(conn)
}

// statements cuts a script at semicolons that stand outside of quotes and dollar bodies.
func statements(script string) (list []string) {
	var quote string
	begin := 0
	for i := 0; i < len(script); i++ {
		switch {
		case quote != "" && strings.HasPrefix(script[i:], quote):
			i += len(quote) - 1
			quote = ""
		case quote != "":
		case script[i] == '\'':
			quote = "'"
		case strings.HasPrefix(script[i:], "$$"):
			quote, i = "$$", i+1
		case script[i] == ';':
			list = append(list, strings.TrimSpace(script[begin:i]))
			begin = i + 1
		}
	}
	return list
}
