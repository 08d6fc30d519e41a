package httpserver

import (
	"crypto/tls"
	"fmt"
	"os"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// LoadCertificate reads the certificate (with those between it and its issuer) and the
// private key of the TCP listener, in PEM. A key that others can read is CodeForbidden.
func LoadCertificate(certificate, key string) (*tls.Certificate, error) {
	info, err := os.Stat(key)
	if err != nil {
		return nil, memory.Invalid("tcp.key", "a file in PEM", "%v", err)
	}
	if fsx.OpenToOthers(info) {
		return nil, &memory.Error{Code: memory.CodeForbidden, Field: "tcp.key", Limit: "mode 0600",
			Message: fmt.Sprintf("others can read %s", key), Hint: "chmod 600 it"}
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, memory.Invalid("tcp.certificate", "a certificate and its key in PEM", "%v", err)
	}
	return &pair, nil
}

// tlsConfig is that of the listener: TLS 1.3 alone, which all clients of these years speak.
func tlsConfig(certificate *tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS13}
}
