package daemon

import (
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/mcp"
)

// listen serves the socket and, if the settings say so, TCP.
func (d *Daemon) listen(paths config.Paths) error {
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, d.mcp)
	mux.Handle("/", api.NewHandler(d, api.Options{
		Notice: d.notice,
		Runs:   &d.runs,
		Log:    d.log.With(attrPart, "api"),
	}))
	// Both listeners are there before the first request is served.
	socket, err := httpserver.ListenSocket(paths.Socket)
	if err != nil {
		return err
	}
	d.socket = socket
	d.handler = httpserver.Identify(mux, d.clients)
	endpoints := []httpserver.Endpoint{{Listener: socket, Handler: d.handler}}
	if tcp := d.opts.Config.TCP; tcp.Enabled {
		e, err := tcpEndpoint(tcp, paths.Token, d.clients, mux)
		if err != nil {
			return errors.Join(err, socket.Close())
		}
		d.tcp = e.Listener.Addr().String()
		endpoints = append(endpoints, e)
	}
	for _, e := range endpoints {
		if err := d.server.Start(e); err != nil {
			return err
		}
	}
	return nil
}

// listenToo listens as well where clients look now: a daemon that was started on a
// read-only disk has its socket elsewhere than one of a disk that can be written.
func (d *Daemon) listenToo() error {
	paths := d.opts.Config.Paths()
	if paths.Socket == d.socket.Path() {
		return nil
	}
	if err := paths.Prepare(); err != nil {
		return err
	}
	socket, err := httpserver.ListenSocket(paths.Socket)
	if err != nil {
		return err
	}
	d.second = socket
	return d.server.Start(httpserver.Endpoint{Listener: socket, Handler: d.handler})
}

func tcpEndpoint(c config.TCP, tokenFile string, clients *access.List, h http.Handler) (httpserver.Endpoint, error) {
	token, err := httpserver.OpenToken(tokenFile)
	if err != nil {
		return httpserver.Endpoint{}, err
	}
	var certificate *tls.Certificate
	if c.Certificate != "" {
		if certificate, err = httpserver.LoadCertificate(c.Certificate, c.Key); err != nil {
			return httpserver.Endpoint{}, err
		}
	}
	l, err := httpserver.ListenTCP(c.Address, certificate)
	if err != nil {
		return httpserver.Endpoint{}, err
	}
	guard := httpserver.GuardOptions{Tokens: token.Tokens, Clients: clients, AllowedOrigins: c.AllowedOrigins, Certificate: certificate}
	return httpserver.Endpoint{Listener: l, Handler: httpserver.Guard(h, guard)}, nil
}
