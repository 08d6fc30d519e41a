package memory

import "time"

type (
	// BackupRequest asks for a backup.
	BackupRequest struct {
		// Path is the folder of the backups; empty is that of the settings.
		Path string `json:"path,omitempty" limit:"0-4096" text:"exact"`
	}
	// BackupProgress is how far a backup is, in bytes. Total is about what the last one had,
	// 0 for the first.
	BackupProgress struct {
		Done  int64 `json:"done"`
		Total int64 `json:"total"`
	}
)

// Backup is one backup of a store. Sizes are in bytes.
type Backup struct {
	// Store is the id of the store in hexadecimal, Name the time of the backup.
	Store string `json:"store"`
	Name  string `json:"name"`
	// Path is the folder with its files, Data the data folder that was backed up.
	Path      string    `json:"path"`
	Data      string    `json:"data,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Version is that of the program, Schema that of the store's layout.
	Version string `json:"version"`
	Schema  uint64 `json:"schema"`
	// Seq is the number of the last update.
	Seq uint64 `json:"seq"`
	// Records are the records by kind, sessions and files.
	Records map[string]int `json:"records"`
	// Size is the size of all values, Entries their number, Written what the backup added
	// on disk, Stored the size of all files that it needs.
	Size    int64 `json:"size"`
	Entries int   `json:"entries"`
	Written int64 `json:"written"`
	Stored  int64 `json:"stored,omitempty"`
	// Removed is how many older backups were removed.
	Removed int `json:"removed,omitempty"`
	// Damage says why it cannot be used, Newer that only a newer program can restore it.
	Damage string `json:"damage,omitempty"`
	Newer  bool   `json:"newer,omitempty"`
}
