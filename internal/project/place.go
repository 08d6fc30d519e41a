package project

import "github.com/recalld/recalld/internal/memory"

// placeOf is where a project's folder is now, with what stays the same when it is
// renamed: its number on the file system and the moment at which it was made (markOf).
// Numbers are used again, the pair is not, and a copy has another one: nor has
// anything in the folder been written for it. The mark is empty where a file system
// does not tell both; a folder there, or one that was moved to another file system, is
// not known again.
func placeOf(folder string) memory.FolderRef {
	return memory.FolderRef{Folder: folder, Mark: markOf(folder)}
}

// MarkOf is the mark of a folder, by which it is told from another one in its place;
// empty where a file system does not tell.
func MarkOf(folder string) string { return markOf(folder) }

// isThere reports whether the folder with the mark is where it was.
func isThere(p memory.FolderRef) bool { return markOf(p.Folder) == p.Mark }
