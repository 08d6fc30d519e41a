package project

import "github.com/recalld/recalld/internal/memory"

// placeOf returns the place of a folder and its mark, which stays when the folder is
// renamed: its number in the file system and the time of its creation (markOf). Numbers are
// reused, the pair is not, and a copy has another one. Nothing is written into the folder.
// The mark is empty if the file system lacks either value; such a folder, or one moved to
// another file system, is not recognised again.
func placeOf(folder string) memory.FolderRef {
	return memory.FolderRef{Folder: folder, Mark: markOf(folder)}
}

// MarkOf returns the mark of a folder, which distinguishes it from another one at its
// path; empty if the file system has none.
func MarkOf(folder string) string { return markOf(folder) }

// isThere reports whether the folder with the mark is still at its path.
func isThere(p memory.FolderRef) bool { return markOf(p.Folder) == p.Mark }
