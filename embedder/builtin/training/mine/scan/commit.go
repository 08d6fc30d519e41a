package scan

import (
	"strings"
)

// CommitMessage emits the subject of a commit with the body of its message, without the
// trailers.
func CommitMessage(message string, emit Emit) {
	subject, body, _ := strings.Cut(message, "\n")
	subject = CommitSubject(subject)
	var kept []string
	for line := range strings.Lines(body) {
		trimmed := strings.TrimSpace(line)
		if !isTrailer(trimmed) {
			kept = append(kept, trimmed)
		}
	}
	text := strings.TrimSpace(strings.Join(kept, "\n"))
	if wordCount(subject) >= 3 && wordCount(text) >= 8 {
		emit(Pair{Commit, subject, clip(text)})
	}
}

// CommitSubject returns a subject without the numbers and tags around it: "fix(http): close
// bodies (#12)" is "close bodies". It is empty for subjects that do not describe a change.
func CommitSubject(subject string) string {
	subject = strings.TrimSpace(subject)
	lower := strings.ToLower(subject)
	for _, prefix := range []string{"merge ", "revert", "bump ", "release ", "version ", "update changelog", "chore(deps", "build(deps", "fixup!", "squash!", "prepare ", "release notes", "docs: release notes", "changelog", "auto merge", "rollup merge", "backport"} {
		if strings.HasPrefix(lower, prefix) {
			return ""
		}
	}
	if at := strings.LastIndex(subject, "(#"); at > 0 {
		subject = strings.TrimSpace(subject[:at])
	}
	if head, rest, ok := strings.Cut(subject, ": "); ok && wordCount(head) == 1 && wordCount(rest) >= 3 {
		kind, _, _ := strings.Cut(head, "(")
		switch strings.ToLower(strings.TrimRight(kind, "!")) {
		case "fix", "feat", "chore", "docs", "refactor", "test", "tests", "build", "ci", "perf", "style":
			subject = rest
		}
	}
	return subject
}

// isTrailer says whether a line of a message is a trailer or a signature.
func isTrailer(line string) bool {
	key, value, ok := strings.Cut(line, ":")
	if ok && !strings.Contains(key, " ") && strings.Contains(key, "-") && value != "" && key != strings.ToLower(key) {
		return true
	}
	for _, prefix := range []string{"Fixes #", "Closes #", "Refs #", "Fixes:", "Closes:", "PR ", "PiperOrigin", "git-svn-id", "http://", "https://", "Bug:", "(cherry picked", "* ", "Merge ", "Reviewers:", "Link:", "BUG="} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
