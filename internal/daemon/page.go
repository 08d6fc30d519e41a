package daemon

import (
	"context"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/web"
)

// visited is the daemon as the web page calls it.
type visited struct{ *Daemon }

func (v visited) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return v.Daemon.Call(access.Named(ctx, web.Client), op, request, progress)
}

// OpenPage carries out service.OpenPage. The page has a listener of its own, on a free port
// of loopback, from the first time on.
func (d *Daemon) OpenPage(ctx context.Context, req memory.PageRequest) (*memory.Page, error) {
	d.paging.Lock()
	defer d.paging.Unlock()
	if d.page == nil {
		site, err := web.New(web.Options{Service: visited{d}, Projects: d.core.Store.Projects, Done: d.draining, Log: d.log})
		if err != nil {
			return nil, err
		}
		l, err := httpserver.ListenTCP("127.0.0.1:0", nil)
		if err != nil {
			return nil, err
		}
		address := l.Addr().String()
		if err := d.server.Start(httpserver.Endpoint{Listener: l, Handler: httpserver.GuardPage(site)}); err != nil {
			return nil, err
		}
		d.page, d.pageAddress = site, "http://"+address
	}
	project := ""
	switch p, known, err := d.core.Recorder.Resolve(ctx, req.Project, req.Caller); {
	case err != nil && req.Project != "":
		return nil, err
	case err == nil && known:
		project = p.ID
	}
	return &memory.Page{URL: d.pageAddress + d.page.Link(project)}, nil
}
