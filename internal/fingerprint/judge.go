package fingerprint

import (
	"slices"
	"strings"
)

// Weights of findings, from casual mentions to messages of tools.
const (
	weak     = 1 // a phrase of failure
	specific = 2 // a code, or a phrase that belongs to one kind of error
	strong   = 3 // the text after "error:" or "fatal:"
	decisive = 4 // a named exception, or an error with its code
)

// judge finds the core of the error in a normalised line.
func judge(line string) (finding, bool) {
	line, npm := cutNpm(trimPrefixes(line))
	if line == "" || isWrapper(line) || npm && isNpmNote(line) {
		return finding{}, false
	}
	var best finding
	take := func(start, weight int) {
		core := line[start:]
		if start > 0 && line[start-1] == '\'' {
			core, _, _ = strings.Cut(core, "'") // a quoted message
		}
		core = cut(strings.Trim(core, " .,:;!-"), maxCore)
		// The last of the strong findings is the cause of those before it.
		if weight < best.weight && (best.weight < strong || weight < strong) || !tells(core) {
			return
		}
		best = finding{core, weight}
	}
	if npm {
		take(0, weak)
	}
	for i := 0; i < len(line); {
		n := wordLen(line[i:])
		if n == 0 {
			i++
			continue
		}
		// Names with dots are one word: java.net.ConnectException.
		end := i + n
		for end+1 < len(line) && (line[end] == '.' || line[end] == '$') && wordLen(line[end+1:]) > 0 {
			i = end + 1
			end = i + wordLen(line[i:])
		}
		start, weight := sign(line, i, end)
		if weight > 0 {
			take(start, weight)
		}
		i = end
	}
	return best, best.weight > 0
}

// sign reports whether the word line[i:end] is the sign of an error: where its
// core begins and how specific it is, or weight 0.
func sign(line string, i, end int) (start, weight int) {
	w, rest := line[i:end], line[end:]
	switch w {
	case "error", "err", "fatal", "panic", "failure", "critical", "severe":
		switch {
		case strings.HasPrefix(rest, "["): // rustc: error[e0382]: …
			return end + 1, decisive
		case strings.HasPrefix(rest, ": "), strings.HasPrefix(rest, "] "):
			return end + 2, strong
		case strings.HasPrefix(rest, " - "):
			return end + 3, strong
		case w == "error" && strings.HasPrefix(rest, " "):
			// tsc, msbuild, the Visual C++ compiler: error TS2345: …
			n := wordLen(rest[1:])
			if code := rest[1 : 1+n]; strings.HasPrefix(rest[1+n:], ": ") && strings.ContainsAny(code, "0123456789") {
				return end + 1, decisive
			}
		}
	}
	if isException(w) && (strings.HasPrefix(rest, ": ") || rest == "" && i == 0 || strings.HasPrefix(rest, " [")) {
		return i, decisive
	}
	if isErrno(w) && strings.HasPrefix(rest, ":") {
		return i, decisive
	}
	if isErrno(w) && !isGeneric(w) {
		return 0, specific
	}
	// The longest phrase is last.
	for _, p := range slices.Backward(phrasesOf()[w]) {
		behind, ok := strings.CutPrefix(line[i:], p.text)
		if !ok || behind != "" && isWord(behind[0]) && isWord(p.text[len(p.text)-1]) {
			continue
		}
		if p.fromHere {
			return i, p.weight
		}
		return 0, p.weight
	}
	return 0, 0
}

// isException reports whether a word is named like an exception: TypeError,
// NullPointerException. "Error" itself and English words with that ending are not.
func isException(w string) bool {
	switch w {
	case "keyboardinterrupt", "stopiteration", "systemexit":
		return true
	}
	stem, ok := strings.CutSuffix(w, "error")
	if !ok {
		stem, ok = strings.CutSuffix(w, "exception")
	}
	return ok && len(stem) >= 2 && stem[len(stem)-1] != '_'
}

