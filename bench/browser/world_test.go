// Package browser drives recalld's web page in a real Chromium: what each page shows and
// does, whether all can use it (axe), what it looks like (screenshots), and what other web
// pages can do to it (nothing).
//
// It needs Chromium, which Debian has in the package chromium, git, and for axe npm. It
// builds the program, starts a daemon in an empty home folder and fills its memory through
// the API. The tests share one daemon and one browser; each has its own tabs, with cookies of
// their own.
package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browserEnv has the tests run.
const browserEnv = "RECALLD_TEST_BROWSER"

// patience is how long a test waits for anything: the machine may be busy.
const patience = 3 * time.Minute

// shared is what all tests use; its error is why there is nothing.
var shared = sync.OnceValues(newWorld)

// world is a daemon with a memory, and a browser.
type world struct {
	program, base, home string
	shop, hostile       *project
	http                *http.Client
	ui                  string // scheme, host and port of the page
	browser             context.Context
	closers             []func()
}

// project is a repository that the daemon knows.
type project struct {
	dir, id string
	pages   []pageAt // once they were looked for
}

// errLacks is returned where a program that the tests need is missing.
var errLacks = errors.New("not run")

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(browserEnv) != "" {
		if w, _ := shared(); w != nil {
			w.close()
		}
	}
	os.Exit(code)
}

// theWorld returns what all tests use. It skips the test where that is not asked for, or
// cannot be had.
func theWorld(t testing.TB) *world {
	t.Helper()
	if os.Getenv(browserEnv) == "" {
		t.Skip("not run: it needs Chromium (Debian's package chromium) and npm; make browser runs it")
	}
	w, err := shared()
	switch {
	case errors.Is(err, errLacks):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return w
}

func newWorld() (*world, error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", "recalld-browser-")
	if err != nil {
		return nil, err
	}
	w := &world{base: base, home: filepath.Join(base, "home"),
		shop: &project{dir: filepath.Join(base, "shop")}, hostile: &project{dir: filepath.Join(base, `<img src=x onerror=pwned()>`)}}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(base) })
	for _, step := range []func() error{w.build, w.serve, w.fill, func() error { return w.startBrowser(path) }} {
		if err := step(); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// close ends what newWorld began, the newest first.
func (w *world) close() {
	for i := len(w.closers) - 1; i >= 0; i-- {
		w.closers[i]()
	}
	w.closers = nil
}

func (w *world) build() error {
	if err := os.Mkdir(w.home, 0o700); err != nil {
		return err
	}
	var err error
	if w.program, err = filepath.Abs(filepath.Join("..", "..", ".build", "browser", "recalld")); err != nil {
		return err
	}
	_, err = run("", nil, "go", "build", "-trimpath", "-o", w.program, "github.com/recalld/recalld/cmd/recalld")
	return err
}

// serve starts the daemon, and returns when it answers.
func (w *world) serve() error {
	daemon := exec.Command(w.program, "serve")
	daemon.Env = w.env()
	var log bytes.Buffer
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	w.closers = append(w.closers, func() {
		_ = daemon.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = daemon.Process.Kill()
		}
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.socket())
	}
	w.http = &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: patience}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		err := w.get("/v1/hello", nil)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case why := <-ended:
			ended <- why
			return fmt.Errorf("the daemon ended: %w\n%s", why, &log)
		case <-deadline:
			return fmt.Errorf("the daemon does not answer: %w\n%s", err, &log)
		}
	}
}

func (w *world) socket() string { return filepath.Join(w.base, "data", "run", "recalld.sock") }

// env is the environment of the daemon and of commands: nothing of the person's who runs this.
func (w *world) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "RECALLD_DATA=" + filepath.Join(w.base, "data"),
		"RECALLD_DAEMON_AUTOSTART=false", "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC"}
}

// recalld runs a command in a folder and returns what it prints.
func (w *world) recalld(dir string, args ...string) (string, error) {
	return run(dir, w.env(), w.program, args...)
}

// call calls an operation of the API, for a project's folder, and decodes the response.
func (w *world) call(path string, in *project, body map[string]any, out any) error {
	if in != nil {
		body["caller"] = map[string]any{"dir": in.dir, "client": "claude-code"}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return w.answered("POST "+path, out)(w.http.Post("http://recalld"+path, "application/json", bytes.NewReader(text)))
}

func (w *world) get(path string, out any) error {
	return w.answered("GET "+path, out)(w.http.Get("http://recalld" + path))
}

func (w *world) answered(what string, out any) func(*http.Response, error) error {
	return func(answer *http.Response, err error) error {
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", what, answer.Status, text)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(text, out)
	}
}

// run runs a program and returns what it printed on standard output.
func run(dir string, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, env
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %.500s", err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return string(out), nil
}

// chromium is the path of the browser.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: it needs Chromium (Debian's package chromium)", errLacks)
}

// rebound is a name of the attacker's that resolves to this machine.
const rebound = "rebound.example"

// startBrowser starts the one browser. No name resolves in it but this machine's.
func (w *world) startBrowser(path string) error {
	profile, err := os.MkdirTemp("", "recalld-profile-")
	if err != nil {
		return err
	}
	w.closers = append(w.closers, func() { _ = os.RemoveAll(profile) })
	ctx, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.Env("HOME="+profile, "TZ=UTC"),
	)...)
	w.closers = append(w.closers, end)
	ctx, end = chromedp.NewContext(ctx)
	w.closers = append(w.closers, end)
	w.browser = ctx
	return chromedp.Do(ctx)
}
