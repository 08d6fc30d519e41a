package cli

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// uiCommand opens the daemon's web page.
func uiCommand(a *App) *cobra.Command {
	var stay bool
	c := &cobra.Command{
		Use:   "ui",
		Short: "Open the web page of the memory",
		Long: `Open the web page of the memory in the browser: what it holds, what a question finds and
why, and the lessons, to be corrected. The address is of this machine alone, good for
one visit, and for two minutes.`,
		Example: "  recalld ui\n  recalld ui --no-open",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			page, err := ask(c.Context(), a, service.OpenPage, memory.PageRequest{})
			if err != nil {
				return err
			}
			if !stay && a.opts.OutTerminal && !a.json {
				a.browse(page)
			}
			return a.answer(page, func(w io.Writer) { fmt.Fprintln(w, page.URL) })
		},
	}
	c.Flags().BoolVar(&stay, "no-open", false, "print the address and open nothing")
	return c
}

// browse opens a page in the browser, if the system has a way to.
func (a *App) browse(page *memory.Page) {
	line := []string{"xdg-open", page.URL}
	switch runtime.GOOS {
	case "darwin":
		line[0] = "open"
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler", page.URL}
	}
	if path, err := a.opts.LookPath(line[0]); err == nil {
		_ = exec.Command(path, line[1:]...).Start() // the address is printed in any case
	}
}
