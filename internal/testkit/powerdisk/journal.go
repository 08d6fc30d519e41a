// Package powerdisk is a disk for tests that loses power.
//
// Mount mounts it as a file system (FUSE, Linux, root). Its files live in memory, and a
// Journal records, in order, every operation that reached it. A cut is a moment of that
// record: Journal.Cut makes the files as a disk may hold them if the power failed then.
// What a sync made durable is there; the rest is there, missing or torn, as Loss says.
//
// Vocabulary. A node is a file or folder, whatever names it. A data operation writes or
// resizes a file; a sync of the file makes those before it durable. A name operation
// creates, renames or removes an entry of a folder; a sync of the folder makes those before
// it durable. A pending operation is not durable yet. A sync of a file also makes the name
// durable that it was created with, as on ext4, XFS, Btrfs and APFS; POSIX does not promise
// that, see Journal.Strict.
//
// Pages of a file that a program has mapped reach the disk as writes when the kernel writes
// them back: at the latest before the sync that msync asks for. So a sync in the journal
// covers what was in the mapped memory, and pages that were never written back are lost.
package powerdisk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// node names a file or folder.
type node uint64

// root is the folder that is mounted.
const root node = 1

// kind is what an operation does.
type kind uint8

const (
	opWrite    kind = iota // node, offset, data
	opResize               // node, offset is the new size
	opSync                 // node, a file
	opSyncDir              // node, a folder
	opCreate               // folder, name, node
	opRename               // folder, name, node, to, toName; replaces what has that name
	opExchange             // likewise; the two nodes exchange their names
	opRemove               // folder, name, node
)

// operation is one that reached the disk.
type operation struct {
	kind   kind
	node   node
	offset int64
	data   []byte
	folder node
	name   string
	to     node
	toName string
	isDir  bool
}

// Journal is the record of a disk. It is safe for concurrent use.
type Journal struct {
	// Strict makes a name durable only when its folder is synced.
	Strict bool
	mu     sync.Mutex
	ops    []operation
}

func (j *Journal) add(o operation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ops = append(j.ops, o)
}

// Len is the number of operations so far. Whatever was answered before the call, its
// operations are among them.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.ops)
}

// Syncs returns the moments just after a sync, and Names those just after a name operation,
// in order: the moments at which most can go wrong.
func (j *Journal) Syncs() []int { return j.after(opSync, opSyncDir) }

// Names is described at Syncs.
func (j *Journal) Names() []int { return j.after(opCreate, opRename, opExchange, opRemove) }

func (j *Journal) after(kinds ...kind) (at []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, o := range j.ops {
		if slices.Contains(kinds, o.kind) {
			at = append(at, i+1)
		}
	}
	return at
}

// Loss is what becomes of pending operations.
type Loss string

const (
	// LoseAll drops every pending operation.
	LoseAll Loss = "all"
	// LoseSome drops some: of each folder the last name operations, of each file any
	// writes, whole or in sectors, and the last changes of its size.
	LoseSome Loss = "some"
	// LoseNames drops all pending name operations and no data.
	LoseNames Loss = "names"
	// LoseData drops all pending data and no names: a file system that writes its own
	// journal first.
	LoseData Loss = "data"
)

// Losses lists all.
var Losses = []Loss{LoseAll, LoseSome, LoseNames, LoseData}

// sector is the unit in which a write is torn, in bytes.
const sector = 512

// entry is a name in a folder.
type entry struct {
	folder node
	name   string
}

// image is what a disk holds.
type image struct {
	names map[entry]node
	files map[node]*content
	dirs  map[node]bool
}

// Cut writes the files as they may be if the power fails after the first at operations into
// a new folder. The same random source makes the same files.
func (j *Journal) Cut(at int, loss Loss, random *rand.Rand, dir string) error {
	j.mu.Lock()
	ops := j.ops[:at:at]
	j.mu.Unlock()
	durable := durables(ops, j.Strict)
	return surviving(ops, chooser(ops, durable, loss, random)).write(root, dir)
}

