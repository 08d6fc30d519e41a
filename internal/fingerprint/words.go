package fingerprint

import (
	"strings"
	"sync"
)

// phrase is a group of words by which tools say that something failed.
type phrase struct {
	text   string
	weight int
	// fromHere reports whether the core begins with the phrase: the text before it says
	// where, not what.
	fromHere bool
}

// phrases, sorted by text. Phrases with one meaning are not merged: each tool has its own
// wording.
var phrases = [...]phrase{
	{"access denied", specific, false},
	{"address already in use", specific, true},
	{"already exists", weak, false},
	{"assertion failed", specific, true},
	{"assignment mismatch", specific, true},
	{"authentication failed", specific, false},
	{"bad substitution", specific, false},
	{"broken pipe", specific, false},
	{"called 'option::unwrap", specific, true},
	{"called 'result::unwrap", specific, true},
	{"can't", weak, false},
	{"cannot", weak, false},
	{"certificate has expired", specific, false},
	{"certificate signed by unknown authority", specific, true},
	{"certificate verify failed", specific, true},
	{"command not found", specific, false},
	{"conflict (", specific, true},
	{"connection refused", specific, false},
	{"connection reset", specific, false},
	{"connection timed out", specific, false},
	{"core dumped", specific, false},
	{"could not", weak, false},
	{"crashloopbackoff", specific, false},
	{"deadline exceeded", specific, false},
	{"declared and not used", specific, false},
	{"declared but not used", specific, false},
	{"denied", weak, false},
	{"did not match", weak, false},
	{"does not exist", weak, false},
	{"does not implement", specific, false},
	{"duplicate key", specific, false},
	{"errimagepull", specific, false},
	{"error from server", strong, true},
	{"error response from daemon", strong, true},
	{"exit code 126", weak, true},
	{"exit code 127", weak, true},
	{"exit code 134", weak, true},
	{"exit code 137", weak, true},
	{"exit code 139", weak, true},
	{"exit code 143", weak, true},
	{"exited with code 127", weak, true},
	{"exited with code 137", weak, true},
	{"exited with code 139", weak, true},
	{"failed to", weak, false},
	{"failed with", weak, false},
	{"fixture '", specific, true},
	{"forbidden", weak, false},
	{"got an unexpected keyword", specific, false},
	{"has no attribute", specific, false},
	{"has no field or method", specific, false},
	{"host key verification failed", specific, true},
	{"imagepullbackoff", specific, false},
	{"import cycle not allowed", specific, true},
	{"imported and not used", specific, false},
	{"index out of bounds", specific, true},
	{"index out of range", specific, true},
	{"invalid", weak, false},
	{"is not a git repository", specific, false},
	{"is not defined", specific, false},
	{"is not in std", specific, false},
	{"is not recognized", specific, false},
	{"killed", weak, false},
	{"merge conflict", specific, false},
	{"mismatched types", specific, false},
	{"missing <path> entry", specific, true},
	{"missing return", specific, true},
	{"missing separator", specific, false},
	{"module not found", specific, true},
	{"multiple definition of", specific, true},
	{"no matching", weak, false},
	{"no required module provides", specific, true},
	{"no rule to make target", specific, true},
	{"no space left on device", specific, false},
	{"no such file or directory", specific, false},
	{"no such host", specific, false},
	{"non-fast-forward", specific, false},
	{"not a valid", weak, false},
	{"not enough arguments", specific, true},
	{"not found", weak, false},
	{"nothing to be done", 0, false},
	{"oomkilled", specific, false},
	{"operation not permitted", specific, false},
	{"out of memory", specific, false},
	{"panicked at", weak, false},
	{"permission denied", specific, false},
	{"permission denied (", decisive, false},
	{"port is already allocated", specific, false},
	{"redeclared", specific, false},
	{"refused", weak, false},
	{"rejected", weak, false},
	{"relocation", weak, false},
	{"segmentation fault", specific, false},
	{"syntax error", specific, true},
	{"timed out", weak, false},
	{"tls handshake", specific, false},
	{"too many arguments", specific, true},
	{"too many open files", specific, false},
	{"unable to", weak, false},
	{"unauthorized", weak, false},
	{"unbound variable", specific, false},
	{"undeclared", specific, false},
	{"undefined", specific, false},
	{"undefined reference to", specific, true},
	{"undefined symbol", specific, true},
	{"unexpected eof", specific, true},
	{"unexpected token", specific, true},
	{"unknown", weak, false},
	{"unrecognized", weak, false},
	{"unresolved", specific, false},
	{"unsupported", weak, false},
	{"x509", specific, true},
}

// phrasesOf returns the phrases by their first word, sorted by text.
var phrasesOf = sync.OnceValue(func() map[string][]phrase {
	of := map[string][]phrase{}
	for _, p := range phrases {
		w := p.text[:wordLen(p.text)]
		of[w] = append(of[w], p)
	}
	return of
})

