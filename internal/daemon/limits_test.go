package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/service"
)

// posted is how a real daemon answered a request.
type posted struct {
	status int
	header http.Header
	text   string
}

func (s *served) post(op *service.Spec, body string) posted {
	request, err := http.NewRequestWithContext(s.t.Context(), op.Method, "http://recalld"+op.Path, strings.NewReader(body))
	if err != nil {
		return posted{text: err.Error()}
	}
	answer, err := s.HTTP().Do(request)
	if err != nil {
		return posted{text: err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return posted{text: err.Error()}
	}
	return posted{answer.StatusCode, answer.Header, string(text)}
}

func isLimited(p posted, field, limit string) bool {
	seconds, err := strconv.Atoi(p.header.Get("Retry-After"))
	return p.status == http.StatusTooManyRequests && err == nil && seconds >= 1 && strings.Contains(p.text, `"limited"`) &&
		strings.Contains(p.text, `"field":"`+field+`"`) && strings.Contains(p.text, limit) && strings.Contains(p.text, "try again in")
}

// TestRateOfDaemon: a client that asks too often is told by status 429, the limit and when to
// ask again; what is within the limit is answered.
func TestRateOfDaemon(t *testing.T) {
	cfg := newConfig(t)
	s := serve(t, cfg, func(o *Options) { o.Config.Limits.Rate = 1 })
	const calls = 12
	answers := make(chan posted, calls)
	for range calls {
		go func() { answers <- s.post(service.Status.Spec, "") }()
	}
	refused := 0
	for range calls {
		if a := <-answers; a.status != http.StatusOK {
			if refused++; !isLimited(a, "rate", "1 calls a second") {
				t.Errorf("a call is answered with %d, %v: %s", a.status, a.header, a.text)
			}
		}
	}
	if refused < calls-5 || refused == calls { // two at once, two within two seconds
		t.Errorf("%d of %d calls are refused", refused, calls)
	}
	if a := s.post(service.Hello.Spec, ""); a.status != http.StatusOK {
		t.Errorf("the daemon cannot be greeted: %d %s", a.status, a.text)
	}
}

// TestConcurrencyOfDaemon: a client with as many calls in progress as it may is told so.
func TestConcurrencyOfDaemon(t *testing.T) {
	pulling, over := make(chan struct{}), make(chan struct{})
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/pull" {
			_, _ = io.WriteString(w, `{"models":[]}`)
			return
		}
		close(pulling)
		<-over
	}))
	defer ollama.Close()
	cfg := newConfig(t)
	cfg.Embedding.Ollama.Enabled, cfg.Embedding.Ollama.URL = config.OllamaOn, ollama.URL
	cfg.Limits.Concurrent = 1
	s := serve(t, cfg)
	ended := make(chan posted, 1)
	go func() { ended <- s.post(service.PullModel.Spec, `{"name":"m"}`) }()
	<-pulling
	if a := s.post(service.Status.Spec, ""); !isLimited(a, "concurrent", "1 calls at a time") {
		t.Errorf("a second call is answered with %d, %v: %s", a.status, a.header, a.text)
	}
	if a := s.post(service.Hello.Spec, ""); a.status != http.StatusOK {
		t.Errorf("the daemon cannot be greeted: %d %s", a.status, a.text)
	}
	close(over)
	<-ended
	if a := s.post(service.Status.Spec, ""); a.status != http.StatusOK {
		t.Errorf("after it, a call is answered with %d: %s", a.status, a.text)
	}
}
