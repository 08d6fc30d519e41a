package cli

import (
	"os"
	"os/exec"
	"strings"
)

// page shows a text in the user's pager, and says whether it did: not where none is wanted
// or found. The text was made visible, so the pager may pass its colours on.
func (a *App) page(text string) (shown bool) {
	if a.noPager || !a.opts.OutTerminal || !a.capable() {
		return false
	}
	line, set := a.opts.Getenv("RECALLD_PAGER"), true
	if line == "" {
		line, set = a.opts.LookupEnv("PAGER")
	}
	if !set {
		line = "less"
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "cat" {
		return false
	}
	program, err := a.opts.LookPath(words[0])
	if err != nil {
		return false // the text itself is worth more than a message
	}
	command := exec.Command(program, words[1:]...)
	command.Stdin = strings.NewReader(text)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Env = os.Environ()
	if _, given := a.opts.LookupEnv("LESS"); !given {
		// As git has it: leave if it fits, pass colours on, keep the text on the screen.
		command.Env = append(command.Env, "LESS=FRX")
	}
	if err := command.Start(); err != nil {
		return false
	}
	// A pager that was left early, or by a signal, is no failure of the command.
	_ = command.Wait()
	return true
}
