// Package fsx is about files and folders that other programs write to as well. It
// opens them without waiting, reads when they changed, writes a file whole or not at
// all, and opens folders of a repository that no symbolic link leads out of. Everything
// that recalld reads or writes in a repository goes through it.
//
// Opening a named pipe for reading blocks until a writer opens it, so a pipe in the
// place of a file or folder would block its reader for ever. Checking before opening is
// not enough: the pipe may take the file's place in between.
//
// A folder is named by a root, usually the repository's, and a path below it. An
// absolute path is its own root.
package fsx
