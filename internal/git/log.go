package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// log lists the newest commits of HEAD with what they say and the files that they changed.
// It compares trees and reads no content of a file, no attributes and no notes, checks no
// signature, and runs no converter or external comparison. Merges say what others said
// before.
var log = Call{args: []string{
	"log", "-z", "--no-merges", "--name-only", "--no-renames", "--no-show-signature", "--no-notes", "--no-decorate", "--no-mailmap", "--no-color",
	"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--diff-algorithm=myers", "-O" + os.DevNull, "--encoding=UTF-8", "--format=%x00" + commitMark + "%ct%x00%B",
}}

// head prints the commit of HEAD.
var head = Call{args: []string{"log", "-n", "1", "--no-show-signature", "--no-decorate", "--no-mailmap", "--no-color", "--format=%H", "HEAD"}}

// Head returns the commit of HEAD. It ends after limit.
func Head(ctx context.Context, program, root string, limit time.Duration) (string, error) {
	var id []byte
	_, err := read(ctx, program, root, head.Within(limit), nil, func(out io.Reader) (err error) {
		id, err = io.ReadAll(io.LimitReader(out, 100))
		return err
	})
	return string(bytes.TrimSpace(id)), err
}

// commitMark begins the time of a commit in the output of log.
const commitMark = "\x01"

// Change is a commit of a history: what it says and the files that it changed.
type Change struct {
	Time    time.Time
	Message string
	Files   []string
}

const (
	// maxMessage bounds what is kept of a message, in bytes.
	maxMessage = 1 << 10
	// maxToken bounds a message or name that is read, in bytes. A longer one ends the list.
	maxToken = 4 << 20
)

// Log returns the newest changes of the history of HEAD, the newest first. Of a change
// with over maxFiles files it returns no files. The changes read before an error are
// returned, too; it ends after limit.
func Log(ctx context.Context, program, root string, most, maxFiles int, limit time.Duration) ([]Change, error) {
	call := Call{append(slices.Clone(log.args), "-n", strconv.Itoa(most)), limit}
	var all []Change
	_, err := read(ctx, program, root, call, nil, func(out io.Reader) (err error) {
		all, err = parseLog(out, maxFiles)
		return err // Wait knows what ended the pipe early
	})
	return all, err
}

// parseLog reads what git wrote, up to an end that may be early. The error is errTooMuch.
func parseLog(out io.Reader, maxFiles int) (all []Change, _ error) {
	tokens := bufio.NewScanner(io.LimitReader(out, maxListing))
	tokens.Buffer(nil, maxToken)
	tokens.Split(untilNUL)
	message := false // the next token is one
	files := 0
	for tokens.Scan() {
		token := tokens.Text()
		at, isTime := strings.CutPrefix(token, commitMark)
		seconds, wrong := strconv.ParseInt(at, 10, 64)
		switch {
		case isTime && wrong == nil:
			all, message, files = append(all, Change{Time: time.Unix(seconds, 0)}), true, 0
		case len(all) == 0:
		case message:
			all[len(all)-1].Message, message = strings.Clone(strings.ToValidUTF8(token[:min(len(token), maxMessage)], "")), false
		default:
			c := &all[len(all)-1]
			if name := strings.TrimPrefix(token, "\n"); name != "" && len(name) <= maxName {
				if files++; files > maxFiles {
					c.Files = nil
				} else {
					c.Files = append(c.Files, name)
				}
			}
		}
	}
	if errors.Is(tokens.Err(), bufio.ErrTooLong) {
		return all, errTooMuch
	}
	return all, nil
}

// untilNUL splits at NUL. A truncated last token does not count.
func untilNUL(data []byte, _ bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}
