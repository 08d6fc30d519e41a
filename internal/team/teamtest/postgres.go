//go:build unix

// Package teamtest runs PostgreSQL servers for tests, each in a folder of its own and on a
// port of loopback.
package teamtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the folder of PostgreSQL's programs, or is 1 where Debian's are to be used.
const Env = "RECALLD_TEST_POSTGRES"

// Postgres is a server. Its operator is the role owner, who is no superuser.
type Postgres struct {
	t        testing.TB
	bin, dir string
	Port     int
	process  *exec.Cmd
	ended    chan error
}

// New makes a server with an empty database team and starts it. Without PostgreSQL the test
// is skipped.
func New(t testing.TB) *Postgres {
	t.Helper()
	bin := os.Getenv(Env)
	if bin == "1" {
		bin = ""
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(found) > 0 {
			bin = found[len(found)-1]
		}
	}
	if bin == "" {
		t.Skipf("needs PostgreSQL: install Debian's package postgresql and set %s=1, or to the folder of initdb", Env)
	}
	p := &Postgres{t: t, bin: bin, dir: serverDir(t), Port: freePort(t)}
	p.run("initdb", "-D", p.data(), "-U", "super", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	p.Start()
	t.Cleanup(p.Kill)
	p.SQL("super", "postgres", `create role owner login createrole`, `create database team owner owner`)
	return p
}

// Standby makes a copy of the server that follows it, and starts that.
func (p *Postgres) Standby() *Postgres {
	p.t.Helper()
	s := &Postgres{t: p.t, bin: p.bin, dir: serverDir(p.t), Port: freePort(p.t)}
	s.run("pg_basebackup", "-D", s.data(), "-R", "-X", "stream", "--no-sync", "-c", "fast", "-d", p.URL("super", "postgres"))
	s.Start()
	p.t.Cleanup(s.Kill)
	return s
}

// Promote makes a standby the server that takes writes, as a failover manager does.
func (p *Postgres) Promote() {
	p.t.Helper()
	p.run("pg_ctl", "promote", "-D", p.data(), "-w", "-t", "60")
}

// Restore brings everything that another server holds into this one, by a dump.
func (p *Postgres) Restore(from *Postgres) {
	p.t.Helper()
	dump := filepath.Join(p.dir, "dump.sql")
	p.run("pg_dumpall", "--clean", "--if-exists", "-f", dump, "-d", from.URL("super", "postgres"))
	// It cannot drop its own role, and goes on.
	p.run("psql", "-q", "-f", dump, "-d", p.URL("super", "postgres"))
}

// URLs is the address of a database on one of several servers.
func URLs(role, database string, servers ...*Postgres) string {
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = fmt.Sprintf("127.0.0.1:%d", s.Port)
	}
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable&target_session_attrs=read-write", role, strings.Join(hosts, ","), database)
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// Start starts the server and returns when it answers.
func (p *Postgres) Start() {
	p.t.Helper()
	p.process = p.command("postgres", "-D", p.data(), "-p", strconv.Itoa(p.Port), "-c", "listen_addresses=127.0.0.1",
		"-k", p.dir, "-c", "shared_buffers=32MB", "-c", "wal_level=replica", "-c", "max_connections=60")
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan error, 1)
	go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(p.process, p.ended)
	p.await(p.URL("super", "postgres"))
}

// await returns when an address answers.
func (p *Postgres) await(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for tick := time.Tick(50 * time.Millisecond); ; <-tick { // it says nothing when it is ready
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		if ctx.Err() != nil {
			p.t.Fatalf("the server does not start: %v", err)
		}
	}
}

// Kill ends the server at once, as a crash does.
func (p *Postgres) Kill() {
	if p.process == nil {
		return
	}
	_ = p.process.Process.Signal(syscall.SIGQUIT) // its children go with it
	<-p.ended
	p.process = nil
}

// URL is the address of a database for a role. Every role is let in without a password.
func (p *Postgres) URL(role, database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, p.Port, database)
}