// surviving applies the operations that survive. Data and names are apart: a name that is
// kept may be that of a file whose data is lost.
func surviving(ops []operation, keep func(i int) (whole bool, sectors func() bool)) *image {
	x := &image{names: map[entry]node{}, files: map[node]*content{}, dirs: map[node]bool{root: true}}
	for i, o := range ops {
		switch o.kind {
		case opSync, opSyncDir:
			continue
		case opCreate:
			// A node exists, empty, whether or not its name does.
			if x.dirs[o.node] = o.isDir; !o.isDir && x.files[o.node] == nil {
				x.files[o.node] = &content{}
			}
		}
		if whole, sectors := keep(i); whole {
			x.apply(o)
		} else if sectors != nil {
			x.tear(o, sectors)
		}
	}
	return x
}

// durables reports which operations a later sync made durable.
func durables(ops []operation, strict bool) []bool {
	durable := make([]bool, len(ops))
	// By a sync after the operation that is looked at, of a file or folder, and of a file.
	synced, syncedFile := map[node]bool{}, map[node]bool{}
	for i, o := range slices.Backward(ops) {
		switch o.kind {
		case opSync, opSyncDir:
			synced[o.node] = true
			syncedFile[o.node] = o.kind == opSync && !strict
		case opWrite, opResize:
			durable[i] = synced[o.node]
		case opCreate:
			durable[i] = synced[o.folder] || syncedFile[o.node]
		case opRemove:
			durable[i] = synced[o.folder]
		case opRename, opExchange:
			durable[i] = synced[o.folder] || synced[o.to]
		}
	}
	return durable
}

// chooser returns whether an operation is applied whole, or which sectors of a write are.
func chooser(ops []operation, durable []bool, loss Loss, random *rand.Rand) func(i int) (whole bool, sectors func() bool) {
	isName := func(o operation) bool { return o.kind >= opCreate }
	switch loss {
	case LoseAll:
		return func(i int) (bool, func() bool) { return durable[i], nil }
	case LoseNames:
		return func(i int) (bool, func() bool) { return durable[i] || !isName(ops[i]), nil }
	case LoseData:
		return func(i int) (bool, func() bool) { return durable[i] || isName(ops[i]), nil }
	}
	// For each folder and file, the moment after which it loses what is pending.
	last := map[node]int{}
	until := func(n node) int {
		if _, chosen := last[n]; !chosen {
			last[n] = random.IntN(len(ops) + 1)
			if random.IntN(3) == 0 {
				last[n] = len(ops)
			}
		}
		return last[n]
	}
	return func(i int) (bool, func() bool) {
		switch o := ops[i]; {
		case durable[i]:
			return true, nil
		case isName(o):
			return i < until(o.folder), nil
		case i >= until(o.node):
			return false, nil
		case o.kind == opResize:
			return true, nil
		}
		switch random.IntN(4) {
		case 0:
			return false, nil
		case 1:
			return false, func() bool { return random.IntN(2) == 0 }
		}
		return true, nil
	}
}

func (x *image) apply(o operation) {
	from, to := entry{o.folder, o.name}, entry{o.to, o.toName}
	switch o.kind {
	case opWrite:
		x.file(o.node).write(o.data, o.offset)
	case opResize:
		x.file(o.node).resize(o.offset)
	case opCreate:
		x.names[from] = o.node
	case opRemove:
		if x.names[from] == o.node {
			delete(x.names, from)
		}
	case opExchange:
		x.names[from], x.names[to] = x.names[to], x.names[from]
	case opRename:
		if x.names[from] == o.node {
			delete(x.names, from)
		}
		x.names[to] = o.node
	}
}

// tear applies some sectors of a write.
func (x *image) tear(o operation, sectors func() bool) {
	for done := int64(0); done < int64(len(o.data)); {
		next := min((o.offset+done)/sector*sector+sector-o.offset, int64(len(o.data)))
		if sectors() {
			x.file(o.node).write(o.data[done:next], o.offset+done)
		}
		done = next
	}
}

func (x *image) file(n node) *content {
	if x.files[n] == nil {
		x.files[n] = &content{}
	}
	return x.files[n]
}

// write writes a folder with all below it.
func (x *image) write(folder node, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	of := map[string]node{}
	for e, n := range x.names {
		if e.folder == folder && n != 0 {
			of[e.name] = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var err error
		path := filepath.Join(dir, name)
		if x.dirs[of[name]] {
			err = x.write(of[name], path)
		} else if f := x.files[of[name]]; f != nil {
			err = f.save(path)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
