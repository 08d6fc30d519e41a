package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
)

// Problem is an error as the API shows it (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
}

var kinds = []struct {
	err    error
	status int
	slug   string
}{}

// fail writes an error. What we do not know is a 500 without its text: it may hold data of others.
func fail(w http.ResponseWriter, err error) {
	p := Problem{"about:blank", "internal error", http.StatusInternalServerError}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			p = Problem{"https://ferry.example/problems/" + k.slug, err.Error(), k.status}
		}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// conditional answers 304 where the client has the newest version already.
func conditional(w http.ResponseWriter, r *http.Request, etag string) bool {
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") != etag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
