package daemon

import (
	"cmp"
	"context"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// loadPatience is how long a question waits for the indexes of a daemon that has
// just been started, perhaps for it. Loading 100,000 chunks takes about as long;
// later the answer says that it is loading.
const loadPatience = 2 * time.Second

// awaitLoad waits for the indexes as long as a question may.
func (d *Daemon) awaitLoad(ctx context.Context) {
	patience := time.NewTimer(d.opts.pauses.load)
	defer patience.Stop()
	select {
	case <-d.loaded:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// Recall answers a question. It waits for the indexes as long as a question may.
func (d *Daemon) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	d.awaitLoad(ctx)
	a, err := d.core.Recall.Recall(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Typing {
		return a, nil
	}
	d.core.QuoteFilter.AddAnswer(a.Text, a.Items)
	d.core.Ingest.Answered(req, a, d.core.Store.Receipt)
	d.savings.Answer(a, d.core.Store.LessonLogSize(a.Project))
	d.codeQueries.Answer(req, a)
	d.codeUsed(a.Items)
	d.files.See(req.Caller.Dir)
	d.tellWaiting(req, a) // last: it adds to the text
	return a, nil
}

// tellWaiting adds to an answer, once, which files of the caller's repository wait for
// consent. The text says it as well if it has room and is neither JSON nor Markdown.
func (d *Daemon) tellWaiting(req memory.RecallRequest, a *memory.RecallResponse) {
	a.Waiting = d.files.Notice(req.Caller.Dir)
	if a.Waiting == "" || req.Format == memory.FormatJSON || req.Format == memory.FormatMarkdown {
		return
	}
	line := "\n(" + a.Waiting + ")\n"
	if n := render.Tokens(line); a.Tokens+n <= cmp.Or(req.MaxTokens, d.opts.Config.Recall.MaxTokens) {
		a.Text, a.Tokens = a.Text+line, a.Tokens+n
	}
}

// Remember carries out service.Remember.
func (d *Daemon) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	kept, line, err := d.core.Ingest.RememberLine(ctx, req)
	if err != nil {
		return nil, err
	}
	d.files.See(req.Caller.Dir)
	if line != nil {
		d.files.AppendLesson(ctx, req.Caller, kept, *line)
	}
	return kept, nil
}
