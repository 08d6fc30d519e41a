package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/recalld/recalld/embedder"
)

// DefaultBaseURL is the address where Ollama listens by default.
const DefaultBaseURL = "http://127.0.0.1:11434"

// defaultPort is Ollama's default port.
const defaultPort = "11434"

// ServerOptions configure a Server.
type ServerOptions struct {
	// BaseURL is the server's address; DefaultBaseURL when empty. It may have any form that
	// OLLAMA_HOST may have ("127.0.0.1", ":11434", "0.0.0.0:11434"), but that variable is
	// not read here.
	BaseURL string
	// AllowRemote allows a server on another machine, and models that a local server runs
	// elsewhere. Texts then leave this machine: the caller must remove secrets from them
	// first.
	AllowRemote bool
	// Transport carries the requests; nil is a new transport.
	Transport http.RoundTripper
}

// validate fills in the defaults and returns the address.
func (o *ServerOptions) validate() (*url.URL, error) {
	base, err := parseBase(cmp.Or(o.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("read base URL %q: %w", o.BaseURL, err)
	}
	if !o.AllowRemote && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("base URL %q: %w", o.BaseURL, ErrRemote)
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.AllowRemote)
	}
	return base, nil
}

func parseBase(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	bare := !strings.Contains(s, "://")
	if bare {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the scheme is %q, not http or https", u.Scheme)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("only a scheme, a host, a port and a path are allowed")
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host == "" && bare || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // a listening address, which OLLAMA_HOST may be
	}
	if host == "" {
		return nil, errors.New("the host is missing")
	}
	if port == "" && bare {
		port = defaultPort
	}
	u.Host = host
	if port != "" {
		u.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// newTransport returns a transport that, unless remote is set, uses no proxy and connects
// to this machine only, whatever a name resolves to.
func newTransport(remote bool) http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	if remote {
		return t
	}
	t.Proxy = nil
	t.DialContext = (&net.Dialer{
		Timeout: 5 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			if host, _, err := net.SplitHostPort(address); err != nil || !loopback(host) {
				return fmt.Errorf("connect to %s: %w", address, ErrRemote)
			}
			return nil
		},
	}).DialContext
	return t
}

// Server is a client of an Ollama server: its list of models, and fetching one.
// It is safe for concurrent use.
type Server struct {
	api    *api.Client
	http   *http.Client
	remote bool
}

// NewServer returns a client. No connection is made yet.
func NewServer(o ServerOptions) (*Server, error) {
	base, err := o.validate()
	if err != nil {
		return nil, err
	}
	hc := &http.Client{
		Transport: o.Transport,
		// Ollama never redirects; a redirect may lead to any host.
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			return fmt.Errorf("redirected to %s: %w", r.URL.Host, ErrRemote)
		},
	}
	return &Server{api: api.NewClient(base, hc), http: hc, remote: o.AllowRemote}, nil
}

// ModelInfo is a model that the server has and that can embed.
type ModelInfo struct {
	// Name has the form of Options.Model, without ":latest".
	Name string
	// Digest identifies its files: it changes when the model is replaced.
	Digest string
	// Dim is the width of its vectors, 0 if the server does not say.
	Dim int
}

// List returns the models that can embed, ordered by name. The error is
// embedder.ErrUnavailable, or ctx's.
func (s *Server) List(ctx context.Context) ([]ModelInfo, error) {
	list, err := s.api.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list models: %w", classify(ctx, err))
	}
	var infos []ModelInfo
	for _, m := range list.Models {
		dim, _, err := s.describe(ctx, m.Name)
		switch {
		case errors.Is(err, embedder.ErrNotEmbedding), errors.Is(err, embedder.ErrModelNotFound), errors.Is(err, ErrRemote):
			continue // another kind of model, one just removed, or one that is not allowed
		case errors.Is(err, errRunner), errors.Is(err, errRefused):
			continue // the server answers, but cannot read this one
		case err != nil:
			return nil, err
		}
		infos = append(infos, ModelInfo{Name: shortName(m.Name), Digest: m.Digest, Dim: dim})
	}
	slices.SortFunc(infos, func(a, b ModelInfo) int { return cmp.Compare(a.Name, b.Name) })
	return infos, nil
}

