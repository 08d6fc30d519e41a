package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/recalld/recalld/internal/memory"
)

// A value on disk is a format version (1 byte), the payload, and a CRC-32C over the key and
// these bytes (4 bytes, big endian). Payloads are CBOR unless their type says otherwise.
const (
	valueVersion  = 1
	valueOverhead = 5
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// seal wraps a payload for a key.
func seal(key, payload []byte) []byte {
	out := make([]byte, 0, len(payload)+valueOverhead)
	out = append(out, valueVersion)
	out = append(out, payload...)
	return binary.BigEndian.AppendUint32(out, checksum(key, out))
}

// unseal checks a value and returns its payload, which shares value's memory.
func unseal(key, value []byte) ([]byte, error) {
	if len(value) < valueOverhead {
		return nil, corrupt(key, "the value is too short")
	}
	body, sum := value[:len(value)-4], binary.BigEndian.Uint32(value[len(value)-4:])
	if checksum(key, body) != sum {
		return nil, corrupt(key, "the checksum does not match")
	}
	if body[0] != valueVersion {
		return nil, corrupt(key, fmt.Sprintf("unknown format %d", body[0]))
	}
	return body[1:], nil
}

// checksum is the CRC-32C of bytes that follow each other.
func checksum(parts ...[]byte) uint32 {
	sum := uint32(0)
	for _, b := range parts {
		sum = crc32.Update(sum, castagnoli(), b)
	}
	return sum
}

func corrupt(key []byte, what string) error {
	return memory.Errorf(memory.CodeCorrupt, "stored value %q: %s", key, what)
}

// get reads a key and passes its payload to fn, which must not keep it.
func get(txn *badger.Txn, key []byte, fn func(payload []byte) error) error {
	item, err := txn.Get(key)
	if err != nil {
		return err
	}
	return item.Value(func(v []byte) error {
		payload, err := unseal(key, v)
		if err != nil {
			return err
		}
		return fn(payload)
	})
}

var codec = sync.OnceValue(func() (c struct {
	enc cbor.EncMode
	dec cbor.DecMode
}) {
	var err error
	if c.enc, err = (cbor.EncOptions{Time: cbor.TimeRFC3339Nano, Sort: cbor.SortBytewiseLexical}).EncMode(); err != nil {
		panic(err) // the options are constant
	}
	if c.dec, err = (cbor.DecOptions{DefaultMapType: reflect.TypeFor[map[string]any]()}).DecMode(); err != nil {
		panic(err)
	}
	return c
})

func encode(v any) ([]byte, error) {
	b, err := codec().enc.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

func decode[T any](payload []byte) (T, error) {
	var v T
	if record, ok := any(&v).(*memory.Record); ok && readRecord(payload, record) {
		return v, nil
	}
	if err := codec().dec.Unmarshal(payload, &v); err != nil {
		return v, memory.Errorf(memory.CodeCorrupt, "decode %T: %w", v, err)
	}
	return v, nil
}

// decodeValue is decode for scan, where the type does not depend on the key.
func decodeValue[T any](_, payload []byte) (T, error) { return decode[T](payload) }

// encodeVector encodes the direction of a vector with one signed byte per component: a
// quarter of the size at a cosine error below .001. The indexes only get vectors that were
// encoded and decoded, so an index filled at ingest equals one rebuilt from disk.
func encodeVector(v []float32) []byte {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	out := make([]byte, len(v))
	for i, x := range v {
		if most > 0 {
			out[i] = byte(int8(math.Round(float64(x) / most * math.MaxInt8)))
		}
	}
	return out
}

// decodeVector decodes a vector and scales it to unit length.
func decodeVector(codes []byte) ([]float32, error) {
	var sum int64
	for _, c := range codes {
		sum += int64(int8(c)) * int64(int8(c))
	}
	if sum == 0 {
		return nil, memory.Errorf(memory.CodeCorrupt, "decode vector: it is zero")
	}
	norm := math.Sqrt(float64(sum))
	v := make([]float32, len(codes))
	for i, c := range codes {
		v[i] = float32(float64(int8(c)) / norm)
	}
	return v, nil
}
