// Package git reads git repositories without running a program that a repository
// configures. It is the only package of the product that starts git.
//
// A repository's own files may be a stranger's: an archive brings its .git folder along.
// git status, diff, checkout and fetch run filters, drivers, hooks, helpers and monitors
// that .git/config names. So recalld reads the index, the references and commits itself,
// and runs only the git commands listed below and in log.go.
//
// Vocabulary. The git folder holds HEAD and the index of one worktree. The common folder
// holds what all worktrees of a repository share: config, references and objects. They are
// the same folder except in a linked worktree.
package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Call is a git command.
type Call struct {
	args []string
	// limit is how long it may take.
	limit time.Duration
}

// The calls that list files; log.go has the others. They run ls-files, a builtin that reads
// the index and the ignore files and looks at the names in the worktree. Without -m, --eol
// and --recurse-submodules it reads no content of a worktree file and no attributes, so it
// runs no filter and no textconv. It does not write the index, so it runs no hook. It prints
// to a pipe, so it starts no pager, and aliases never hide a builtin. The rest is switched
// off by overrides and environment.
var (
	// Files lists the files that git tracks and those that it would track.
	Files = Call{[]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, 30 * time.Second}
	// Tracked lists the files that git tracks.
	Tracked = Call{[]string{"ls-files", "-z", "--cached"}, 10 * time.Second}
	// TrackedIgnored lists the files that git tracks although its ignore rules
	// exclude them.
	TrackedIgnored = Call{[]string{"ls-files", "-z", "--cached", "--ignored", "--exclude-standard"}, 2 * time.Second}
)

// overrides win over the repository's config. Each disables a setting by which a repository
// could make git run a program, or leave the repository.
var overrides = []string{
	"core.fsmonitor=false",            // a program that reports changed files
	"core.hooksPath=" + os.DevNull,    // hooks
	"core.sshCommand=false",           // a fetch of objects that a partial clone lacks:
	"core.gitProxy=false",             // its transports and
	"credential.helper=",              // its helpers;
	"core.alternateRefsCommand=false", // see protocols in environment, too
	"protocol.allow=never",            //
	"submodule.recurse=false",         // repositories in the repository
	"safe.bareRepository=explicit",    // a worktree that looks like a bare repository
	"core.untrackedCache=false",       // the repository's data about its folders
	"core.preloadIndex=false",         // threads that a short call does not need
}

const (
	// maxName and maxListing bound git's output that is read: one name, and all of it, in
	// bytes.
	maxName    = 64 << 10
	maxListing = 1 << 30
	// maxSaid is how much of git's standard error is kept, in bytes.
	maxSaid = 4 << 10
	// endDelay is how long a killed git may keep its output open.
	endDelay = time.Second
)

var (
	// ErrNotAsked is returned when git listed nothing: it is not installed, it
	// refuses the repository, or it reached its time limit before the first name.
	ErrNotAsked = errors.New("git was not asked")
	// ErrSlow is returned when git reached its time limit.
	ErrSlow = errors.New("it took too long")
	// errTooMuch is returned when git writes more than the bounds allow.
	errTooMuch = errors.New("git wrote too much")
)

// Within returns the call with this time limit, unless its own is shorter.
func (c Call) Within(limit time.Duration) Call {
	if c.limit == 0 || limit < c.limit {
		c.limit = limit
	}
	return c
}

