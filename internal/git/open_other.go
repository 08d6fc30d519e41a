//go:build !unix

package git

// openNonblock is of no use where named pipes are not files of a folder.
const openNonblock = 0
