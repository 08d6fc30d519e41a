package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	// eventPause is the pause between two looks at the status, and beat how many of them may
	// change nothing before the browser is told that the page still lives.
	eventPause = time.Second
	beat       = 15
	// maxStreams is how many browser pages are kept up to date at once.
	maxStreams = 16
)

// events sends the live part of a page whenever it changed, as server-sent events of HTML.
// The name of the template is the name of the part.
func (q *request) events() {
	s := q.site
	part := q.choice("part", "live-overview", "live-code")
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		http.Error(q.w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)
	q.w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(q.w)
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	var last []byte
	for quiet := 1; ; quiet++ {
		if s.visitOf(q.r) == nil {
			return // the visit is over
		}
		text, err := q.live(part)
		switch {
		case err != nil:
			return // the browser tries again
		case !bytes.Equal(text, last):
			last, quiet = text, 0
			fmt.Fprint(q.w, "data: ", string(bytes.ReplaceAll(text, []byte("\n"), []byte("\ndata: "))), "\n\n")
		case quiet%beat == 0:
			fmt.Fprint(q.w, ": still here\n\n")
		}
		if control.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-q.r.Context().Done():
			return
		case <-s.opts.Done:
			return
		}
	}
}

// live is one live part of a page as it is now.
func (q *request) live(part string) ([]byte, error) {
	v := view{Visit: q.visit, Project: q.r.FormValue("project")}
	page := strings.TrimPrefix(part, "live-")
	if page == "code" {
		repos, err := ask(q, service.Repos, service.None{})
		if err != nil {
			return nil, err
		}
		v.Data = repos
	} else {
		status, err := ask(q, service.Status, service.None{})
		if err != nil {
			return nil, err
		}
		status.RSSBytes = status.RSSBytes >> 20 << 20 // else it would change with every look
		v.Data = &overviewPage{Status: status, Counts: countsOf(status.Records)}
	}
	var text bytes.Buffer
	err := q.site.pages[page].ExecuteTemplate(&text, part, v)
	return text.Bytes(), err
}

// countsOf lists counts by the name of their kind.
func countsOf(records map[memory.Kind]int) []count {
	var all []count
	for _, kind := range memory.Kinds {
		if n, ok := records[kind]; ok {
			all = append(all, count{string(kind), n})
		}
	}
	return all
}
