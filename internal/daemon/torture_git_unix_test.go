//go:build unix

package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// git runs git in the repository. What it answers with an error is for the caller to
// judge: a conflict is one.
func (v *vandal) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=vandal", "-c", "user.email=vandal@example.org", "-c", "core.quotepath=off", "-c", "gc.auto=0",
		"-c", "commit.gpgsign=false", "-c", "advice.detachedHead=false",
	}, args...)...)
	cmd.Dir = v.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// try runs git where it may well refuse: without a change there is no commit, and it
// does not replace everything that the script has put in its way.
func (v *vandal) try(args ...string) bool {
	_, err := v.git(args...)
	if err != nil {
		v.refused++
	}
	return err == nil
}

// isAway says that there is no repository at its place now.
func (v *vandal) isAway() bool {
	info, err := os.Lstat(v.root)
	return err != nil || !info.IsDir()
}

// commit takes everything in, so that switching and rebasing have something to do.
func (v *vandal) commit() (step, error) {
	if v.isAway() {
		return step{}, nil
	}
	if v.try("add", "-A") {
		v.try("commit", "-q", "-m", "change")
	}
	return step{}, nil
}

var tortureBranches = []string{"main", "left", "right"}

// switchBranch goes to another branch, and throws away what is in its way.
func (v *vandal) switchBranch() (step, error) {
	if v.isAway() {
		return step{}, nil
	}
	to := tortureBranches[v.random.IntN(len(tortureBranches))]
	if _, err := v.git("rev-parse", "--verify", "-q", to); err != nil {
		v.try("switch", "-q", "-c", to)
		return step{}, nil
	}
	v.try("switch", "-q", "--force", to)
	return step{}, nil
}

// rebase puts the branch upon another one. Where they do not agree it leaves the
// files as the conflict has them, or goes back.
func (v *vandal) rebase() (step, error) {
	return v.join("rebase", "-q", "--autostash")
}

func (v *vandal) merge() (step, error) {
	return v.join("merge", "-q", "--no-edit")
}

// join runs a command that goes through several states of the files.
func (v *vandal) join(command ...string) (step, error) {
	if v.isAway() {
		return step{}, nil
	}
	onto := tortureBranches[v.random.IntN(len(tortureBranches))]
	if _, err := v.git("rev-parse", "--verify", "-q", onto); err != nil {
		return step{}, nil
	}
	before := v.heads()
	s := step{between: map[string][]string{}}
	if _, err := v.git(append(command, onto)...); err != nil {
		// What the conflict looks like is there until it is given up.
		if err := v.passing(&s); err != nil {
			return s, err
		}
		v.try(command[0], "--abort")
	}
	return s, v.passed(&s, before)
}

// heads are the commits that the reflog knows, newest first.
func (v *vandal) heads() []string {
	out, err := v.git("reflog", "--format=%H")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

// passing notes the files as they are in the middle of a step.
func (v *vandal) passing(s *step) error {
	files, _, err := onDisk(v.root)
	for name, text := range files {
		if c := v.history.current(name); c == nil || c.text != text {
			s.between[name] = append(s.between[name], text)
		}
	}
	return err
}

// passed notes the files of every commit that a command went through: a rebase checks
// out one after the other.
func (v *vandal) passed(s *step, before []string) error {
	after := v.heads()
	// What was put aside for the while uncovers the commit that it began at.
	after = after[:min(max(len(after)-len(before), 0)+1, len(after))]
	for _, commit := range after {
		listed, err := v.git("ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit)
		if err != nil {
			return err
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
			object, name, ok := strings.Cut(entry, " ")
			if !ok {
				continue // a commit without files
			}
			if _, ok := v.objects[object]; !ok {
				if v.objects[object], err = v.git("cat-file", "blob", object); err != nil {
					return err
				}
			}
			s.between[name] = append(s.between[name], v.objects[object])
		}
	}
	return nil
}

// stash puts changes aside, or brings them back.
func (v *vandal) stash() (step, error) {
	if v.isAway() {
		return step{}, nil
	}
	if out, err := v.git("stash", "list"); err == nil && out != "" {
		if !v.try("stash", "pop", "-q") {
			v.try("stash", "drop", "-q")
		}
		return step{}, nil
	}
	v.try("stash", "push", "-q", "--include-untracked")
	return step{}, nil
}
