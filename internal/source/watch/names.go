package watch

import (
	"path/filepath"
	"strings"
)

// isTemporary reports whether a file is one that editors and desktops create beside an
// edited file and remove again: vim's swap files and its write test (4913), Emacs' locks
// and automatic saves, backups, files of JetBrains and GNOME that become the saved file
// by a rename, and Finder's.
func isTemporary(base string) bool {
	switch {
	case base == "4913", base == ".DS_Store",
		strings.HasSuffix(base, "~"),
		strings.HasPrefix(base, ".#"),
		len(base) > 1 && strings.HasPrefix(base, "#") && strings.HasSuffix(base, "#"),
		strings.HasSuffix(base, "___jb_tmp___"), strings.HasSuffix(base, "___jb_old___"),
		strings.HasPrefix(base, ".goutputstream-"):
		return true
	}
	ext := filepath.Ext(base)
	return strings.HasPrefix(base, ".") && len(ext) == 4 && strings.HasPrefix(ext, ".sw") && 'a' <= ext[3] && ext[3] <= 'z' && base != ext
}

// changesRules reports whether a file of this name changes what is watched. A .git makes
// its folder a separate repository.
func changesRules(base string) bool {
	return base == ".gitignore" || base == ".recalldignore" || base == ".git"
}
