package cli

import (
	"errors"
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
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && c != nil && unknown.GetSpecifiedShortnames() == "" {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		hint = memory.NearNames("--"+unknown.GetSpecifiedName(), known) + "; " + hint
	}
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

// usageText rewords an error of the flag library about a value, or about flags that exclude
// each other.
func usageText(text string) string {
	if _, set, ok := strings.Cut(text, "are set none of the others can be; ["); ok {
		set, _, _ = strings.Cut(set, "]")
		return "--" + strings.ReplaceAll(set, " ", " and --") + " exclude each other: give one"
	}
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
			form := c.CommandPath() + strings.TrimPrefix(c.Use, c.Name())
			switch {
			case err == nil || c.HasSubCommands() && !strings.Contains(c.Use, " ") || c.ValidArgs != nil && len(args) == 1:
			case len(args) == 0 || check(c, append(slices.Clone(args), "another")) == nil:
				err = fmt.Errorf("an argument is missing: %s", form)
			default:
				err = fmt.Errorf("too many arguments: %s", form)
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

// numberOf marks a flag whose zero is the default, with its field and its bounds.
const numberOf = "recalld_number_of"

// countFlag adds the flag of a field that is a number: what it is, its bounds and its usual
// value. A field of one letter is a shorthand, too.
func countFlag(c *cobra.Command, to *int, field, what string, least, most int, usual any) {
	flag, shorthand, bounds := flagOf(field), "", fmt.Sprintf("%d–%d", least, most)
	if len(field) == 1 {
		shorthand = field
	}
	c.Flags().IntVarP(to, flag, shorthand, 0, fmt.Sprintf("%s, %s (default %v)", what, bounds, usual))
	must(c.Flags().SetAnnotation(flag, numberOf, []string{field, bounds}))
	completeFlag(c, flag, cobra.NoFileCompletions)
}

// checkFlags refuses a number that was given and is zero: the service would take it for the
// default. It refuses a text that was given and holds nothing: as a rule an unset variable of
// a script, and to take it for no flag at all would ask another question or work on other
// data. It refuses texts that are no UTF-8, too: JSON cannot carry them, so another text
// would reach the daemon.
func checkFlags(c *cobra.Command, args []string) error {
	for _, text := range args {
		if !utf8.ValidString(text) {
			return usageError(c, fmt.Errorf("the argument %.80q is not valid UTF-8", text))
		}
	}
	var refused error
	c.Flags().Visit(func(f *pflag.Flag) {
		if number := f.Annotations[numberOf]; refused == nil && number != nil && f.Value.String() == "0" {
			refused = memory.Invalid(number[0], number[1], "0 is out of range")
		}
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
			about, rest, _ := c.Root().Find(args)
			if len(rest) > 0 {
				return usageError(about, fmt.Errorf("unknown command %q for %q", rest[0], about.CommandPath()))
			}
			about.InitDefaultHelpFlag() // shown among its flags
			return about.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) (names []string, _ cobra.ShellCompDirective) {
			about, rest, _ := c.Root().Find(args)
			for _, sub := range about.Commands() {
				if len(rest) == 0 && (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(sub.Name(), typed) {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// environment are the variables that a user may set, besides those of settings.
var environment = []struct{ names, meaning string }{
	{"RECALLD_CONFIG, RECALLD_DATA", "the settings file and the data folder, as --config and --data"},
	{"RECALLD_PAGER, PAGER", "the program that shows long answers; cat, or an empty PAGER, is none"},
	{"VISUAL, EDITOR", "the program that opens code and settings"},
	{"NO_COLOR", "if it is not empty, no colours; --color goes before it"},
	{"CLICOLOR_FORCE", "if it is not empty and not 0, colours in a pipe, too"},
	{"TERM, COLUMNS", "dumb, or none, is no colours and no search; the width where no terminal tells it"},
	{"RECALLD_HOOK_DEBUG", "a file in which a hook that failed leaves a line"},
}

// environmentTopic is a page of help.
func environmentTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString(`Every setting has a variable, RECALLD_ and its name: RECALLD_LOG_LEVEL for log.level.
'recalld config list' lists the settings. A flag goes before a variable, and a variable
before the settings file.

`)
	for _, row := range environment {
		fmt.Fprintf(&text, "  %-28s  %s\n", row.names, row.meaning)
	}
	return &cobra.Command{Use: "environment", Short: "Which variables the program reads", Long: strings.TrimRight(text.String(), "\n")}
}
