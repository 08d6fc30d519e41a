package powerdisk

import (
	"context"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Disk is a mounted disk.
type Disk struct {
	// Dir is where it is mounted.
	Dir     string
	Journal Journal
	server  *fuse.Server
	nodes   atomic.Uint64
	// delay is how long a write or sync takes, in nanoseconds.
	delay atomic.Int64
	// failing makes syncs fail.
	failing atomic.Bool
}

// Mount mounts an empty disk. It needs root and /dev/fuse. Whoever mounts closes.
func Mount(dir string) (*Disk, error) {
	d := &Disk{Dir: dir}
	d.nodes.Store(uint64(root))
	top := &inode{disk: d, id: root, mode: syscall.S_IFDIR | 0o700, changed: time.Now()}
	server, err := fs.Mount(dir, top, &fs.Options{
		MountOptions: fuse.MountOptions{
			DirectMountStrict: true, FsName: "powerdisk", Name: "powerdisk", DisableXAttrs: true, MaxWrite: 1 << 20,
			Logger: log.New(io.Discard, "", 0),
		},
		Logger: log.New(io.Discard, "", 0),
	})
	if err != nil {
		return nil, err
	}
	d.server = server
	return d, nil
}

// Close unmounts the disk. Nobody may have a file of it open any more.
func (d *Disk) Close() error { return d.server.Unmount() }

// Slow makes every write and every sync take that long.
func (d *Disk) Slow(delay time.Duration) { d.delay.Store(int64(delay)) }

// FailSyncs makes every sync fail with an input/output error, until it is called with false.
func (d *Disk) FailSyncs(fail bool) { d.failing.Store(fail) }

func (d *Disk) wait() {
	if delay := d.delay.Load(); delay > 0 {
		time.Sleep(time.Duration(delay))
	}
}

// inode is a file or folder. The tree of names is kept by go-fuse.
type inode struct {
	fs.Inode
	disk *Disk
	id   node

	mu      sync.Mutex // guards what is below
	content content
	mode    uint32
	changed time.Time
}

var (
	_ fs.NodeGetattrer = (*inode)(nil)
	_ fs.NodeSetattrer = (*inode)(nil)
	_ fs.NodeOpener    = (*inode)(nil)
	_ fs.NodeReader    = (*inode)(nil)
	_ fs.NodeWriter    = (*inode)(nil)
	_ fs.NodeFsyncer   = (*inode)(nil)
	_ fs.NodeAllocater = (*inode)(nil)
	_ fs.NodeCreater   = (*inode)(nil)
	_ fs.NodeMkdirer   = (*inode)(nil)
	_ fs.NodeMknoder   = (*inode)(nil)
	_ fs.NodeUnlinker  = (*inode)(nil)
	_ fs.NodeRmdirer   = (*inode)(nil)
	_ fs.NodeRenamer   = (*inode)(nil)
	_ fs.NodeStatfser  = (*inode)(nil)
)

func (n *inode) attr(out *fuse.Attr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	out.Ino, out.Mode, out.Nlink = uint64(n.id), n.mode, 1
	out.Size, out.Blksize = uint64(n.content.size), block
	out.Blocks = uint64(len(n.content.blocks)) * (block / sector)
	out.SetTimes(&n.changed, &n.changed, &n.changed)
}

func (n *inode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.attr(&out.Attr)
	return 0
}

func (n *inode) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.mu.Lock()
	if mode, is := in.GetMode(); is {
		n.mode = n.mode&syscall.S_IFMT | mode&0o7777
	}
	if at, is := in.GetMTime(); is {
		n.changed = at
	}
	if size, is := in.GetSize(); is {
		n.resize(int64(size))
	}
	n.mu.Unlock()
	n.attr(&out.Attr)
	return 0
}

// resize is called with mu held.
func (n *inode) resize(size int64) {
	n.content.resize(size)
	n.changed = time.Now()
	n.disk.Journal.add(operation{kind: opResize, node: n.id, offset: size})
}

// Open needs no handle of its own: the kernel caches pages, so that files can be mapped.
func (n *inode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *inode) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fuse.ReadResultData(dest[:n.content.read(dest, offset)]), 0
}

func (n *inode) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.disk.wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.content.write(data, offset)
	n.changed = time.Now()
	n.disk.Journal.add(operation{kind: opWrite, node: n.id, offset: offset, data: append([]byte(nil), data...)})
	return uint32(len(data)), 0
}

// Fsync syncs a file or a folder.
func (n *inode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.disk.wait()
	if n.disk.failing.Load() {
		return syscall.EIO
	}
	kind := opSync
	if n.IsDir() {
		kind = opSyncDir
	}
	n.disk.Journal.add(operation{kind: kind, node: n.id})
	return 0
}

// Allocate gives a file a size; FALLOC_FL_KEEP_SIZE (1) changes nothing that can be seen.
func (n *inode) Allocate(_ context.Context, _ fs.FileHandle, offset, size uint64, mode uint32) syscall.Errno {
	const keepSize = 1
	if mode&^keepSize != 0 {
		return syscall.EOPNOTSUPP
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if end := int64(offset + size); mode == 0 && end > n.content.size {
		n.resize(end)
	}
	return 0
}

func (n *inode) child(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) *fs.Inode {
	c := &inode{disk: n.disk, id: node(n.disk.nodes.Add(1)), mode: mode, changed: time.Now()}
	c.attr(&out.Attr)
	n.disk.Journal.add(operation{kind: opCreate, folder: n.id, name: name, node: c.id, isDir: mode&syscall.S_IFMT == syscall.S_IFDIR})
	return n.NewPersistentInode(ctx, c, fs.StableAttr{Mode: mode & syscall.S_IFMT, Ino: uint64(c.id)})
}

func (n *inode) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return n.child(ctx, name, syscall.S_IFREG|mode&0o7777, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *inode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.child(ctx, name, syscall.S_IFDIR|mode&0o7777, out), 0
}

func (n *inode) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.child(ctx, name, mode, out), 0
}

func (n *inode) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.Journal.add(operation{kind: opRemove, folder: n.id, name: name, node: n.idOf(name)})
	return 0
}

func (n *inode) Rmdir(ctx context.Context, name string) syscall.Errno {
	if c := n.GetChild(name); c != nil && len(c.Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

func (n *inode) Rename(_ context.Context, name string, parent fs.InodeEmbedder, toName string, flags uint32) syscall.Errno {
	to, ours := parent.(*inode)
	if !ours {
		return syscall.EXDEV
	}
	kind := opRename
	switch flags {
	case 0:
	case fs.RENAME_EXCHANGE:
		kind = opExchange
	default:
		return syscall.EINVAL
	}
	n.disk.Journal.add(operation{kind: kind, folder: n.id, name: name, node: n.idOf(name), to: to.id, toName: toName})
	return 0
}

// idOf is the node that a name of a folder stands for, 0 if there is none.
func (n *inode) idOf(name string) node {
	if c, ours := n.operationsOf(name).(*inode); ours {
		return c.id
	}
	return 0
}

func (n *inode) operationsOf(name string) fs.InodeEmbedder {
	if c := n.GetChild(name); c != nil {
		return c.Operations()
	}
	return nil
}

// Statfs says that there is room: a store that finds none refuses writes.
func (n *inode) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 64 << 30 / block
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail, out.NameLen = block, block, blocks, blocks, blocks, 255
	return 0
}
