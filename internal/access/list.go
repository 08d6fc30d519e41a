package access

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Bounds of the list of clients.
const (
	maxClients  = 1000
	maxName     = 64
	maxListFile = 8 << 20
)

// MaxRate and MaxConcurrent bound the limits of one client.
const (
	MaxRate       = 1_000_000
	MaxConcurrent = 1024
)

// list is the content of the file: tokens by their hashes.
type list struct {
	Clients []Policy `json:"clients"`
}

// List is the list of clients in a file. It takes note of a change of the file without a
// restart. It is safe for concurrent use.
type List struct {
	path string

	mu    sync.Mutex // guards what follows
	stamp string
	known []Policy
	wrong error
}

// OpenList returns the list of a file. A missing file has no clients.
func OpenList(path string) *List { return &List{path: path} }

// Clients returns the policies by name. The error is of a file that cannot be read, or that
// others can read or write: then no client of it may do anything.
func (l *List) Clients() ([]Policy, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stamp := fsx.Stamp(l.path); stamp != l.stamp || stamp == "" {
		l.known, l.wrong = read(l.path)
		if l.stamp = stamp; l.wrong != nil {
			l.stamp = "" // it may be read the next time
		}
	}
	return l.known, l.wrong
}

// Named returns the policy of a name. CodeForbidden if there is none.
func (l *List) Named(name string) (*Policy, error) {
	known, err := l.Clients()
	if err != nil {
		return nil, err
	}
	for i := range known {
		if known[i].Name == name {
			return &known[i], nil
		}
	}
	return nil, &memory.Error{Code: memory.CodeForbidden, Field: Header, Message: "no client is called " + memory.Quote(name),
		Hint: "`recalld token list` shows the clients; `recalld token add` makes one"}
}

// Bearer returns the policy of a token; nil if it is nobody's. All hashes are compared, so
// that the time says nothing about them.
func (l *List) Bearer(token string) *Policy {
	known, err := l.Clients()
	if err != nil || token == "" {
		return nil
	}
	var found *Policy
	got := []byte(hashOf(token))
	for i := range known {
		if subtle.ConstantTimeCompare(got, []byte(known[i].TokenHash)) == 1 {
			found = &known[i]
		}
	}
	return found
}

// Add adds a client and returns its token, which is not stored. CodeConflict for a name that
// is taken.
func (l *List) Add(p Policy, now time.Time) (token string, err error) {
	if err := p.validate(); err != nil {
		return "", err
	}
	token = rand.Text()
	p.TokenHash, p.CreatedAt = hashOf(token), now.UTC().Truncate(time.Second)
	return token, l.change(func(known []Policy) ([]Policy, error) {
		if slices.ContainsFunc(known, func(x Policy) bool { return x.Name == p.Name }) {
			return nil, &memory.Error{Code: memory.CodeConflict, Field: "name", Message: "there is a client called " + memory.Quote(p.Name),
				Hint: "remove it first: its token ends with it"}
		}
		if len(known) == maxClients {
			return nil, memory.Invalid("name", fmt.Sprintf("at most %d clients", maxClients), "there are as many")
		}
		return append(slices.Clone(known), p), nil
	})
}

// Remove removes a client, and its token ends. CodeNotFound for an unknown name.
func (l *List) Remove(name string) error {
	return l.change(func(known []Policy) ([]Policy, error) {
		rest := slices.DeleteFunc(slices.Clone(known), func(x Policy) bool { return x.Name == name })
		if len(rest) == len(known) {
			var names []string
			for _, x := range known {
				names = append(names, x.Name)
			}
			return nil, &memory.Error{Code: memory.CodeNotFound, Field: "name", Message: "no client is called " + memory.Quote(name), Hint: memory.NearNames(name, names)}
		}
		return rest, nil
	})
}

// change rewrites the file as a whole. A lock file keeps two changes apart.
func (l *List) change(change func([]Policy) ([]Policy, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("write list of clients: %w", err)
	}
	lock := l.path + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &memory.Error{Code: memory.CodeConflict, Field: "name", Message: "another command changes the list of clients", Hint: "try again; if none runs, remove " + lock, Cause: err}
	}
	if err != nil {
		return fmt.Errorf("lock list of clients: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(lock)) }()
	known, err := read(l.path)
	if err != nil {
		return err
	}
	changed, err := change(known)
	if err != nil {
		return err
	}
	slices.SortFunc(changed, func(a, b Policy) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(list{changed}, "", "  ")
	if err != nil {
		return fmt.Errorf("write list of clients: %w", err)
	}
	if err := fsx.WriteBytes(l.path, 0o600, append(text, '\n')); err != nil {
		return fmt.Errorf("write list of clients: %w", err)
	}
	return nil
}

// read reads the file. One that others can change or read is refused, as is one that is not
// understood as a whole: a policy that was lost must not let its client do everything.
func read(path string) ([]Policy, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("check list of clients: %w", err)
	}
	if fsx.OpenToOthers(info) {
		return nil, &memory.Error{Code: memory.CodeForbidden, Field: "clients", Limit: "mode 0600", Message: "others can read " + path, Hint: "chmod 600 it"}
	}
	text, err := fsx.ReadFile(path, maxListFile)
	if err != nil {
		return nil, fmt.Errorf("read list of clients: %w", err)
	}
	var l list
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // what a newer version holds a client to
	if err = d.Decode(&l); err == nil {
		if _, after := d.Token(); !errors.Is(after, io.EOF) {
			err = errors.New("something follows the list")
		}
	}
	for _, p := range l.Clients {
		err = cmp.Or(err, p.validate())
	}
	if err != nil {
		return nil, &memory.Error{Code: memory.CodeForbidden, Field: "clients", Message: path + " is not understood: " + err.Error(), Hint: "update recalld if a newer one wrote it; else remove it and add the clients again", Cause: err}
	}
	return l.Clients, nil
}

// validate checks what a policy says; its token aside.
func (p *Policy) validate() error {
	if p.Name == "" || len(p.Name) > maxName || strings.Trim(p.Name, nameCharacters) != "" {
		return memory.Invalid("name", fmt.Sprintf("1–%d letters, digits, . _ and -", maxName), "%s cannot name a client", memory.Quote(p.Name))
	}
	if p.Rate < 0 || p.Rate > MaxRate {
		return memory.Invalid("rate", fmt.Sprintf("0–%d", MaxRate), "%d is out of range", p.Rate)
	}
	if p.Concurrent < 0 || p.Concurrent > MaxConcurrent {
		return memory.Invalid("concurrent", fmt.Sprintf("0–%d", MaxConcurrent), "%d is out of range", p.Concurrent)
	}
	for _, x := range p.Projects {
		if x.ID == "" {
			return memory.Invalid("projects", "ids of projects", "one has no id")
		}
	}
	return nil
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
