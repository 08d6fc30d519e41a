package store

import (
	"maps"

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/memory"
)

// FileMetadata returns the metadata of the files of a sandbox, by path. Files whose chunks
// cannot be read are left out.
func (s *Store) FileMetadata(sandbox string) (map[string]memory.FileMetadata, error) {
	type brief struct {
		path     string
		chunkSet chunkSetID
		memory.FileMetadata
	}
	return read(s, func(v View) (map[string]memory.FileMetadata, error) {
		prefix := keyFile(sandbox, "")
		files := map[string]memory.FileMetadata{}
		names := map[string]string{} // one copy of strings that many files share
		same := func(text string) string {
			if kept, ok := names[text]; ok {
				return kept
			}
			names[text] = text
			return text
		}
		s.mu.Lock()
		unread := maps.Clone(s.unread)
		s.mu.Unlock()
		for f := range sound(s, scan(v, prefix, func(k, b []byte) (brief, error) {
			f, id, err := decodeMetadata(b)
			return brief{string(k[len(prefix):]), id, f}, err
		})) {
			if !unread[f.chunkSet] {
				f.Project, f.Lang = same(f.Project), same(f.Lang)
				files[f.path] = f.FileMetadata
			}
		}
		return files, nil
	})
}

// PathsBelow returns the paths of a sandbox's files that are among the given ones or
// below one of them.
func (s *Store) PathsBelow(sandbox string, paths []string) ([]string, error) {
	return read(s, func(v View) ([]string, error) {
		prefix := keyFile(sandbox, "")
		it := v.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
		defer it.Close()
		var found []string
		for _, p := range paths {
			file := keyFile(sandbox, p)
			if it.Seek(file); it.Valid() && string(it.Item().Key()) == string(file) {
				found = append(found, p)
			}
			below := keyFile(sandbox, p+"/")
			for it.Seek(below); it.ValidForPrefix(below); it.Next() {
				found = append(found, string(it.Item().Key()[len(prefix):]))
			}
		}
		return found, nil
	})
}

// PruneFile removes the chunks of a file and reports whether it had any. It reads the file
// inside the update, so that it cannot restore a dropped file or an older state.
func (tx *Tx) PruneFile(sandbox, path string) (bool, error) {
	f, _, _, err := tx.existingFile(sandbox, path)
	if err != nil || f == nil || len(f.Chunks) == 0 {
		return false, err
	}
	pruned := *f
	pruned.Chunks, pruned.Pruned = nil, true
	return true, tx.PutFile(pruned)
}
