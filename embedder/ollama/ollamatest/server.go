// Package ollamatest gives tests an Ollama server: a real one, started with Start from the
// output of build.sh, or an in-memory fake that can be made to fail. Both are tested with
// the same table of cases.
package ollamatest

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Env names the folder with the output of build.sh.
const Env = "RECALLD_TEST_OLLAMA"

// The model that Start creates: words that share letters are near, and so are the synonyms
// in synonyms.txt.
const (
	Model   = "tiny"
	Dim     = 64
	Context = 128
)

// stopTimeout is how long a server may take to start or to end.
const stopTimeout = 60 * time.Second

// Server is a real Ollama server on this machine.
type Server struct {
	// URL is its address. It stays the same after restarts.
	URL string

	t       testing.TB
	dir     string // the output of build.sh
	program string
	env     []string
	log     logBuffer
	cmd     *exec.Cmd
	ended   chan error // receives the exit of cmd, once
}

// Start starts a server on a free port, with a separate home and models folder, and creates
// Model. The test is skipped when Env is not set. The server ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skipf("%s is not set; `make ollama` builds a real server and says how to set it", Env)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatalf("find %s: %v", Env, err)
	}
	home := t.TempDir()
	addr := freeAddr(t)
	s := &Server{
		URL: "http://" + addr, t: t, dir: dir, program: filepath.Join(dir, "ollama"),
		env: append(os.Environ(), "HOME="+home, "OLLAMA_HOST="+addr,
			"OLLAMA_MODELS="+filepath.Join(home, "models"), "OLLAMA_KEEP_ALIVE=-1"),
	}
	t.Cleanup(s.Stop)
	s.Restart()

	modelfile := filepath.Join(home, "Modelfile")
	// One thread: a second makes small machines sixty times slower, and changes the order
	// of sums.
	text := fmt.Sprintf("FROM %s\nPARAMETER num_thread 1\n", filepath.Join(dir, "tiny.gguf"))
	if err := os.WriteFile(modelfile, []byte(text), 0o600); err != nil {
		t.Fatalf("write Modelfile: %v", err)
	}
	s.Create(Model, modelfile)
	return s
}

// ChatModel is the model that CreateChat makes. It answers ChatAnswer; to a message that
// ends with a tilde its answer never ends.
const (
	ChatModel  = "tiny-chat"
	ChatAnswer = " It works."
)

// CreateChat makes ChatModel. The test is skipped if build.sh has not made it.
func (s *Server) CreateChat() {
	s.t.Helper()
	weights := filepath.Join(s.dir, "tiny-chat.gguf")
	if _, err := os.Stat(weights); err != nil {
		s.t.Skipf("%v; `make ollama` writes it", err)
	}
	modelfile := filepath.Join(s.t.TempDir(), "Modelfile")
	text := fmt.Sprintf("FROM %s\nTEMPLATE \"{{ .Prompt }}\"\nPARAMETER num_thread 1\n", weights)
	if err := os.WriteFile(modelfile, []byte(text), 0o600); err != nil {
		s.t.Fatalf("write Modelfile: %v", err)
	}
	s.Create(ChatModel, modelfile)
}

// Create makes a model from a Modelfile.
func (s *Server) Create(name, modelfile string) {
	s.t.Helper()
	cmd := exec.Command(s.program, "create", name, "-f", modelfile)
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("create model %s: %v\n%s", name, err, out)
	}
}

// Restart starts a server that was stopped, and waits until it listens.
func (s *Server) Restart() {
	s.t.Helper()
	if s.cmd != nil {
		s.t.Fatal("restart: the server is running")
	}
	s.cmd = exec.Command(s.program, "serve")
	s.cmd.Env = s.env
	listening := s.log.await("Listening on")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start %s: %v; `make ollama` builds it", s.program, err)
	}
	s.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan<- error) { ended <- cmd.Wait() }(s.cmd, s.ended)
	select {
	case <-listening:
	case err := <-s.ended:
		s.cmd = nil
		s.t.Fatalf("the server ended at once: %v\n%s", err, s.log.tail())
	case <-time.After(stopTimeout):
		s.t.Fatalf("the server does not listen after %v:\n%s", stopTimeout, s.log.tail())
	}
}

// Stop ends the server and its runners, and waits until they are gone. Stopping twice is a
// no-op. It sends a signal that the server handles: a killed server leaves its runner
// behind.
func (s *Server) Stop() {
	s.t.Helper()
	if s.cmd == nil {
		return
	}
	sig := os.Signal(syscall.SIGTERM)
	if runtime.GOOS == "windows" {
		sig = os.Interrupt
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Errorf("stop server: %v", err)
	}
	select {
	case <-s.ended: // the exit status after a signal is irrelevant
	case <-time.After(stopTimeout):
		s.t.Errorf("the server, process %d, has not ended after %v:\n%s", s.cmd.Process.Pid, stopTimeout, s.log.tail())
	}
	s.cmd = nil
}

// freeAddr returns a loopback address with a free port.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}

// logBuffer keeps the server's output and signals when it contains a text.
type logBuffer struct {
	mu   sync.Mutex // guards all below
	buf  bytes.Buffer
	want string
	seen chan struct{}
	from int // where the part of the log that want is looked for begins
}

func (l *logBuffer) await(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want, l.seen, l.from = text, make(chan struct{}), l.buf.Len()
	return l.seen
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p)
	if l.want != "" && bytes.Contains(l.buf.Bytes()[l.from:], []byte(l.want)) {
		l.want = ""
		close(l.seen)
	}
	return len(p), nil
}

// tail returns the last lines.
func (l *logBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for sc := bufio.NewScanner(bytes.NewReader(l.buf.Bytes())); sc.Scan(); {
		lines = append(lines, sc.Text())
	}
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
