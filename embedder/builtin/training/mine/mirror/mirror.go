// Package mirror reads bare git repositories: the files and the history of one commit,
// through the git program. Repositories may lack their largest files; these are skipped,
// and no network is used.
package mirror

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
	"strconv"
	"strings"
)

// Repository is one commit of a repository on disk.
type Repository struct {
	dir    string
	commit string
}

// Open returns the repository "owner/name" below a folder of mirrors, which keeps it as
// owner+name/repo or owner+name/repo/.git, at a commit. It returns an error if the commit
// does not exist.
func Open(ctx context.Context, mirrors, name, commit string) (*Repository, error) {
	dir := filepath.Join(mirrors, strings.Replace(name, "/", "+", 1), "repo")
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		dir = filepath.Join(dir, ".git")
	}
	r := &Repository{dir: dir, commit: commit}
	if _, err := r.git(ctx, "cat-file", "-e", commit+"^{commit}").Output(); err != nil {
		return nil, fmt.Errorf("find commit %s of %s: %w", commit, name, err)
	}
	return r, nil
}

// File is a file of the commit.
type File struct {
	Path string
	Size int64 // bytes
	id   string
}

// Files lists the existing files, in order of their paths.
func (r *Repository) Files(ctx context.Context) ([]File, error) {
	out, err := r.git(ctx, "ls-tree", "-r", "-l", "-z", r.commit).Output()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	var files []File
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if !ok || len(fields) != 4 || fields[1] != "blob" || fields[0] == "120000" {
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			continue // git writes a word in place of the size of a missing file
		}
		files = append(files, File{name, size, fields[2]})
	}
	return files, nil
}

// Read passes the content of each file to take, in order.
func (r *Repository) Read(ctx context.Context, files []File, take func(File, []byte)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.git(ctx, "cat-file", "--batch")
	var ids strings.Builder
	for _, f := range files {
		ids.WriteString(f.id + "\n")
	}
	cmd.Stdin = strings.NewReader(ids.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("open pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	in := bufio.NewReaderSize(out, 1<<20)
	for _, f := range files {
		content, err := readObject(in)
		if err != nil {
			cancel()
			_ = cmd.Wait() // it was stopped
			return fmt.Errorf("read %s: %w", f.Path, err)
		}
		if content != nil {
			take(f, content)
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	return nil
}

// readObject reads one answer of cat-file; content is nil for a missing object.
func readObject(in *bufio.Reader) (content []byte, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	fields := strings.Fields(head) // id, type, size
	if len(fields) == 2 && fields[1] == "missing" {
		return nil, nil
	}
	if len(fields) != 3 {
		return nil, fmt.Errorf("read header: %q is none", head)
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, fmt.Errorf("read size: %w", err)
	}
	content = make([]byte, size+1) // and a line break
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, fmt.Errorf("read content: %w", err)
	}
	return content[:size], nil
}

// Commit is one entry of the history.
type Commit struct {
	Author  string // name and address
	Message string
	// Added are the lines that the commit adds, file by file, if requested.
	Added string
}

// Messages passes the commits to take, without merges, the newest first.
func (r *Repository) Messages(ctx context.Context, take func(Commit)) error {
	return r.log(ctx, take, "--format=%x00%an <%ae>%x01%B%x01")
}

// Changes passes the newest commits, without merges, to take with the lines they add. If a
// needed version is missing in the mirror, the history ends without an error.
func (r *Repository) Changes(ctx context.Context, most int, take func(Commit)) error {
	err := r.log(ctx, take, "--format=%x00%an <%ae>%x01%B%x01", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-renames", "--diff-filter=AM",
		"--min-parents=1", "-n", strconv.Itoa(most))
	var stopped *exec.ExitError
	if errors.As(err, &stopped) && ctx.Err() == nil {
		return nil
	}
	return err
}

func (r *Repository) log(ctx context.Context, take func(Commit), args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.git(ctx, append(append([]string{"log", "--no-merges"}, args...), r.commit)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("open pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		entry, err := in.ReadString(0)
		if c, ok := parseCommit(entry); ok {
			take(c)
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	return nil
}

// parseCommit parses an entry of the log.
func parseCommit(entry string) (c Commit, ok bool) {
	parts := strings.SplitN(strings.TrimSuffix(entry, "\x00"), "\x01", 3)
	if len(parts) != 3 {
		return Commit{}, false
	}
	return Commit{Author: parts[0], Message: strings.TrimSpace(parts[1]), Added: addedLines(parts[2])}, true
}

// addedLines returns the lines that a patch adds, with a blank line between
// places.
func addedLines(patch string) string {
	var b bytes.Buffer
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "+"):
			b.WriteString(line[1:])
		case strings.HasPrefix(line, "@@") && b.Len() > 0:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// git returns a git command on the repository. It neither fetches missing objects nor reads
// settings of the machine.
func (r *Repository) git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + r.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	return cmd
}
