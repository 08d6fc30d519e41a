package memory

import "time"

// What people look at and agents do not: counts over time, the files of an index, the map and
// the log.

// ActivityRequest asks how many memories were made when.
type ActivityRequest struct {
	// Project narrows to one, by its id or name; empty is all.
	Project string `json:"project,omitempty" limit:"0-4096"`
	Days    int    `json:"days,omitempty" limit:"1-366" default:"30" desc:"How many days, today included."`
	Caller  Caller `json:"caller,omitzero"`
}

// Activity counts memories by the day on which they were made, in UTC.
type Activity struct {
	Days []DayCount `json:"days" desc:"Oldest first, those without any included."`
	// Before counts what is older.
	Before map[Kind]int `json:"before,omitempty" desc:"What is older than the first day."`
}

// DayCount counts the memories of one day by kind.
type DayCount struct {
	Day    time.Time    `json:"day"`
	Counts map[Kind]int `json:"counts,omitempty"`
}

// RepoFilesRequest lists the files of one indexed folder, by path.
type RepoFilesRequest struct {
	Sandbox string `json:"sandbox" limit:"1-4096" text:"exact" desc:"Id of the folder, as repos gives it."`
	// Path is one file, whose chunks are listed, too.
	Path string `json:"path,omitempty" limit:"0-4096" text:"exact" desc:"Only this file, with its chunks."`
	// Part is in the path of the files wanted; Lang is their language.
	Part  string `json:"part,omitempty" limit:"0-200" desc:"Only files with this in their path."`
	Lang  string `json:"lang,omitempty" limit:"0-200" desc:"Only files of this language."`
	Skip  int    `json:"skip,omitempty" limit:"0-10000000" desc:"How many to leave out at the beginning."`
	Limit int    `json:"limit,omitempty" limit:"1-1000" default:"100"`
}

// RepoFiles is what is indexed of a folder.
type RepoFiles struct {
	Sandbox SandboxState   `json:"sandbox"`
	Total   int            `json:"total" desc:"All files of the folder."`
	Found   int            `json:"found" desc:"Those that the request chose, listed or not."`
	Langs   map[string]int `json:"langs,omitempty" desc:"Files by language, of the whole folder."`
	Files   []IndexedFile  `json:"files" desc:"By path."`
}

// IndexedFile is one file of an index.
type IndexedFile struct {
	Path    string         `json:"path"`
	Lang    string         `json:"lang,omitempty"`
	Size    int64          `json:"size" desc:"In bytes, when it was indexed."`
	ModTime time.Time      `json:"mod_time"`
	Chunks  int            `json:"chunks"`
	Pruned  bool           `json:"pruned,omitempty" desc:"Its chunks gave way to the size limit."`
	Parts   []IndexedChunk `json:"parts,omitempty" desc:"Its chunks, where one file was asked for."`
}

// IndexedChunk is where one chunk of a file is. Its text is read by recall with its id.
type IndexedChunk struct {
	ID        string `json:"id"`
	Symbol    string `json:"symbol,omitempty"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// MapRequest asks for all memories as points.
type MapRequest struct {
	Again bool `json:"again,omitempty" desc:"Compute it anew, in the background."`
}

// MapScale is the largest coordinate of a point.
const MapScale = 65535

// MemoryMap holds all memories as points of a plane: the two directions in which the built-in
// vectors differ most. It is computed once and kept. Each list has one entry per memory.
type MemoryMap struct {
	// Ready says that it is computed; until then it has no points.
	Ready     bool      `json:"ready"`
	At        time.Time `json:"at,omitzero" desc:"When it was computed."`
	Took      Millis    `json:"took_ms,omitempty"`
	Stale     bool      `json:"stale,omitempty" desc:"Something was written since."`
	Kinds     []Kind    `json:"kinds" desc:"Names of the kinds that are numbered in kind."`
	Projects  []string  `json:"projects" desc:"Ids of the projects that are numbered in project."`
	IDs       []string  `json:"ids"`
	X         []int32   `json:"x" desc:"0 to 65535."`
	Y         []int32   `json:"y" desc:"0 to 65535."`
	Kind      []int32   `json:"kind" desc:"Number in kinds."`
	Project   []int32   `json:"project" desc:"Number in projects."`
	Success   []int32   `json:"success" desc:"Share of attempts that worked in percent; -1 where none is known."`
	Age       []int32   `json:"age" desc:"In days, when it was computed."`
	Twins     [][]int32 `json:"twins" desc:"Near-duplicates: groups of places in the lists."`
	Explained float64   `json:"explained" desc:"Share of the variance that the two directions have, 0 to 1."`
}

// LogRequest asks for the last lines of the daemon's log.
type LogRequest struct {
	Lines int `json:"lines,omitempty" limit:"1-1000" default:"100" desc:"Most lines."`
}

// LogLines are lines of the daemon's log.
type LogLines struct {
	Path  string   `json:"path"`
	Lines []string `json:"lines" desc:"Oldest first."`
}
