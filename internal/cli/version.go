package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/service"
)

// versionInfo is what version answers.
type versionInfo struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionCommand touches neither settings nor daemon: it must work when they do
// not.
func versionCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show this program's version",
		Long:    "Show the version of this program and of the protocol it speaks with the daemon.",
		Example: "  recalld version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionInfo{
				Version: Version(), Protocol: service.Protocol, Go: runtime.Version(),
				Platform: runtime.GOOS + "/" + runtime.GOARCH,
			}
			return a.answer(v, func(w io.Writer) {
				fmt.Fprintf(w, "recalld %s (protocol %d, %s, %s)\n", v.Version, v.Protocol, v.Go, v.Platform)
			})
		},
	}
}

// Version is what the module or the commit that this program was built from
// says; "dev" without either.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}
