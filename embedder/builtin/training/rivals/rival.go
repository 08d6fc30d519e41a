package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

// rival is a tool with certain flags.
type rival struct {
	name string
	// needs are the programs that it requires.
	needs []string
	// sharing names the rival whose index it uses; empty is its own.
	sharing string
	// index lists the commands that make the index; nil is none.
	index func(r *rival) [][]string
	// ask is the command that answers a question. A tool that cannot answer
	// sentences returns nil for them.
	ask func(r *rival, q question) []string
	// read turns what it printed into results, best first.
	read func(r *rival, out []byte, q question) ([]place, error)
	// end is the command after the last question; nil is none.
	end func(r *rival) []string
	// env is added to the environment of its programs.
	env func(r *rival) []string
	// missed, if set, is called with every question without a hit.
	missed func(q question)

	root    string // the tree
	scratch string // where its index goes
}

// score counts a rival's hits.
type score struct{ asked, first, five int }

func (s score) columns() string {
	if s.asked == 0 {
		return "– | –"
	}
	return fmt.Sprintf("%d of %d | %d", s.first, s.asked, s.five)
}

// measure makes a rival index the tree and answer all questions, and returns its row of the
// table.
func (r *rival) measure(ctx context.Context, asked questions) (row string, err error) {
	for _, program := range r.needs {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(r.scratch, 0o755); err != nil {
		return "", fmt.Errorf("make index folder: %w", err)
	}
	indexing := "– | – | –"
	if r.index != nil {
		if indexing, err = r.makeIndex(ctx); err != nil {
			return "", err
		}
	}
	if r.end != nil {
		defer func() {
			_, _, endErr := r.run(context.WithoutCancel(ctx), r.end(r))
			err = errors.Join(err, endErr)
		}()
	}
	var took []time.Duration
	var scores [2]score
	for i, kind := range [][]question{asked.definitions, asked.sentences} {
		for _, q := range kind {
			command := r.ask(r, q)
			if command == nil {
				break
			}
			out, cost, err := r.run(ctx, command)
			if err != nil {
				return "", err
			}
			found, err := r.read(r, out, q)
			if err != nil {
				return "", fmt.Errorf("read answer: %w", err)
			}
			took = append(took, cost.wall)
			scores[i].asked++
			switch rank := slices.IndexFunc(found, q.right.overlaps); {
			case rank == 0:
				scores[i].first++
				scores[i].five++
			case rank > 0 && rank < 5:
				scores[i].five++
			case r.missed != nil:
				r.missed(q)
			}
		}
	}
	first := took[0]
	slices.Sort(took)
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", r.name, indexing, scores[0].columns(), scores[1].columns(),
		milliseconds(first), milliseconds(took[len(took)/2]), milliseconds(took[len(took)*95/100])), nil
}

// makeIndex returns the columns for the cost of the index.
func (r *rival) makeIndex(ctx context.Context) (string, error) {
	var all cost
	for _, command := range r.index(r) {
		_, one, err := r.run(ctx, command)
		if err != nil {
			return "", err
		}
		all.wall += one.wall
		all.cpu += one.cpu
	}
	size, err := sizeOf(r.scratch)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1f s | %.1f s | %.1f MB", all.wall.Seconds(), all.cpu.Seconds(), float64(size)/1e6), nil
}

// cost is the time of a command.
type cost struct{ wall, cpu time.Duration }

// run runs a command in the tree. Status 1 of grep and similar tools, nothing found, is not
// an error.
func (r *rival) run(ctx context.Context, command []string) ([]byte, cost, error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stderr, cmd.Env = r.root, &errs, os.Environ()
	if r.env != nil {
		cmd.Env = append(cmd.Env, r.env(r)...)
	}
	began := time.Now()
	out, err := cmd.Output()
	took := cost{wall: time.Since(began)}
	if cmd.ProcessState != nil {
		took.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == 1 && errs.Len() == 0 {
		err = nil
	}
	if err != nil {
		return nil, took, fmt.Errorf("run %s: %w: %s", command[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, took, nil
}
