package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// verify checks that a notification was signed by the provider less than five minutes ago.
// The header is "t=SECONDS,v1=HEX".
func verify(secret, body []byte, header string, now time.Time) error {
	fields := map[string]string{}
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	seconds, err := strconv.ParseInt(fields["t"], 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("notification is too old")
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(fields["t"] + "."))
	mac.Write(body)
	got, err := hex.DecodeString(fields["v1"])
	if err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return errors.New("notification is not signed by the provider")
	}
	return nil
}

// inbox remembers the ids of the last notifications: the provider sends some twice.
type inbox struct {
	seen  map[string]bool
	order []string
}

// first says whether an id comes for the first time.
func (i *inbox) first(id string) bool {
	if i.seen[id] {
		return false
	}
	i.seen[id] = true
	i.order = append(i.order, id)
	if len(i.order) > 10_000 {
		delete(i.seen, i.order[0])
		i.order = i.order[1:]
	}
	return true
}
