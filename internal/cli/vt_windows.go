package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowColours has consoles act on control sequences, which they do not by default.
func allowColours(files ...*os.File) {
	for _, f := range files {
		var mode uint32
		if handle := windows.Handle(f.Fd()); windows.GetConsoleMode(handle, &mode) == nil {
			_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}
