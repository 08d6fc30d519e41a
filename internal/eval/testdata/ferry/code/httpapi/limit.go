// Package httpapi serves the public API.
package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

type bucket struct {
	left float64
	at   time.Time
}

// take uses up one token if there is one; tokens come back at a steady rate.
func (b *bucket) take(now time.Time, perSecond, most float64) bool {
	b.left = min(most, b.left+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// caller is the address that a limit counts for: behind our own proxy the last hop that is not ours,
// and of IPv6 the /64 network.
func caller(r *http.Request, own func(netip.Addr) bool) netip.Prefix {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	addr, _ := netip.ParseAddr(host)
	hops := strings.Split(r.Header.Get("X-Forwarded-For"), ",")
	for i := len(hops) - 1; i >= 0 && own(addr); i-- {
		if a, err := netip.ParseAddr(strings.TrimSpace(hops[i])); err == nil {
			addr = a
		}
	}
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}