// Pull makes the server download a model and returns when it has it. progress, which may be
// nil, is called with each report of the server: a status text, and the bytes of the
// current file (total is 0 while it is not known). The errors are
// embedder.ErrModelNotFound, embedder.ErrUnavailable and ctx's.
func (s *Server) Pull(ctx context.Context, name string, progress func(status string, completed, total int64)) error {
	var last string
	err := s.api.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
		last = p.Status
		if progress != nil {
			progress(p.Status, p.Completed, p.Total)
		}
		return nil
	})
	if err == nil && last != "success" {
		// The client library takes a broken connection for the end of the stream.
		err = fmt.Errorf("the server stopped reporting at %q: %w", last, errDropped)
	}
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "file does not exist") {
		return fmt.Errorf("pull model %s: %w: %w", name, embedder.ErrModelNotFound, err)
	}
	err = classify(ctx, err)
	if known := errors.Is(err, embedder.ErrUnavailable) || errors.Is(err, embedder.ErrModelNotFound); !known && ctx.Err() == nil {
		// Errors between the server and the registry have no type.
		err = fmt.Errorf("%w: %w", embedder.ErrUnavailable, err)
	}
	return fmt.Errorf("pull model %s: %w", name, err)
}

// Close closes idle connections.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// describe asks the server for the width of a model's vectors and for its context. It returns
// ErrNotEmbedding, ErrModelNotFound, ErrRemote or ErrUnavailable.
func (s *Server) describe(ctx context.Context, name string) (dim, size int, err error) {
	show, err := s.show(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	arch, _ := show.ModelInfo["general.architecture"].(string)
	// For servers too old to report capabilities: newer ones derive this capability from
	// the same key.
	_, pools := show.ModelInfo[arch+".pooling_type"]
	if !slices.Contains(show.Capabilities, model.CapabilityEmbedding) && !(show.Capabilities == nil && pools) {
		return 0, 0, fmt.Errorf("model %s: %w", name, embedder.ErrNotEmbedding)
	}
	return number(show.ModelInfo[arch+".embedding_length"]), contextOf(show), nil
}

// show asks the server about a model. It returns ErrRemote for a model that runs elsewhere,
// unless that is allowed, ErrModelNotFound or ErrUnavailable.
func (s *Server) show(ctx context.Context, name string) (*api.ShowResponse, error) {
	show, err := s.api.Show(ctx, &api.ShowRequest{Model: name})
	if err != nil {
		return nil, fmt.Errorf("show model %s: %w", name, classify(ctx, err))
	}
	if show.RemoteHost != "" && !s.remote {
		return nil, fmt.Errorf("model %s runs on %s: %w", name, show.RemoteHost, ErrRemote)
	}
	return show, nil
}

// contextOf returns the model's context as reported by the server, 0 if it is not.
func contextOf(show *api.ShowResponse) int {
	arch, _ := show.ModelInfo["general.architecture"].(string)
	size := number(show.ModelInfo[arch+".context_length"])
	if n := numCtx(show.Parameters); n > 0 && (size == 0 || n < size) {
		size = n
	}
	return size
}

// number returns a number of the server's answer, 0 if it is missing or out of range.
func number(v any) int {
	f, _ := v.(float64)
	if f < 0 || f > 1<<24 {
		return 0
	}
	return int(f)
}

// numCtx finds "num_ctx 512" among the parameters of a Modelfile, 0 if it is not there.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		var n int
		if _, err := fmt.Sscanf(line, "num_ctx %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// shortName removes the default tag.
func shortName(name string) string { return strings.TrimSuffix(name, ":latest") }
