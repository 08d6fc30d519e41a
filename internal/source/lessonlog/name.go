package lessonlog

import (
	"strconv"

	"github.com/recalld/recalld/internal/fsx"
)

// maxPlainName is the longest name, in bytes, that is used whole, so that a file's name
// stays under 100 bytes.
const maxPlainName = 80

// FileName returns the name of a repository's log. A name of letters, digits, "._-" and
// bytes outside ASCII stays, "recalld" → "recalld.jsonl". Everything else, and what a
// system could take for a path, a hidden file, an option or a device, becomes "_", and a
// checksum of the name is added, so that two repositories never share a log. The script
// makes the same names, with cksum(1).
func FileName(repo string) string {
	name := mapBytes(repo, func(c byte) bool { return c >= 0x80 || isPlain(c) })
	if len(name) > maxPlainName {
		name = mapBytes(name, isPlain)[:maxPlainName]
	}
	if name == "" {
		name = "_"
	}
	if name[0] == '.' || name[0] == '-' {
		name = "_" + name[1:]
	}
	if fsx.IsDevice(name) {
		name = "_" + name
	}
	if name != repo {
		name += "-" + strconv.FormatUint(uint64(cksum(repo)), 10)
	}
	return name + suffix
}

// mapBytes replaces every byte that keep rejects by "_".
func mapBytes(s string, keep func(byte) bool) string {
	b := []byte(s)
	for i, c := range b {
		if !keep(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// cksum is the checksum of POSIX cksum(1): a CRC of the text and of its length, lowest
// byte first, with Ethernet's polynomial, highest bit first.
func cksum(text string) uint32 {
	crc := uint32(0)
	add := func(c byte) {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04C11DB7
			} else {
				crc <<= 1
			}
		}
	}
	for i := range len(text) {
		add(text[i])
	}
	for n := len(text); n > 0; n >>= 8 {
		add(byte(n))
	}
	return ^crc
}
