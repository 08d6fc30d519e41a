package httpapi

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"time"
)

// login gives the browser a cookie that scripts cannot read.
func login(w http.ResponseWriter, token string, now time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: "ferry", Value: token, Path: "/", Expires: now.Add(14 * 24 * time.Hour),
		HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}

// newToken makes a session token of 32 random bytes.
func newToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// sameOrigin refuses forms that another site sends in the user's name.
func sameOrigin(r *http.Request, host string) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Origin")), []byte("https://"+host)) == 1
}
