//go:build !unix

package nowait

// Where named pipes are not files of a folder, nothing waits.
const (
	nonblock   = 0
	folderOnly = ""
)
