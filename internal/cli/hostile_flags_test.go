package cli

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// hostileFlag is a value that a flag must not have, by what is wrong with it.
type hostileFlag struct{ family, value string }

// anyName are the flags whose completions are only some of their values.
var anyName = map[string]bool{"scope": true, "tools": true, "embedder": true, "client": true, "set": true, "flow-tag": true}

// span is the range that a usage states.
var span = regexp.MustCompile(`\d+–\d+`)

// flagCases are made from the type of a flag, the range that its usage states and the words
// that complete it, so that a new flag is tried as well.
func flagCases(c *cobra.Command, f *pflag.Flag) (cases []hostileFlag) {
	add := func(family string, values ...string) {
		for _, v := range values {
			cases = append(cases, hostileFlag{family, v})
		}
	}
	var least, most int
	n, err := fmt.Sscanf(span.FindString(f.Usage), "%d–%d", &least, &most)
	ranged := n == 2 && err == nil
	switch f.Value.Type() {
	case "int":
		add("numbers", "", "x", "1.5", "1e3", "0x", "--1", "1 2", "١", "9223372036854775808", "-9223372036854775809", "NaN")
		add("outside the range", "-1", "-9223372036854775808", "9223372036854775807")
		if ranged {
			add("outside the range", strconv.Itoa(least-1), strconv.Itoa(most+1))
		}
	case "float64":
		add("numbers", "", "x", "0,5", "1e999", "0.5x", "½")
		add("outside the range", "NaN", "Inf", "-Inf", "-0.01", "1e308")
		if ranged {
			add("outside the range", fmt.Sprint(float64(most)+.01))
		}
	case "bool":
		add("words", "", "maybe", "2")
	case "duration":
		add("times", "", "5", "x", "5 parsecs", "1e3h", "h", "9999999999999h", "tomorrow")
		add("outside the range", "-1h", "-1ns", "2000000h")
	default:
		add("texts", "a\xffb")
		if _, allowed := f.Annotations[mayBeEmpty]; !allowed {
			add("empty", "")
		}
		if strings.Contains(f.Usage, sinceUsage) {
			add("times", "yesterday", "2026-13-01", "2026-02-30", "-2d", "999999999d", "2026-01-31 10:00", "9999999999999999999d", "NaNd", "1.5d", "2d2d")
		}
		if f.Value.Type() == "string" && f.Name == "session" {
			add("over the limit", strings.Repeat("é", 10_000))
		}
		if words, ok := c.GetFlagCompletionFunc(f.Name); ok && !anyName[f.Name] {
			known, directive := words(c, nil, "")
			if len(known) > 1 && directive&cobra.ShellCompDirectiveNoFileComp != 0 {
				add("unknown values", "no-such-value", string(known[0])+" ; rm -rf /", strings.ToUpper(string(known[0]))+"x")
			}
		}
	}
	return cases
}

// TestHostileFlags: a value that a flag must not have is refused as wrong usage, in words that
// name the flag; the daemon is asked nothing, and nothing is printed as an answer.
func TestHostileFlags(t *testing.T) {
	underrace.Skip(t, "one command after the other")
	families, home := map[string]int{}, t.TempDir()
	try := func(family string, named string, args ...string) {
		t.Helper()
		families[family]++
		b := benchAt(t, home, nil)
		b.opts.Serve = func(context.Context, config.Config, bool) error { return nil }
		out, errs, code := b.run(args...)
		shown := fmt.Sprintf("%.120q", args)
		switch {
		case code != ExitUsage:
			t.Errorf("%s: recalld %s ends with %d: %.300s%.300s", family, shown, code, errs, out)
		case named != "" && !strings.Contains(errs, named):
			t.Errorf("%s: the refusal of recalld %s does not name %s: %.300s", family, shown, named, errs)
		case out != "" || acted(errs) != "" || len(errs) > 2000:
			t.Errorf("%s: recalld %s prints %.300q, %.300q", family, shown, out, errs)
		}
		for _, call := range b.fake.Calls() {
			t.Errorf("%s: recalld %s asks the daemon: %s", family, shown, call.Operation)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range commands(t) {
		c.SetContext(gone) // completions that ask a daemon have none
		name := strings.TrimPrefix(c.CommandPath(), "recalld ")
		if name == "hook" {
			continue // it fails in silence, as TestHookFailsOpen says
		}
		var base []string
		for _, line := range examples(c) {
			found, rest, err := c.Root().Find(line)
			if err == nil && found == c && len(rest) > 0 && !slices.Contains(rest, "--") {
				base = line
				break
			}
		}
		if base == nil {
			base = strings.Fields(name)
		}
		with := func(more ...string) []string { return append(slices.Clone(base), more...) }
		without := func(name string) []string { // a flag that the example gives stands once
			kept := []string{}
			for i := 0; i < len(base); i++ {
				if base[i] == "--"+name && i+1 < len(base) {
					i++
				} else if !strings.HasPrefix(base[i], "--"+name+"=") {
					kept = append(kept, base[i])
				}
			}
			return kept
		}
		c.InheritedFlags() // merges them
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || c.InheritedFlags().Lookup(f.Name) != nil && name != "recall" {
				return
			}
			for _, bad := range flagCases(c, f) {
				try(bad.family, "--"+f.Name, append(without(f.Name), "--"+f.Name+"="+bad.value)...)
			}
		})
		try("unknown flags", "--nosuch", with("--nosuch")...)
		try("unknown flags", "--jso", with("--jso")...)
		try("unknown flags", "-Z", with("-Z")...)
		if c.Args != nil && c.Args(c, slices.Repeat([]string{"x"}, 5000)) != nil {
			try("too many arguments", "", with(slices.Repeat([]string{"x"}, 5000)...)...)
		}
	}
	total := 0
	for _, family := range slices.Sorted(maps.Keys(families)) {
		t.Logf("%4d %s", families[family], family)
		total += families[family]
	}
	if t.Logf("%4d command lines", total); total < 900 {
		t.Errorf("only %d command lines are tried", total)
	}
}
