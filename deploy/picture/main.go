// Command picture draws a terminal with recalld's own answers as an SVG file, for the
// README. Every line is what the program printed on a terminal: it is run by script (of
// util-linux) in an empty home folder, over a small repository that this program writes
// first. Colours of the program are kept; without them, what is bold or code is coloured.
//
//	go run ./deploy/picture -recalld bin/recalld -out docs/terminal.svg
package main

import (
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The terminal: columns, the longest answer in lines, and sizes in pixels.
const (
	columns    = 100
	answerSize = 16
	lineHeight = 19
	charWidth  = 8.4
	margin     = 20
	bar        = 34
)

// shown are the commands, in their order. Those with quiet are run and not drawn.
var shown = []struct {
	line  string
	args  []string
	quiet bool
}{
	{args: []string{"index", "--wait"}, quiet: true},
	{line: `recalld remember --type error --context "publishing from CI" \` + "\n" +
		`    --command "npm ci --cache .npm" --success-rate 9/10 \` + "\n" +
		`    "npm fails with EACCES when its cache belongs to root: use a cache inside the project"`,
		args: []string{"remember", "--type", "error", "--context", "publishing from CI", "--command", "npm ci --cache .npm", "--success-rate", "9/10",
			"npm fails with EACCES when its cache belongs to root: use a cache inside the project"}},
	{line: "recalld recall npm ERR! EACCES permission denied", args: []string{"recall", "npm ERR! EACCES permission denied"}},
	{line: "recalld recall how long do we wait before asking again", args: []string{"recall", "how long do we wait before asking again"}},
	{line: "recalld recall how do I bake bread", args: []string{"recall", "how do I bake bread"}},
}

// source is the file of the small repository.
const source = `package client

import "time"

// parseRetryAfter returns how long the server asks us to wait, at most a minute.
func parseRetryAfter(seconds int) time.Duration {
	return min(time.Duration(seconds)*time.Second, time.Minute)
}
`

func main() {
	program := flag.String("recalld", "bin/recalld", "the program")
	out := flag.String("out", "docs/terminal.svg", "the file to write")
	flag.Parse()
	if err := run(*program, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(program, out string) (err error) {
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	base, err := os.MkdirTemp("", "recalld-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	repo := filepath.Join(base, "shop")
	if err := os.MkdirAll(filepath.Join(repo, "client"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "client", "retry.go"), []byte(source), 0o644); err != nil {
		return err
	}
	recalld := func(args ...string) (string, error) {
		line := quote(program)
		for _, arg := range args {
			line += " " + quote(arg)
		}
		cmd := exec.Command("script", "--quiet", "--return", "--command", line+" 2>"+quote(filepath.Join(base, "errors")), "/dev/null")
		cmd.Dir = repo
		cmd.Env = []string{"HOME=" + base, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + base, "TERM=xterm-256color", fmt.Sprint("COLUMNS=", columns), "PAGER=cat"}
		text, err := cmd.Output()
		if err != nil {
			problems, unread := os.ReadFile(filepath.Join(base, "errors"))
			return "", errors.Join(fmt.Errorf("recalld %s: %w\n%s%s", args[0], err, text, problems), unread)
		}
		return strings.ReplaceAll(string(text), "\r", ""), nil
	}
	defer func() {
		if _, stopErr := recalld("stop"); err == nil {
			err = stopErr
		}
	}()
	var lines []string
	for _, command := range shown {
		answer, err := recalld(command.args...)
		if err != nil {
			return err
		}
		if command.quiet {
			continue
		}
		lines = append(lines, strings.Split("$ "+command.line, "\n")...)
		lines = append(lines, fit(answer)...)
		lines = append(lines, "")
	}
	return os.WriteFile(out, draw(lines[:len(lines)-1]), 0o644)
}

// quote returns a word of a shell's command line.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// fit wraps an answer to the terminal and shortens a long one, which is then marked.
func fit(answer string) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(answer)) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		for !strings.Contains(line, "\x1b[") && utf8.RuneCountInString(line) > columns {
			runes := []rune(line)
			at := columns
			if space := strings.LastIndexByte(string(runes[:columns]), ' '); space > columns/2 {
				at = utf8.RuneCountInString(string(runes[:columns])[:space])
			}
			lines = append(lines, string(runes[:at]))
			line = "   " + strings.TrimLeft(string(runes[at:]), " ")
		}
		lines = append(lines, line)
	}
	if len(lines) > answerSize {
		lines = append(lines[:answerSize-1], "…")
	}
	return lines
}

// draw returns the terminal as SVG. Commands are bright; what is bold or code in an answer
// is coloured.
func draw(lines []string) []byte {
	bold := regexp.MustCompile(`\*\*([^*]+)\*\*`)
	code := regexp.MustCompile("`([^`]+)`")
	var b strings.Builder
	height := bar + margin + len(lines)*lineHeight
	width := int(columns*charWidth) + 2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="recalld remembers a lesson and answers three questions in a terminal">`+"\n", width, height, width, height)
	b.WriteString(`<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}.c{fill:#fff;font-weight:600}.p{fill:#7ee787}.b{fill:#79c0ff;font-weight:600}.k{fill:#ffa657}.d{fill:#8b949e}</style>` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`, width, height)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`, 22+i*18, colour)
	}
	b.WriteByte('\n')
	command := false
	for i, line := range lines {
		if line == "" {
			command = false
			continue
		}
		text := html.EscapeString(strings.ReplaceAll(line, "\x1b", "\x01"))
		switch prompt, isCommand := strings.CutPrefix(text, "$ "); {
		case isCommand:
			command = true
			text = `<tspan class="p">$ </tspan><tspan class="c">` + prompt + `</tspan>`
		case command: // it goes on, or this is the answer
			text = `<tspan class="c">` + text + `</tspan>`
		case strings.Contains(text, "\x01"):
			text = coloured(text)
		default:
			text = code.ReplaceAllString(bold.ReplaceAllString(text, `<tspan class="b">$1</tspan>`), `<tspan class="k">$1</tspan>`)
		}
		command = command && strings.HasSuffix(line, `\`)
		fmt.Fprintf(&b, `<text xml:space="preserve" x="%d" y="%d">%s</text>`+"\n", margin, bar+margin/2+(i+1)*lineHeight-6, text)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// colours are the classes of SGR codes; what is in none of them is drawn as it is.
var colours = map[string]string{"1": "b", "2": "d", "90": "d", "31": "k", "33": "k", "35": "k", "32": "p", "34": "b", "36": "b", "94": "b", "96": "b"}

// coloured draws a line with the colours of the program. Its escapes are \x01 by now.
func coloured(text string) string {
	var b strings.Builder
	open := false
	for i, part := range strings.Split(text, "\x01[") {
		if i > 0 {
			var codes string
			codes, part, _ = strings.Cut(part, "m")
			if open {
				b.WriteString("</tspan>")
				open = false
			}
			for code := range strings.SplitSeq(codes, ";") {
				if class := colours[code]; class != "" && !open {
					fmt.Fprintf(&b, `<tspan class="%s">`, class)
					open = true
				}
			}
		}
		b.WriteString(part)
	}
	if open {
		b.WriteString("</tspan>")
	}
	return b.String()
}
