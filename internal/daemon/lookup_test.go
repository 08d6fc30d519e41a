package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// lookupTree is a small repository in several languages. serve is declared in five
// places, everything else once.
var lookupTree = map[string]string{
	"server/server.go": `package server

// Server answers.
type Server struct{ addr string }

// Serve accepts connections until it is closed.
func (s *Server) Serve(limit int) error {
	for range limit {
		if err := s.acceptOne(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) acceptOne() error { return nil }
`,
	"server/server_test.go": `package server

func Serve() { (&Server{}).Serve(1) }
`,
	"client/client.go": `package client

import "example.com/shop/server"

// Run calls Serve and Serve and Serve, and then acceptOne: server Serve.
func Run(s *server.Server) error { return s.Serve(3) }
`,
	"web/cart.ts": `import { priceOf } from "./price";

export class Cart {
  private lines: string[] = [];

  addLine(article: string): void {
    this.lines.push(article);
  }

  totalPrice(): number {
    return this.lines.map(priceOf).reduce((a, b) => a + b, 0);
  }
}

export const emptyCart = () => new Cart();
`,
	"jobs/mailer.py": `import smtplib


class Mailer:
    def __init__(self, host):
        self.host = host

    def send_receipt(self, order):
        body = render_body(order)
        return smtplib.SMTP(self.host).sendmail(body)


def render_body(order):
    return "Thank you for " + order.name
`,
	"core/src/pool.rs": `pub struct Pool { size: usize }

impl Pool {
    pub fn check_out(&mut self) -> Option<usize> {
        self.size.checked_sub(1)
    }
}
`,
	"docs/guide.md": "# Guide\n\nCall serve, then send_receipt, addLine and check_out. The transfer of goods follows.\n",
}

// TestLookUp asks for code by name and by place, over the whole of both paths and with
// the threshold of code: the first result is what was asked for.
func TestLookUp(t *testing.T) {
	core := openQuiet(t)
	root := t.TempDir()
	for path, text := range lookupTree {
		file := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	indexTree(t, core, root, config.Default().Index)
	ask := func(req memory.RecallRequest) *memory.RecallResponse {
		t.Helper()
		req.Caller.Dir = root
		a, err := core.Recall.Recall(t.Context(), req)
		if err != nil {
			t.Fatalf("recall %+v: %v", req, err)
		}
		return a
	}
	for query, want := range map[string]string{ // the path and a line that is shown
		"acceptOne":                           "server/server.go func (s *Server) acceptOne",
		"where is acceptOne defined":          "server/server.go func (s *Server) acceptOne",
		"ACCEPTONE":                           "server/server.go func (s *Server) acceptOne",
		"accept_one":                          "server/server.go func (s *Server) acceptOne",
		"Server.Serve":                        "server/server.go func (s *Server) Serve",
		"what does (*Server).Serve do":        "server/server.go func (s *Server) Serve",
		"server.Serve":                        "server/server.go func (s *Server) Serve",
		"Serve":                               "server/server.go func (s *Server) Serve",
		"addLine":                             "web/cart.ts addLine(article",
		"Cart.totalPrice":                     "web/cart.ts totalPrice()",
		"cart.addLine()":                      "web/cart.ts addLine(article",
		"why does emptyCart return a new one": "web/cart.ts emptyCart =",
		"send_receipt":                        "jobs/mailer.py def send_receipt",
		"Mailer.send_receipt":                 "jobs/mailer.py def send_receipt",
		"what does render_body(order) return": "jobs/mailer.py def render_body",
		"Pool::check_out":                     "core/src/pool.rs fn check_out",
		"TypeError\n    at Cart.totalPrice (/home/me/shop/web/cart.ts:11:23)": "web/cart.ts reduce((a, b)",
		`File "jobs/mailer.py", line 9, in send_receipt`:                      "jobs/mailer.py sendmail(body)",
		"thread 'main' panicked at core/src/pool.rs:5:9":                      "core/src/pool.rs checked_sub",
		"server.go:9": "server/server.go range limit",
	} {
		a := ask(memory.RecallRequest{Query: query})
		path, line, _ := strings.Cut(want, " ")
		if len(a.Items) == 0 || a.Items[0].Source.Path != path || !strings.Contains(a.Items[0].Text, line) || a.Items[0].Relevance < .9 {
			t.Errorf("%q: want %q of %s first and relevant, got\n%s", query, line, path, a.Text)
		}
	}
	// The words of a sentence are no names, though code declares them.
	for _, query := range []string{"how long does it serve food", "the pool is open on sundays"} {
		if a := ask(memory.RecallRequest{Query: query, Explain: true}); strings.Contains(a.Text, ", defines") {
			t.Errorf("%q: a word is taken for a name:\n%s", query, a.Text)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		link = root // Windows asks for a right
	}
	// Filters hold for what was asked for by name as well.
	for name, test := range map[string]struct {
		filters memory.Filters
		want    []string
	}{
		"another language":    {memory.Filters{Lang: "ts"}, nil},
		"its language":        {memory.Filters{Lang: "golang"}, []string{"server/server.go", "server/server_test.go"}},
		"language and folder": {memory.Filters{Lang: ".go", Path: "server/*_test.go"}, []string{"server/server_test.go"}},
		"another folder":      {memory.Filters{Path: "web"}, nil},
		"an absolute pattern": {memory.Filters{Path: filepath.Join(root, "server", "*_test.go")}, []string{"server/server_test.go"}},
		"through a link":      {memory.Filters{Path: filepath.Join(link, "server", "*_test.go")}, []string{"server/server_test.go"}},
		"the repository":      {memory.Filters{Path: root}, []string{"server/server.go", "server/server_test.go"}},
	} {
		var got []string
		for _, item := range ask(memory.RecallRequest{Query: "Serve()", Kinds: []memory.Kind{memory.Chunk}, Filters: &test.filters, Explain: true}).Items {
			if item.RankFactors.Definition != "" {
				got = append(got, item.Source.Path)
			}
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: declared in %v, want %v", name, got, test.want)
		}
	}
	if _, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: "x", Filters: &memory.Filters{Lang: "pyton"}, Caller: memory.Caller{Dir: root}}); memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(err.Error(), "python") {
		t.Errorf("an unknown language: %v, want it refused and python offered", err)
	}
	_, err := core.Recall.Recall(t.Context(), memory.RecallRequest{Query: "x", Filters: &memory.Filters{Path: filepath.Dir(root)}, Caller: memory.Caller{Dir: root}})
	if e := memory.AsError(err); err == nil || e.Code != memory.CodeInvalidInput || e.Field != "filters.path" {
		t.Errorf("a path outside of the repository: %v", err)
	}
}
