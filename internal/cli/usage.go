package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/memory"
)

// usageError marks an error as wrong usage of a command, nil for the program's.
func usageError(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	command := "recalld"
	if c != nil {
		command = c.CommandPath()
	}
	hint := "run '" + command + " --help' to see its usage"
	if c != nil {
		var word string
		if n, _ := fmt.Sscanf(err.Error(), "unknown command %q", &word); n == 1 {
			for distance := 1; distance <= 2; distance++ {
				c.SuggestionsMinimumDistance = distance
				if near := c.SuggestionsFor(word); len(near) > 0 {
					hint = "did you mean '" + command + " " + strings.Join(near, "' or '"+command+" ") + "'?"
					break
				}
			}
		}
	}
	return &memory.Error{Code: memory.CodeInvalidInput, Message: usageText(err.Error()), Hint: hint, Cause: err}
}

// usageText rewords an error of the flag library about a value.
func usageText(text string) string {
	before, number, ok := strings.Cut(text, ": strconv.")
	if !ok {
		return text
	}
	want := "a whole number"
	switch {
	case strings.HasSuffix(number, "out of range"):
		want = "a number of that size"
	case strings.HasPrefix(number, "ParseFloat"):
		want = "a number"
	case strings.HasPrefix(number, "ParseBool"):
		want = "true or false"
	}
	return fmt.Sprintf("%s: it must be %s", before, want)
}

// wrapArgErrors makes wrong positional arguments a usage error that shows the right form.
func wrapArgErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			switch {
			case err == nil || c.HasSubCommands() && !strings.Contains(c.Use, " ") || c.ValidArgs != nil && len(args) == 1:
			case len(args) < strings.Count(strings.SplitN(c.Use, "[", 2)[0], " "):
				err = fmt.Errorf("an argument is missing: recalld %s", strings.TrimPrefix(c.CommandPath()+strings.TrimPrefix(c.Use, c.Name()), "recalld "))
			default:
				err = fmt.Errorf("too many arguments: recalld %s", strings.TrimPrefix(c.CommandPath()+strings.TrimPrefix(c.Use, c.Name()), "recalld "))
			}
			return usageError(c, err)
		}
	}
	for _, sub := range c.Commands() {
		wrapArgErrors(sub)
	}
}

// mayBeEmpty marks a flag that scripts give whether they have a value or not,
// where an empty one asks for no less than none at all.
const mayBeEmpty = "recalld_may_be_empty"

// allowEmpty marks flags of a command as mayBeEmpty.
func allowEmpty(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		must(c.Flags().SetAnnotation(name, mayBeEmpty, nil))
	}
}

// checkTexts refuses a flag that was given and holds nothing: as a rule an unset variable of
// a script, and to take it for no flag at all would ask another question or work on other
// data. It refuses texts that are no UTF-8, too: JSON cannot carry them, so another text
// would reach the daemon.
func checkTexts(c *cobra.Command, args []string) error {
	for _, text := range args {
		if !utf8.ValidString(text) {
			return usageError(c, fmt.Errorf("the argument %.80q is not valid UTF-8", text))
		}
	}
	var refused error
	c.Flags().Visit(func(f *pflag.Flag) {
		if refused != nil || !slices.Contains([]string{"string", "stringSlice", "stringArray"}, f.Value.Type()) {
			return
		}
		texts := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			texts = list.GetSlice()
		}
		_, mayBeEmpty := f.Annotations[mayBeEmpty]
		switch {
		case !mayBeEmpty && (len(texts) == 0 || slices.Contains(texts, "")):
			refused = memory.Invalid("--"+f.Name, "a value", "is given and is empty")
		case slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }):
			refused = memory.Invalid("--"+f.Name, "valid UTF-8", "is not valid UTF-8")
		}
	})
	return refused
}

// helpCommand is cobra's, but that a command that is not known is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show how a command is used",
		Long:    "Show how a command is used. Without one, list the commands.",
		Example: "  recalld help recall",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError(nil, fmt.Errorf("unknown command %q", strings.Join(args, " ")))
			}
			about.InitDefaultHelpFlag() // shown among its flags
			return about.Help()
		},
	}
}
