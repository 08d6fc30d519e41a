package store

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// encode makes an opaque mark of the last row of a page.
func encode(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(at.UTC().Format(time.RFC3339Nano) + "|" + id))
}

// decode reads a mark back and refuses what encode did not make.
func decode(mark string) (at time.Time, id string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(mark)
	if err != nil {
		return at, "", fmt.Errorf("page mark: %w", err)
	}
	stamp, id, ok := strings.Cut(string(raw), "|")
	if !ok {
		return at, "", fmt.Errorf("page mark has no id")
	}
	at, err = time.Parse(time.RFC3339Nano, stamp)
	return at, id, err
}

// after is the condition that continues behind a row; equal times are told apart by id.
const after = "(created_at, id) < ($1, $2) order by created_at desc, id desc limit $3"
