package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocumentedCommands holds every command line "recalld …" of the documents against the
// command tree: the command exists, and so do its flags.
func TestDocumentedCommands(t *testing.T) {
	root := documentedTree()
	var files []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../deploy/npm/*.md", "../../deploy/claude-plugin/skills/*/*.md", "../../.github/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	checked := 0
	for _, file := range files {
		if filepath.Base(file) == "CHANGELOG.md" { // it names what is gone, too
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range commandLines(string(text)) {
			checked++
			if problem := problemOf(root, line); problem != "" {
				t.Errorf("%s: recalld %s: %s", filepath.ToSlash(file), line, problem)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d command lines are found: the search is broken", checked)
	}
}

// documentedTree is the command tree with help, which cobra adds when it runs.
func documentedTree() *cobra.Command {
	root := (&App{}).root()
	root.InitDefaultHelpCmd()
	return root
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	inMarks = regexp.MustCompile("`(?:npx |\\$ )?recalld ([^`\n]+)`")
	inBlock = regexp.MustCompile(`(?:^|^\$ |^npx |[|] |&& |\$\(|^bin/|^go run \./cmd/)recalld ([^\n]+)`)
)

// commandLines returns what follows recalld in the command lines of a document: in blocks
// of code at the beginning of a line, else in marks.
func commandLines(text string) []string {
	var all []string
	block := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			block = !block
			continue
		}
		find := inMarks
		if block || strings.HasPrefix(line, "$ ") {
			find = inBlock
		}
		for _, m := range find.FindAllStringSubmatch(line, -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// problemOf says what is wrong with a command line; empty is nothing. Values and arguments
// are not looked at, and neither is what comes after a pipe or comment.
func problemOf(root *cobra.Command, line string) string {
	line = quoted.ReplaceAllString(line, "_")
	for _, end := range []string{" #", " |", ";", "&&", " \\", ")", " >", " <"} {
		line, _, _ = strings.Cut(line, end)
	}
	c := root
	for word := range strings.FieldsSeq(line) {
		name, flag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		name = strings.TrimRight(name, ".,:]'")
		if flag {
			if name != "" && name != "help" && c.Flags().Lookup(name) == nil && !hasFlag(c, name) {
				return "it has no flag --" + name
			}
			continue
		}
		if next := find(c, strings.TrimRight(word, ".,:'")); next != nil {
			c = next
		} else if c == root && !strings.HasPrefix(word, "-") {
			if before, _, ok := strings.Cut(strings.TrimSpace(line), word); ok && strings.Contains(before, "--") { // the value of a global flag
				continue
			}
			return "there is no command " + word
		}
	}
	return ""
}

func find(c *cobra.Command, name string) *cobra.Command {
	for _, child := range c.Commands() {
		if child.Name() == name || child.HasAlias(name) {
			return child
		}
	}
	return nil
}

// hasFlag reports whether a command has a flag by inheritance, or one of its subcommands
// has it: documents name groups with a flag of theirs.
func hasFlag(c *cobra.Command, name string) bool {
	for p := c; p != nil; p = p.Parent() {
		found := false
		p.PersistentFlags().VisitAll(func(f *pflag.Flag) { found = found || f.Name == name })
		if found {
			return true
		}
	}
	return false
}

func TestDocumentedCommandsAreChecked(t *testing.T) {
	root := documentedTree()
	for line, want := range map[string]string{
		" recall parseRetryAfter":                            "",
		" --data /tmp/x up .":                                "",
		" backup list":                                       "",
		" doctor --requeue all":                              "",
		" status --json | jq -r .socket":                     "",
		` remember --type error --command "npm --no-such" x`: "",
		" recal x":              "no command",
		" recall --no-such x":   "no flag",
		" status --requeue all": "no flag",
		" connect claude-code --remove --no-such-either": "no flag",
	} {
		if got := problemOf(root, line); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("recalld%s: %q, want %q", line, got, want)
		}
	}
}
