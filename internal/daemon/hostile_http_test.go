package daemon

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHostileHTTP: what is no request, or two in one, is refused by its status, and the next
// client is answered. Each case has a connection of its own, over TCP with the token.
func TestHostileHTTP(t *testing.T) {
	s, address, token := serveTCP(t)
	auth := "Authorization: Bearer " + token + "\r\nHost: " + address + "\r\n"
	post := func(headers, body string) string {
		return "POST /v1/recall HTTP/1.1\r\n" + auth + headers + "\r\n" + body
	}
	const smuggled = "POST /v1/stop HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, test := range map[string]struct {
		request string
		want    string // the statuses that are right
	}{
		"length and chunks":            {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+smuggled), "400"},
		"two lengths":                  {post("Content-Length: 2\r\nContent-Length: 40\r\n", "{}"+smuggled), "400"},
		"a negative length":            {post("Content-Length: -1\r\n", "{}"), "400"},
		"a length in words":            {post("Content-Length: two\r\n", "{}"), "400"},
		"a huge length":                {post("Content-Length: 99999999999999999999\r\n", "{}"), "400"},
		"a length over the limit":      {post("Content-Length: 8388609\r\n", strings.Repeat("x", 8<<20+1)), "413"},
		"an unknown coding":            {post("Transfer-Encoding: gzip\r\n", "{}"), "501"},
		"two codings":                  {post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), "501 400"},
		"a chunk of a negative length": {post("Transfer-Encoding: chunked\r\n", "-1\r\n{}\r\n0\r\n\r\n"), "400"},
		"a chunk of a huge length":     {post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"), "400"},
		"a chunk in words":             {post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), "400"},
		"a chunk without its end":      {post("Transfer-Encoding: chunked\r\n", "2\r\n{}XX0\r\n\r\n"), "400"},
		"a long chunk extension":       {post("Transfer-Encoding: chunked\r\n", "2;"+strings.Repeat("x", 100_000)+"\r\n{}\r\n0\r\n\r\n"), "400"},
		"a trailer with a token":       {post("Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n", "2\r\n{}\r\n0\r\nAuthorization: x\r\n\r\n"), "400"},
		"a header with NUL":            {post("X: a\x00b\r\nContent-Length: 2\r\n", "{}"), "400"},
		"a name with a space":          {post("Content-Length : 2\r\n", "{}"), "400"},
		"a folded header":              {post("X: a\r\n b\r\nContent-Length: 2\r\n", "{}"), "400"},
		"headers over the limit":       {post("X: "+strings.Repeat("a", 80<<10)+"\r\nContent-Length: 2\r\n", "{}"), "431"},
		"many headers":                 {post(strings.Repeat("X: a\r\n", 20_000)+"Content-Length: 2\r\n", "{}"), "431"},
		"two hosts":                    {"GET /v1/hello HTTP/1.1\r\n" + auth + "Host: evil.example\r\n\r\n", "400"},
		"no host":                      {"GET /v1/hello HTTP/1.1\r\nAuthorization: Bearer " + token + "\r\n\r\n", "400"},
		"another host in the line":     {"GET http://evil.example/v1/hello HTTP/1.1\r\n" + auth + "\r\n", "403"},
		"two tokens, a wrong one":      {"GET /v1/hello HTTP/1.1\r\nAuthorization: Bearer wrong\r\n" + auth + "\r\n", "401"},
		"two clients":                  {"GET /v1/hello HTTP/1.1\r\n" + auth + "Recalld-Client: a\r\nRecalld-Client: b\r\n\r\n", "400"},
		"an unknown client":            {"GET /v1/hello HTTP/1.1\r\n" + auth + "Recalld-Client: nobody\r\n\r\n", "403"},
		"an empty client":              {"GET /v1/hello HTTP/1.1\r\n" + auth + "Recalld-Client:\r\n\r\n", "403"},
		"a method that is none":        {"BREW /v1/recall HTTP/1.1\r\n" + auth + "\r\n", "405"},
		"a wrong method":               {"PUT /v1/recall HTTP/1.1\r\n" + auth + "Content-Length: 2\r\n\r\n{}", "405"},
		"CONNECT":                      {"CONNECT evil.example:443 HTTP/1.1\r\n" + auth + "\r\n", "400 403 404 405"},
		"TRACE":                        {"TRACE /v1/recall HTTP/1.1\r\n" + auth + "\r\n", "405"},
		"another protocol":             {"GET / HTTP/9.9\r\n" + auth + "\r\n", "505 400"},
		"the preface of HTTP/2":        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 400 403"},
		"a path out of the routes":     {"GET /v1/../../etc/passwd HTTP/1.1\r\n" + auth + "\r\n", "307 404"},
		"an encoded path":              {"GET /v1/receipts/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n" + auth + "\r\n", "404"},
		"a path with NUL":              {"GET /v1/receipts/%00 HTTP/1.1\r\n" + auth + "\r\n", "400 404"},
		"a path that is no UTF-8":      {"GET /v1/receipts/%ff%fe HTTP/1.1\r\n" + auth + "\r\n", "400 404"},
		"a path with an escape":        {"GET /v1/receipts/%1b%5b2J HTTP/1.1\r\n" + auth + "\r\n", "400 404"},
		"a bad escape":                 {"GET /v1/receipts/%zz HTTP/1.1\r\n" + auth + "\r\n", "400"},
		"a long path":                  {"GET /" + strings.Repeat("a", 100_000) + " HTTP/1.1\r\n" + auth + "\r\n", "431 404"},
		"TLS":                          {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		"no HTTP":                      {"{\"jsonrpc\": \"2.0\"}\r\n\r\n", "400"},
		"MCP without a type":           {"POST /mcp HTTP/1.1\r\n" + auth + "Content-Length: 2\r\n\r\n{}", "400 415 406"},
		"MCP as a form":                {"POST /mcp HTTP/1.1\r\n" + auth + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}", "400 415 406"},
	} {
		conn, err := net.Dial("tcp", address)
		must(t, err)
		must(t, conn.SetDeadline(time.Now().Add(patience)))
		go func() { _, _ = io.WriteString(conn, test.request) }() // the daemon may close before its end
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		switch {
		case err != nil:
			t.Errorf("%s: no answer: %v", name, err)
		case !strings.Contains(test.want, answer.Status[:3]):
			t.Errorf("%s is answered with %s, want %s", name, answer.Status, test.want)
		}
		_ = conn.Close()
		if _, err := s.Hello(t.Context()); err != nil {
			t.Fatalf("after %s the daemon does not answer: %v", name, err)
		}
	}
}
