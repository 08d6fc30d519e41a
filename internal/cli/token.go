package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// maxKeptToken bounds how long a former token is accepted.
const maxKeptToken = 30 * 24 * time.Hour

// tokenCommand makes a new token for TCP.
func tokenCommand(a *App) *cobra.Command {
	var kept string
	c := &cobra.Command{
		Use:   "token",
		Short: "Make tokens for clients, and say what each may do",
		Long: `Make a new token for clients over TCP and write it to the token's file. A daemon that
runs takes note at once. The former token is accepted for a day, or as --keep says, so
that clients can be told the new one; --keep 0 ends it at once. The token is not printed:
the answer names its file.

add, list and remove are about clients that may do less: each has a token of its own.`,
		Example: "  recalld token\n  recalld token --keep 0\n  recalld token add ci --read-only --projects shop",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			keep, ok := parseAgo(kept)
			if !ok || keep > maxKeptToken {
				return memory.Invalid("keep", "0 to 30d, as 2d or 36h", "%s is no such time", memory.Quote(kept))
			}
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			path := cfg.Paths().Token
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				keep = 0 // there is none to keep
			}
			until := a.opts.Now().Add(keep)
			if err := a.noted(logging.ChangeToken, nil, httpserver.RotateToken(path, a.opts.Now(), keep)); err != nil {
				return err
			}
			answer := map[string]any{"path": path, "former_until": until.UTC()}
			return a.answer(answer, func(w io.Writer) {
				fmt.Fprintf(w, "A new token is in %s\n", render.Printable(path))
				if keep > 0 {
					fmt.Fprintf(w, "The former one is accepted until %s.\n", render.Time(until, "?"))
				}
			})
		},
	}
	c.AddCommand(tokenAddCommand(a), tokenListCommand(a), tokenRemoveCommand(a))
	c.Flags().StringVar(&kept, "keep", "24h", "how long the former token is accepted, at most 30d")
	completeFlag(c, "keep", cobra.NoFileCompletions)
	return c
}
