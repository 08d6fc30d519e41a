//go:build unix

package team_test

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team"
)

// TestTeamRefusals: what is wrong is said in one clear line, when joining and to an operator.
func TestTeamRefusals(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "cyd": {"*"}, "dan": {"*"}})
	p.SQL("super", "postgres", `create database other owner owner`)
	p.Rule("host all dan 127.0.0.1/32 reject")
	p.Rule("host all cyd 127.0.0.1/32 scram-sha-256")
	url := func(port int, mode string) string {
		return fmt.Sprintf("postgres://ann@127.0.0.1:%d/team?sslmode=%s", port, mode)
	}
	standby := p.Standby()
	for _, c := range []struct {
		name, url, want string
		code            memory.Code
	}{
		{"no address", "nonsense://x", "the connection string cannot be read", memory.CodeInvalidInput},
		{"no encryption", "postgres://ann@db.example.org/team", "the connection to db.example.org would not be encrypted and verified", memory.CodeInvalidInput},
		{"no verification", "postgres://ann@db.example.org/team?sslmode=require", "the connection to db.example.org would not be encrypted and verified", memory.CodeInvalidInput},
		{"nobody there", url(1, "disable"), "the team's server cannot be reached: connect: connection refused", memory.CodeUnavailable},
		{"no such host", "postgres://ann@db.invalid/team?sslmode=verify-full", "the team's server cannot be reached: ", memory.CodeUnavailable},
		{"no answer", url(stuckServer(t), "disable"), "the team's server cannot be reached: no answer in time", memory.CodeUnavailable},
		{"a server without encryption", url(p.Port, "verify-full"), "the team's server cannot be reached: server refused TLS connection", memory.CodeUnavailable},
		{"a certificate of nobody", url(encryptedServer(t), "verify-full"), "the team's server cannot be reached: certificate signed by unknown authority", memory.CodeUnavailable},
		{"no such role", p.URL("zoe", "team"), "the team's server refuses the name or password", memory.CodeForbidden},
		{"wrong password", strings.Replace(p.URL("cyd", "team"), "cyd@", "cyd:wrong@", 1), "the team's server refuses the name or password", memory.CodeForbidden},
		{"no password", p.URL("cyd", "team"), "the team's server refuses the name or password", memory.CodeForbidden},
		{"a rule against it", p.URL("dan", "team"), "the rules of the team's server do not let this login in: pg_hba.conf rejects connection", memory.CodeForbidden},
		{"no such database", p.URL("ann", "nowhere"), "the team's server has no such database", memory.CodeNotFound},
		{"not prepared", p.URL("ann", "other"), "this database holds no team memory", memory.CodeNotFound},
		{"a standby alone", standby.URL("ann", "team"), "the team's server cannot be reached: read only connection", memory.CodeUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newMachine(t, "x").team.Join(t.Context(), memory.TeamJoinRequest{URL: c.url})
			if got := memory.AsError(err); err == nil || !strings.HasPrefix(got.Message, c.want) || got.Code != c.code || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "wrong") {
				t.Errorf("%v, want %q (%s) in one line", err, c.want, c.code)
			}
		})
	}
	for schema, want := range map[int]string{0: "the team's server has schema 0, and this program needs 2", 99: "the team's server has schema 99, and this program knows up to 2"} {
		p.SQL("owner", "team", fmt.Sprintf(`update recalld.version set schema = %d`, schema))
		_, err := newMachine(t, "y").team.Join(t.Context(), memory.TeamJoinRequest{URL: p.URL("ann", "team")})
		if got := memory.AsError(err); err == nil || got.Code != memory.CodeIncompatible || got.Message != want {
			t.Errorf("schema %d: %v, want %q", schema, err, want)
		}
	}
	p.SQL("owner", "team", `update recalld.version set schema = 99`)
	admin := operator(t, p.URL("owner", "team"))
	if _, err := admin.Init(t.Context()); memory.CodeOf(err) != memory.CodeIncompatible {
		t.Errorf("an older program over a newer schema: %v", err)
	}
	if _, err := admin.Add(t.Context(), "no spaces", nil); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("a bad name: %v", err)
	}
	other := operator(t, p.URL("owner", "other"))
	_, addErr := other.Add(t.Context(), "eve", []string{"*"})
	_, removeErr := other.Remove(t.Context(), "ann", true)
	for _, err := range []error{addErr, removeErr} {
		if memory.CodeOf(err) != memory.CodeNotFound || !strings.Contains(err.Error(), "this database holds no team memory") {
			t.Errorf("a member of a database that is not prepared: %v", err)
		}
	}
	weak := operator(t, p.URL("ann", "other"))
	if _, err := weak.Init(t.Context()); memory.CodeOf(err) != memory.CodeForbidden || !strings.Contains(err.Error(), "this role may not do that") {
		t.Errorf("an operator without rights: %v", err)
	}
	if _, err := team.OpenAdmin(t.Context(), url(oldServer(t), "disable")); memory.CodeOf(err) != memory.CodeIncompatible || !strings.Contains(err.Error(), "the team's server is PostgreSQL 12.22, and a team needs 13 or newer") {
		t.Errorf("an old server: %v", err)
	}
}