// Rule puts a line before the rules that let everybody in (pg_hba.conf), and returns when it
// is in force.
func (p *Postgres) Rule(line string) {
	p.t.Helper()
	file := filepath.Join(p.data(), "pg_hba.conf")
	rules, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte(line+"\n"), rules...), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	asked := time.Now().UTC().Format("2006-01-02 15:04:05.000000+00")
	p.SQL("super", "postgres", `select pg_reload_conf()`)
	// That only asks. A login is held against the rules that its own time of loading is of.
	for began := time.Now(); ; {
		n, err := p.Exec("super", "postgres", `select where pg_conf_load_time() >= '`+asked+`'`)
		if err == nil && n == 1 {
			return
		}
		if time.Since(began) > time.Minute {
			p.t.Fatalf("the rule %q is not in force: %v", line, err)
		}
	}
}

// Tablespace makes a tablespace on a disk of its own, of so many MiB, and returns what
// changes its size. Without the right to mount one the test is skipped.
func (p *Postgres) Tablespace(name string, size int) (resize func(size int)) {
	p.t.Helper()
	dir := filepath.Join(p.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	mount := func(how string, size int) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("%ssize=%dm", how, size), "tmpfs", dir).Run()
	}
	if err := mount("", size); err != nil {
		p.t.Skipf("needs the right to mount a small disk: %v", err)
	}
	p.t.Cleanup(func() {
		p.Kill()
		if err := exec.Command("umount", dir).Run(); err != nil {
			p.t.Error(err)
		}
	})
	chown(p.t, dir)
	p.SQL("super", "team", `create tablespace `+name+` location '`+dir+`'`)
	return func(size int) {
		if err := mount("remount,", size); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Pooler starts PgBouncer in front of the server, in a pool mode, and returns the address of a
// database through it. Without PgBouncer the test is skipped.
func (p *Postgres) Pooler(mode string) (url func(role, database string) string) {
	p.t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; exec.Command(program, "--version").Run() != nil {
			p.t.Skip("needs PgBouncer: install Debian's package pgbouncer")
		}
	}
	port, settings := freePort(p.t), filepath.Join(p.dir, "pgbouncer-"+mode+".ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = trust\nauth_file = %s\npool_mode = %s\n",
		p.Port, port, filepath.Join(p.dir, "users"), mode)
	users := `"ann" ""` + "\n" + `"bob" ""` + "\n"
	if err := errors.Join(os.WriteFile(settings, []byte(text), 0o644), os.WriteFile(filepath.Join(p.dir, "users"), []byte(users), 0o644)); err != nil {
		p.t.Fatal(err)
	}
	process := p.command("pgbouncer", settings)
	process.Path, process.Err = program, nil
	if err := process.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	url = func(role, database string) string {
		return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, port, database)
	}
	p.await(url("ann", "team"))
	return url
}

// SQL runs statements as a role.
func (p *Postgres) SQL(role, database string, statements ...string) {
	p.t.Helper()
	for _, s := range statements {
		if _, err := p.Exec(role, database, s); err != nil {
			p.t.Fatalf("%s: %v", s, err)
		}
	}
}

// Exec runs one statement as a role and returns how many rows it changed or read.
func (p *Postgres) Exec(role, database, statement string) (int64, error) {
	ctx := context.WithoutCancel(p.t.Context())
	conn, err := pgx.Connect(ctx, p.URL(role, database))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	tag, err := conn.Exec(ctx, statement)
	return tag.RowsAffected(), err
}

func (p *Postgres) run(name string, args ...string) {
	p.t.Helper()
	if out, err := p.command(name, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	c.Dir = p.dir
	if id := serverUser(p.t); id != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: id}
	}
	return c
}

// serverDir makes a folder for a server. It is not t.TempDir, which the server's own user
// cannot reach.
func serverDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "recalld-postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	chown(t, dir)
	return dir
}

// chown gives a folder to the user that a server runs as.
func chown(t testing.TB, dir string) {
	t.Helper()
	if id := serverUser(t); id != nil {
		if err := os.Chown(dir, int(id.Uid), int(id.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// serverUser is who a server runs as, nil for the test's own user: PostgreSQL refuses root.
func serverUser(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