// isGeneric reports whether a word says that something failed, not what.
func isGeneric(w string) bool {
	switch w {
	case "a", "aborted", "aborting", "after", "all", "also", "an", "and", "any", "are", "assert", "assertionerror", "at", "be", "been",
		"build", "by", "check", "code", "command", "compilation", "compile", "completed", "could", "did", "does", "due", "e", "elifecycle",
		"err", "error", "errors", "exception", "execution", "exit", "exited", "exiting", "fail", "failed", "failing", "fails", "failure",
		"fatal", "file", "finished", "following", "for", "found", "from", "had", "has", "have", "in", "internal", "is", "it", "job", "line",
		"log", "logs", "make", "more", "no", "non", "nonzero", "not", "npm", "occurred", "of", "on", "one", "or", "output", "panic", "pipeline",
		"previous", "problem", "process", "program", "recipe", "result", "return", "returned", "run", "runner", "running", "script", "see",
		"signal", "some", "something", "status", "step", "stop", "stopped", "stopping", "successfully", "target", "task", "tasks", "terminated",
		"test", "tests", "than", "that", "the", "there", "this", "to", "try", "unknown", "was", "went", "were", "when", "while", "with", "wrong",
		"you", "your", "zero":
		return true
	}
	return false
}

// isErrno reports whether a word is the name of a system error, or of an error of npm in the same
// form.
func isErrno(w string) bool {
	switch w {
	case "e401", "e403", "e404", "e409", "eacces", "eaddrinuse", "eaddrnotavail", "eagain", "eai_again", "ebadengine", "ebadf",
		"ebadplatform", "ebusy", "ecancelled", "ecompromised", "econnaborted", "econnrefused", "econnreset", "edquot", "eexist", "ehostunreach",
		"eintegrity", "einval", "einvalidpackagename", "einvalidtagname", "eio", "eisdir", "ejsonparse", "elifecycle", "eloop", "emfile",
		"emissingarg", "enametoolong", "eneedauth", "enetunreach", "enfile", "enodev", "enoent", "enolocal", "enolock", "enomem", "enospc",
		"enosys", "enotconn", "enotdir", "enotempty", "enotfound", "enotsup", "enoversions", "enoworkspaces", "eotp", "eperm", "epipe", "eproto",
		"epublishconflict", "eresolve", "erofs", "espipe", "etarget", "etimedout", "etxtbsy", "eunsupportedprotocol", "eusage", "eworkspaces",
		"exdev":
		return true
	}
	return false
}

// isTool reports whether a name, beside a system error, says whose error it is.
func isTool(w string) bool {
	switch w {
	case "apt", "brew", "bun", "cargo", "composer", "curl", "deno", "docker", "gcc", "git", "go", "gradle", "helm", "java", "kubectl", "make",
		"maven", "mysql", "nginx", "node", "npm", "npx", "pip", "pnpm", "podman", "poetry", "psql", "pytest", "python", "redis", "rsync", "ruby",
		"rustc", "ssh", "terraform", "tsc", "uv", "vite", "webpack", "yarn":
		return true
	}
	return false
}

// codes returns a finding for each code that a line names, and for each system
// error together with the tool that the line names.
func codes(line string) []finding {
	var found []finding
	tool, errno := "", ""
	for i := 0; i < len(line); {
		n := wordLen(line[i:])
		if n == 0 {
			i++
			continue
		}
		w := line[i : i+n]
		i += n
		switch {
		case w == "ora" && strings.HasPrefix(line[i:], "-") && wordLen(line[i+1:]) == 5:
			found = append(found, finding{"code ora-" + line[i+1:i+6], specific})
		case isOwnErrno(w), isCode(w):
			found = append(found, finding{"code " + w, specific})
		case isTool(w) && tool == "":
			tool = w
		case isErrno(w) && !isGeneric(w) && errno == "":
			errno = w
		}
	}
	if tool != "" && errno != "" {
		found = append(found, finding{"code " + tool + " " + errno, specific})
	}
	return found
}

// isOwnErrno reports whether only npm has such an error.
func isOwnErrno(w string) bool {
	switch w {
	case "ebadengine", "ebadplatform", "eintegrity", "ejsonparse", "eneedauth", "enolock", "enoversions", "eotp", "epublishconflict",
		"eresolve", "etarget", "eunsupportedprotocol", "eusage":
		return true
	}
	return false
}

// isCode reports whether a word is a code that one tool documents: letters of the
// tool with digits (E0382 of rustc, TS2345, MSB3644, P2002 of Prisma), or a
// name like ERR_MODULE_NOT_FOUND.
func isCode(w string) bool {
	if strings.HasPrefix(w, "err_") && strings.Count(w, "_") >= 2 {
		return true
	}
	digits := digitsAtEnd(w)
	switch w[:len(w)-digits] {
	case "e", "cs", "lnk", "msb", "nu", "netsdk", "p":
		return digits == 4
	case "ts":
		return digits == 4 || digits == 5
	case "pgrst":
		return digits == 3
	case "aadsts":
		return digits >= 5
	}
	return false
}