// List makes git list files of the worktree with this top folder, and calls name for each,
// relative to root with slashes. If only is not empty, it restricts the listing to its
// paths, taken literally. program is the git program, looked up in PATH. warned says that
// git printed a warning and continued. The error wraps ErrNotAsked if nothing was listed;
// an error of name ends the listing and is returned, as is ctx's.
func List(ctx context.Context, program, root string, call Call, only []string, name func(string) error) (warned bool, err error) {
	listed := 0
	warned, err = read(ctx, program, root, call, only, func(out io.Reader) error {
		var err error
		listed, err = names(out, name)
		return err
	})
	if listed == 0 && errors.Is(err, errEnded) {
		err = fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	return warned, err
}

// errEnded is returned when git ended with an error or by its time limit.
var errEnded = errors.New("git failed")

// read runs git in the worktree with this top folder, and lets take read what it prints.
// The error wraps ErrNotAsked if git did not start, errEnded if git failed; an error of
// take ends git and is returned, as is ctx's.
func read(ctx context.Context, program, root string, call Call, only []string, take func(out io.Reader) error) (warned bool, err error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	if err := readable(root); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	limited, cancel := context.WithTimeout(ctx, call.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, arguments(call, only)...)
	cmd.Dir, cmd.Env = root, environment(root)
	cmd.WaitDelay = endDelay
	alone(cmd)
	var said bytes.Buffer
	cmd.Stderr = &bounded{w: &said, left: maxSaid}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	takeErr := take(out)
	if takeErr != nil {
		cancel() // git may still be writing
	}
	err = cmd.Wait()
	switch {
	case takeErr != nil:
		return false, takeErr
	case ctx.Err() != nil:
		return false, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%w: more than %s", ErrSlow, call.limit)
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w: %s", errEnded, err, bytes.TrimSpace(said.Bytes()))
	}
	return said.Len() > 0, nil
}

func arguments(call Call, only []string) []string {
	args := make([]string, 0, 2*len(overrides)+len(call.args)+len(only)+3)
	for _, o := range overrides {
		args = append(args, "-c", o)
	}
	args = append(args, "--no-pager", "--literal-pathspecs")
	args = append(args, call.args...)
	return append(append(args, "--"), only...)
}

// environment is our own without the variables that direct git, as set in a hook. The
// user's config stays, because core.excludesFile and safe.directory are the user's. The
// system's config is left out.
func environment(root string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name) // Windows ignores case
		if !strings.HasPrefix(name, "GIT_") || name == "GIT_CONFIG_GLOBAL" {
			env = append(env, kv)
		}
	}
	return append(env,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		// Objects that are missing stay missing. No protocol is named none, and unlike
		// protocol.allow this cannot be overridden by protocol.ext.allow.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1",
		// The repository of this folder, not of one above it.
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(root), "GIT_DISCOVERY_ACROSS_FILESYSTEM=0",
		// Without optional locks git does not write to a repository that it reads.
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_PAGER=cat", "GIT_EDITOR=false",
		"LC_ALL=C")
}

// names calls name for each name of a listing and counts them. An unmerged file is
// listed once for each of its versions, and named once.
func names(out io.Reader, name func(string) error) (n int, err error) {
	lines := bufio.NewScanner(io.LimitReader(out, maxListing))
	lines.Buffer(nil, maxName)
	lines.Split(untilNUL)
	last := ""
	read := 0
	for lines.Scan() {
		read += len(lines.Bytes()) + 1
		if string(lines.Bytes()) == last {
			continue
		}
		last = lines.Text()
		n++
		if err := name(last); err != nil {
			return n, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) || read >= maxListing-maxName {
		return n, errTooMuch
	}
	return n, nil // Wait knows what ended the pipe early
}

// bounded writes up to left bytes and discards the rest.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	if _, err := b.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// readable returns an error if git would wait for ever: for the writer of a named pipe in
// place of a file that it reads. Other pipes, in a subfolder or named by the config, delay
// git until its time limit.
func readable(root string) error {
	folder := filepath.Join(root, ".git")
	for _, path := range []string{
		filepath.Join(root, ".gitignore"), folder,
		filepath.Join(folder, "HEAD"), filepath.Join(folder, "config"), filepath.Join(folder, "config.worktree"),
		filepath.Join(folder, "commondir"), filepath.Join(folder, "index"), filepath.Join(folder, "info", "exclude"),
		filepath.Join(folder, "info", "sparse-checkout"), filepath.Join(folder, "packed-refs"),
	} {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return fmt.Errorf("%s is not a regular file", path)
		}
	}
	return nil
}
