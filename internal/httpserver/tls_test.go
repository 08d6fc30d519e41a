package httpserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// certificateFor writes a certificate for a name, signed by itself, and its key.
func certificateFor(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// TestTLS: off loopback the listener speaks TLS 1.3 alone, to those who bear the token and
// call it by a name of its certificate.
func TestTLS(t *testing.T) {
	const name, token = "memory.example", "0123456789abcdef"
	certificate, key := certificateFor(t, name)
	pair, err := LoadCertificate(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenTCP("0.0.0.0:0", pair)
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(ServerOptions{DrainTimeout: time.Second})
	served := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	guard := GuardOptions{Tokens: only(token), Certificate: pair}
	if err := srv.Start(Endpoint{Listener: l, Handler: Guard(served, guard)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Stop(context.Background()) })
	_, port, _ := net.SplitHostPort(l.Addr().String())

	trusted := x509.NewCertPool()
	trusted.AddCert(pair.Leaf)
	client := func(change func(*tls.Config)) *http.Client {
		c := &tls.Config{RootCAs: trusted, ServerName: name}
		change(c)
		transport := &http.Transport{TLSClientConfig: c}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	usual := client(func(*tls.Config) {})
	for what, test := range map[string]struct {
		client              *http.Client
		scheme, host, token string
		origin              string
		want                int // 0 is no answer
	}{
		"by its name":            {client: usual, want: http.StatusOK},
		"by its name and port":   {client: usual, host: name + ":" + port, want: http.StatusOK},
		"by a loopback name":     {client: usual, host: "127.0.0.1:" + port, want: http.StatusOK},
		"by another name":        {client: usual, host: "other.example", want: http.StatusForbidden},
		"without a token":        {client: usual, token: "-", want: http.StatusUnauthorized},
		"from its own origin":    {client: usual, origin: "https://" + name, want: http.StatusOK},
		"from an origin of http": {client: usual, origin: "http://" + name, want: http.StatusForbidden},
		"without TLS":            {client: usual, scheme: "http", want: 0},
		"with TLS 1.2":           {client: client(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })},
		"without trust":          {client: client(func(c *tls.Config) { c.RootCAs = x509.NewCertPool() })},
	} {
		t.Run(what, func(t *testing.T) {
			scheme := "https"
			if test.scheme != "" {
				scheme = test.scheme
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://127.0.0.1:"+port+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = name
			if test.host != "" {
				r.Host = test.host
			}
			r.Header.Set("Authorization", "Bearer "+token+test.token)
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			got := 0
			if answer, err := test.client.Do(r); err == nil {
				got = answer.StatusCode
				_ = answer.Body.Close()
			}
			if got != test.want {
				t.Errorf("status %d, want %d", got, test.want)
			}
		})
	}
}

func TestLoadCertificate(t *testing.T) {
	certificate, key := certificateFor(t, "a.example")
	_, otherKey := certificateFor(t, "b.example")
	open := filepath.Join(t.TempDir(), "key.pem")
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(open, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		certificate, key string
		want             memory.Code
	}{
		"a key of another":     {certificate, otherKey, memory.CodeInvalidInput},
		"no key":               {certificate, key + ".missing", memory.CodeInvalidInput},
		"no certificate":       {certificate + ".missing", key, memory.CodeInvalidInput},
		"a key as certificate": {key, key, memory.CodeInvalidInput},
		"a key for all":        {certificate, open, memory.CodeForbidden},
	} {
		if what == "a key for all" && runtime.GOOS == "windows" {
			continue
		}
		if _, err := LoadCertificate(test.certificate, test.key); memory.CodeOf(err) != test.want {
			t.Errorf("%s: error %v, want %s", what, err, test.want)
		}
	}
}