// TestTeamLeaveRefused: who is not let in by the server stays in the team, since the shares stay
// there, and is told how to leave all the same. A role that was dropped can leave.
func TestTeamLeaveRefused(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}, "bob": {"*"}, "cyd": {"*"}})
	for name, c := range map[string]struct {
		refuse func()
		want   string // "" if the member can leave
	}{
		"ann": {func() { p.Rule("host all ann 127.0.0.1/32 reject") }, "the rules of the team's server do not let this login in"},
		"bob": {func() { p.Rule("host all bob 127.0.0.1/32 scram-sha-256") }, "the team's server refuses the name or password"},
		"cyd": {func() { p.SQL("super", "team", `drop role cyd`) }, ""},
	} {
		m := newMachine(t, name)
		m.remember(memory.RememberRequest{Lesson: "restart the indexer after a migration"})
		m.join(p.URL(name, "team"))
		m.until("it is shared", func() bool {
			n, err := p.Exec("super", "team", `select from recalld.lesson where body is not null and member = '`+name+`'`)
			return err == nil && n == 1
		})
		m.stop() // and closes its connection
		c.refuse()
		_, err := m.team.Leave(t.Context(), memory.TeamLeaveRequest{})
		switch e := memory.AsError(cmp.Or(err, io.EOF)); {
		case c.want == "" && err != nil:
			t.Errorf("%s cannot leave: %v", name, err)
		case c.want == "":
		case err == nil:
			t.Errorf("%s has left, and the share is still on the server", name)
		case e.Code != memory.CodeForbidden || !strings.HasPrefix(e.Message, "what you shared cannot be taken back: "+c.want) || !strings.Contains(e.Hint, "recalld team leave --force"):
			t.Errorf("%s leaves: %+v, want %q and how to leave all the same", name, e, c.want)
		}
		if state, err := m.team.State(t.Context(), service.None{}); err != nil || (state.Member == name) != (c.want != "") {
			t.Errorf("%s is in the team as %q, %v", name, state.Member, err)
		}
		if c.want == "" {
			continue
		}
		if state, err := m.team.Leave(t.Context(), memory.TeamLeaveRequest{Force: true}); err != nil || state.Member != "" {
			t.Errorf("%s leaves by force: %+v, %v", name, state, err)
		}
		if n, err := p.Exec("super", "team", `select from recalld.lesson where body is not null and member = '`+name+`'`); err != nil || n != 1 {
			t.Errorf("the server has %d lessons of %s, %v, want the one that was shared", n, name, err)
		}
	}
}

// TestTeamDiskFull: a server whose disk is full says so; nothing is lost here, and all is sent
// when there is room again.
func TestTeamDiskFull(t *testing.T) {
	p := newTeam(t, map[string][]string{"ann": {"*"}})
	resize := p.Tablespace("small", 1)
	p.SQL("super", "team", `grant create on tablespace small to owner`, `alter table recalld.lesson set tablespace small`)
	ann := newMachine(t, "ann")
	const lessons = 800
	for n := range lessons {
		text := make([]byte, 0, 2000) // words that do not compress to nothing
		for i := 0; len(text) < 1900; i++ {
			text = fmt.Appendf(text, "%x ", uint32((n*100_000+i)*2654435761))
		}
		ann.remember(memory.RememberRequest{Lesson: fmt.Sprintf("lesson %d", n), Context: string(text)})
	}
	ann.join(p.URL("ann", "team"))
	ann.until("the server is full", func() bool {
		s, _ := ann.team.State(t.Context(), service.None{})
		return s.LastError == "the disk of the team's server is full"
	})
	if n := len(ann.lessons()); n != lessons {
		t.Errorf("ann has %d of %d lessons", n, lessons)
	}
	resize(64)
	ann.until("all is sent", func() bool {
		n, err := p.Exec("ann", "team", `select from recalld.lesson where body is not null`)
		return err == nil && n == lessons
	})
}

// listen gives every connection to a loopback port to serve, until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				serve(c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// stuckServer accepts and never answers.
func stuckServer(t *testing.T) int {
	return listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

// encryptedServer has a certificate that nobody vouches for.
func encryptedServer(t *testing.T) int {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	return listen(t, func(c net.Conn) {
		if _, err := pgproto3.NewBackend(c, c).ReceiveStartupMessage(); err != nil {
			return
		}
		_, _ = c.Write([]byte("S"))
		_ = tls.Server(c, s.TLS).Handshake()
	})
}

// oldServer is PostgreSQL 12 as far as its greeting.
func oldServer(t *testing.T) int {
	return listen(t, func(c net.Conn) {
		s := pgproto3.NewBackend(c, c)
		if _, err := s.ReceiveStartupMessage(); err != nil {
			return
		}
		s.Send(&pgproto3.AuthenticationOk{})
		s.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: "12.22 (Debian 12.22-1)"})
		s.Send(&pgproto3.ParameterStatus{Name: "default_transaction_read_only", Value: "off"})
		s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		_ = s.Flush()
		for {
			m, err := s.Receive()
			if err != nil {
				return
			}
			if _, asks := m.(*pgproto3.Query); asks { // whether it takes writes
				s.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("transaction_read_only"), DataTypeOID: 25, DataTypeSize: -1, TypeModifier: -1}}})
				s.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("off")}})
				s.Send(&pgproto3.CommandComplete{CommandTag: []byte("SHOW")})
				s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
				_ = s.Flush()
			}
		}
	})
}