// trimPrefixes removes time, source and place from the front of a line: file positions,
// times, levels in brackets and the names of shells.
func trimPrefixes(line string) string {
	for {
		before := line
		for _, p := range [...]string{"<path>", "<n>", "bash", "sh", "zsh", "-bash", "-zsh", "dash", "vet", "line <n>", "uncaught", "unhandled", "in <n>"} {
			rest, ok := strings.CutPrefix(line, p)
			if !ok {
				continue
			}
			if trimmed := strings.TrimLeft(rest, " :|-"); trimmed != rest && trimmed != "" {
				line = trimmed
			}
		}
		for _, p := range [...]string{"[<n>]", "[error]", "[fatal]", "[err]", "[info]", "[warn]", "(<n>)", "[stderr]", "[main]", "uncaught (in promise)"} {
			if rest, ok := strings.CutPrefix(line, p); ok && rest != "" {
				line = strings.TrimLeft(rest, " :|-")
			}
		}
		if line == before {
			return line
		}
	}
}

// cutNpm removes npm's mark: "npm ERR!" or, since 10, "npm error". npm reports whether the
// line had one.
func cutNpm(line string) (rest string, npm bool) {
	for _, mark := range [...]string{"npm err! ", "npm error ", "pnpm err! "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return rest, true
		}
	}
	return line, false
}

// isNpmNote reports whether a line of npm only accompanies an error.
func isNpmNote(line string) bool {
	for _, p := range [...]string{"a complete log", "path", "syscall", "errno", "dest", "cwd", "command", "signal", "node ", "npm ", "at ", "see ", "this is ",
		"for a full", "fix the", "or retry", "to accept", "<path>", "<url>", "found:", "argv", "lifecycle", "workspace", "location", "if you ",
		"note that", "it is likely", "this command", "you can", "while resolving", "the operation was rejected", "permissions of"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// isWrapper reports whether a line only reports that another command failed.
func isWrapper(line string) bool {
	for _, p := range [...]string{"make: *** [", "make[<n>]: *** [", "collect2: error: ld returned", "error: could not compile", "error: aborting due to",
		"error command failed", "error: command failed", "error: process completed with", "error: subprocess", "command failed with exit code", "error: script",
		"ninja: build stopped", "the command '", "hint:", "note:", "help:", "warning:", "for more information", "at ", "caused by: process",
		// Counts of a run: "0 errors, 2 warnings", "3 failed, 10 passed".
		"no error", "<n> error", "without error", "<n> failed", "<n> passed", "failed: <n>", "errors: <n>", "error: <n> error"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// tells reports whether a core is specific rather than common to many failures.
func tells(core string) bool {
	words, own := 0, 0
	for i := 0; i < len(core); {
		n := wordLen(core[i:])
		if n == 0 {
			i++
			continue
		}
		w := core[i : i+n]
		mark := i > 0 && core[i-1] == '<' && i+n < len(core) && core[i+n] == '>'
		i += n
		if mark {
			continue
		}
		words++
		if !isGeneric(w) && len(w) > 1 && !isDigit(w[0]) {
			own++
			if len(w) >= 12 || isErrno(w) || isCode(w) || isException(w) {
				own++
			}
		}
	}
	return own >= 2 || own == 1 && words >= 3 || isTellingCode(core)
}

// isTellingCode keeps the exit codes with a specific meaning: from 126 on, where a signal
// or the shell ended the command.
func isTellingCode(core string) bool {
	for _, p := range [...]string{"exit code ", "exited with code ", "exit code: ", "exit status "} {
		if i := strings.Index(core, p); i >= 0 {
			code := core[i+len(p):]
			code = code[:wordLen(code)]
			return len(code) == 3 && code >= "126" && code != "255"
		}
	}
	return false
}

// readsAsCode reports whether a line is source code, which mentions errors without
// reporting one.
func readsAsCode(line string) bool {
	line = strings.TrimSpace(line)
	for _, end := range [...]string{"{", ";", "=>", "->", "):", "});"} {
		if strings.HasSuffix(line, end) {
			return true
		}
	}
	for _, part := range [...]string{"rrorf(", "throw new ", "new Error(", "rror.New(", "rrors.New(", ".error(", "raise ", "except ", "catch (", "err != nil",
		"reject(new", "log.Fatal", "panic(", "assert."} {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}
