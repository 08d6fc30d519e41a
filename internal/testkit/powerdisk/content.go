package powerdisk

import (
	"errors"
	"maps"
	"os"
	"slices"
)

// block is the unit in which a content is kept, in bytes.
const block = 4096

// content is the bytes of a file. Blocks that were never written are zeros and take no
// memory: a database preallocates megabytes.
type content struct {
	blocks map[int64]*[block]byte
	size   int64
}

func (c *content) write(data []byte, offset int64) {
	if c.blocks == nil {
		c.blocks = map[int64]*[block]byte{}
	}
	c.size = max(c.size, offset+int64(len(data)))
	for len(data) > 0 {
		at := offset / block
		if c.blocks[at] == nil {
			c.blocks[at] = new([block]byte)
		}
		n := copy(c.blocks[at][offset%block:], data)
		data, offset = data[n:], offset+int64(n)
	}
}

// read fills data from an offset and returns how many bytes there are.
func (c *content) read(data []byte, offset int64) int {
	if offset >= c.size {
		return 0
	}
	data = data[:min(int64(len(data)), c.size-offset)]
	for done := 0; done < len(data); {
		at := offset + int64(done)
		part := data[done:min(len(data), done+int(block-at%block))]
		if b := c.blocks[at/block]; b != nil {
			copy(part, b[at%block:])
		} else {
			clear(part)
		}
		done += len(part)
	}
	return len(data)
}

func (c *content) resize(size int64) {
	if size < c.size {
		maps.DeleteFunc(c.blocks, func(at int64, _ *[block]byte) bool { return at*block >= size })
		if b := c.blocks[size/block]; b != nil {
			clear(b[size%block:])
		}
	}
	c.size = size
}

// save writes a file with holes where there are none of its blocks.
func (c *content) save(path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, at := range slices.Sorted(maps.Keys(c.blocks)) {
		b := c.blocks[at][:]
		if rest := c.size - at*block; rest < block {
			b = b[:max(0, rest)]
		}
		if _, err := f.WriteAt(b, at*block); err != nil {
			return err
		}
	}
	return f.Truncate(c.size)
}
