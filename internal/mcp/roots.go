package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
)

// maxRoots bounds what a client's list of roots may cost.
const maxRoots = 100

// roots is what a session's client said, or will say, about its folders.
type roots struct {
	// known is closed when dirs is final.
	known chan struct{}
	dirs  []string
}

// onRootsKnown asks a client for its roots when it has initialised and
// whenever it says that they changed, so that no call has to wait for them.
func (s *Server) onRootsKnown(ctx context.Context, _ mcpgo.JSONRPCNotification) {
	if session := server.ClientSessionFromContext(ctx); hasRoots(session) {
		s.askRoots(session)
	}
}

// hasRoots says whether the session's client answers roots/list.
func hasRoots(session server.ClientSession) bool {
	client, ok := session.(server.SessionWithClientInfo)
	return ok && client.GetClientCapabilities().Roots != nil
}

// askRoots starts to ask a client for its roots. A client that does not answer
// in time, because it listens to no stream for instance, keeps those it had.
func (s *Server) askRoots(session server.ClientSession) *roots {
	id := session.SessionID()
	asked := &roots{known: make(chan struct{})}
	s.mu.Lock()
	before := s.roots[id]
	s.roots[id] = asked
	s.mu.Unlock()

	s.wg.Go(func() {
		defer close(asked.known)
		ctx, cancel := context.WithTimeout(s.mcp.WithContext(s.ctx, session), s.opts.RootsTimeout)
		defer cancel()
		answer, err := s.mcp.RequestRoots(ctx, mcpgo.ListRootsRequest{})
		if err != nil {
			s.log.Debug("no roots from the client", slog.String("session", id), slog.Any("err", err))
			if before != nil {
				select {
				case <-before.known:
					asked.dirs = before.dirs
				default:
				}
			}
			return
		}
		for _, root := range answer.Roots[:min(len(answer.Roots), maxRoots)] {
			if dir := folderOf(root.URI); dir != "" {
				asked.dirs = append(asked.dirs, dir)
			}
		}
	})
	return asked
}

// caller says who calls and from where: the client's roots, else the folder in
// which the bridge runs.
func (s *Server) caller(ctx context.Context, header http.Header) memory.Caller {
	caller := memory.Caller{Dir: workingFolder(header)}
	session := server.ClientSessionFromContext(ctx)
	if client, ok := session.(server.SessionWithClientInfo); ok {
		caller.Client = client.GetClientInfo().Name
	}
	if caller.Window = header.Get(HeaderWindow); caller.Window == "" {
		caller.Window = connectionWindow(ctx)
	}
	if connectionOf(ctx) == "" || !hasRoots(session) {
		return caller
	}
	s.mu.Lock()
	asked := s.roots[session.SessionID()]
	s.mu.Unlock()
	if asked == nil { // the client left out notifications/initialized
		asked = s.askRoots(session)
	}
	select {
	case <-asked.known:
		caller.Dir = chooseRoot(asked.dirs, caller.Dir)
	case <-ctx.Done():
	}
	return caller
}

// connectionWindow is a window of a connection's own. The sessions that it starts
// belong to it: a program may have several windows, each with its connection.
func connectionWindow(ctx context.Context) string {
	if id := connectionOf(ctx); id != "" {
		return "connection:" + id
	}
	return ""
}

// chooseRoot picks the folder that a question is about: the working folder
// where it lies in a root, else the first root.
func chooseRoot(dirs []string, working string) string {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, working); working != "" && err == nil && filepath.IsLocal(rel) {
			return working
		}
	}
	if len(dirs) > 0 {
		return dirs[0]
	}
	return working
}

// folderOf returns the folder that a file URI names, or "".
func folderOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" { // file:///C:/folder
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// workingFolder reads HeaderDir.
func workingFolder(header http.Header) string {
	dir, err := url.PathUnescape(header.Get(HeaderDir))
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
