package chunk

import (
	"slices"
	"strings"
	"testing"
)

// TestDefinesGo: what go/parser reads is defined, and nothing else.
func TestDefinesGo(t *testing.T) {
	src := `package a

import "io"

const (
	One, two = iota, 2
	Three    = 3
)

var _ io.Reader = (*T)(nil)
var x, y = 1, 2; var z = 3

type (
	T[K comparable] struct {
		field int
		io.Writer
	}
	I interface {
		io.Reader
		Do(x int) error
		~int | ~string
	}
)

func (t *T[K]) Read(p []byte) (int, error) {
	local := 1
	type inner struct{}
	return local, nil
}

func init() {}
`
	var got []string
	for _, p := range Split("", "go", []byte(src)) {
		got = append(got, p.Defines...)
	}
	want := strings.Fields("One two Three x y z T I Do Read init")
	if !slices.Equal(got, want) {
		t.Errorf("defines %q, want %q", got, want)
	}
}

// TestDefinesOnce: of a function that is cut, only the part with its head
// defines its name, and a part that overlaps does not define again.
func TestDefinesOnce(t *testing.T) {
	long := strings.Repeat("\tif call(x) {\n\t\treturn\n\t}\n", 200)
	for lang, src := range map[string]string{
		"go":         "package a\n\nfunc long() {\n" + long + "}\n\nfunc next() {\n" + long + "}\n",
		"javascript": "function long() {\n" + long + "}\n\nfunction next() {\n" + long + "}\n",
		"python":     "def long():\n" + strings.Repeat("    if call(x):\n        return\n", 200) + "\n\ndef next():\n    pass\n",
	} {
		count := map[string]int{}
		chunks := Split("", lang, []byte(src))
		for _, p := range chunks {
			for _, name := range p.Defines {
				count[name]++
			}
		}
		if len(chunks) < 4 || len(count) != 2 || count["long"] != 1 || count["next"] != 1 {
			t.Errorf("%s: %d chunks define %v", lang, len(chunks), count)
		}
	}
}

// TestDefinesBehind: what looks like a string or bracket without an end hides no declaration
// behind it.
func TestDefinesBehind(t *testing.T) {
	for _, c := range []struct{ lang, src string }{
		{"ruby", "class A\n  def first(x)\n    y = $'.lines\n    z = ?\"\n  end\n\n  def last\n  end\nend"},
		{"ruby", "class A\n  R = /\n    [\"']\n    \\(\n  /x\n\n  def last\n  end\nend"},
		{"ruby", "class A\n  def first\n<<-EOF\n( \" {\nEOF\n  end\n\n  def last\n  end\nend"},
		{"ruby", "class A\n  def first\n    x = 'it\n  end\n\n  def last\n  end\nend"},
		{"ruby", "class A\n  def first\n    ask <<~text\n      don't (\n    text\n  end\n\n  def last\n  end\nend"},
		{"elixir", "defmodule A do\n  def first, do: ~r{(['\"])}\n\n  def next, do: [?\", ?(, ~s[say \"(]]\n\n  def last, do: 1\nend"},
		{"erlang", "first([$\"|T]) -> [$[, $(, T].\n\nlast() -> ok."},
		{"erlang", "first() -> ok.\n\ndo(X) -> X.\n\nlast() -> ok."},
		{"haskell", "first :: Char\nfirst = go' '\"' '('\n\nlast :: Int\nlast = 1"},
		{"julia", "first(x) = x' * '\"'\n\n@inline function last(x)\n    x\nend"},
		{"ocaml", "let first = '\"'\n\nlet last = {|\"|}"},
		{"fsharp", "let first = @\"c:\\\" + \"(\"\n\nlet last x = x"},
		{"powershell", "function first {\n  $a = \"$b\\c\\\"\n  $d = \"`\"(\"\n  $e = @\"\nsay \"{\n\"@\n}\n\nfunction last {\n}"},
		{"kotlin", "class A {\n  fun first() {\n    error(\"x ${\n      if (y) { \"{\" } else \"\"\n    }\")\n  }\n\n  fun last() {\n  }\n}"},
		{"kotlin", "public class A\nprivate constructor(x: Int) : B() {\n  val y = 1\n\n  fun last() {\n  }\n}"},
		{"shell", "{ # whole\n\nfirst() {\n  :\n}\n\nlast() {\n  :\n}\n\n}"},
		{"csharp", "class A\n#if X\n  : B\n#endif\n{\n  public void First()\n  {\n#if X\n    if (a) {\n#else\n    b();\n#endif\n    c();\n#if X\n    }\n#endif\n  }\n\n  public void last()\n  {\n  }\n}"},
		{"javascript", "function First() {\n  return <li>{a ? <a href={b}>{c}</a> : c}</li>;\n}\n\nfunction Next() {\n  return <p>{list.map((x) => (<B x={x} />))}</p>;\n}\n\nfunction last() {\n}"},
		{"javascript", "function first() {\n  a(`x` {\n}\n\nfunction last() {\n}"},
		{"shell", "first() {\n  case \"$1\" in\n  {) : ;;\n  \\'*) : ;;\n  esac\n  x=$'it\\'s'\n}\n\nlast() {\n  :\n}"},
		{"swift", "func first() {\n  a(\"\\(\")\n}\n\nfunc last() {\n}"},
		{"ruby", "class A\n  run(<<~TEXT,\n  def no\n  TEXT\n    1)\n\n  def first\n    x = (\n  end\n\n  def last\n  end\nend"},
		{"vim", "function! s:First() abort\n  let x = '('\nendfunction\n\nfunction! last() abort\nendfunction"},
	} {
		names := map[string]int{}
		for _, p := range Split("", c.lang, []byte(c.src)) {
			for _, name := range p.Defines {
				names[strings.TrimPrefix(name, "self.")]++
			}
		}
		if names["last"] != 1 {
			t.Errorf("%s defines %v:\n%s", c.lang, names, c.src)
		}
	}
}

// TestDefinesNames: each language has its own names, and declarations within blocks count.
func TestDefinesNames(t *testing.T) {
	for _, c := range []struct{ lang, src, want string }{
		{"clojure", "(ns app.core)\n\n(defn- read-line [x]\n  x)\n\n(def ^:private limit 3)\n\n(defmulti ^{:doc \"d\"} area :kind)\n\n(println 1)", "core read-line limit area"},
		{"clojure", "(defn ^:no-doc into-set [x]\n  x)", "into-set"},
		{"elixir", "defmodule A do\n  plug P,\n    method: \"GET\"\n\n  module = P.Q\n  each list, fn {x, y} ->\n    x\n  end\nend", "A"},
		{"crystal", "class A\n  type : String\n  package = B.new\nend", "A"},
		{"fortran", "type :: shape\nend type", "shape"},
		{"julia", "@testset \"not a function here\" begin\n    @test describe(x, f(y) => 1)\nend", ""},
		{"lisp", "(defun magit-get (x)\n  x)\n\n(cl-defmethod size ((x a)) 1)\n\n(define (square x) (* x x))\n\n(require 'cl)", "magit-get size square"},
		{"vim", "function! s:Sub(a) abort\nendfunction\n\nfunction fugitive#Head() abort\nendfunction\n\ncommand! -nargs=1 Git call x()", "Sub Head Git"},
		{"haskell", "module A.B where\n\nimport C\n\ndata Shape = Dot\n\nclass (Eq a) => Area a where\n  area :: a -> Int\n\ninstance Area Shape where\n  area _ = 0\n\nside' :: Int\nside' = 1", "B Shape Area area side'"},
		{"ocaml", "open Import\n\nmodule Make\n    (Io : S) =\nstruct\n  let control t =\n    let local = 1 in\n    t.c\nend\n\ntype 'a t = int\n\nexception Lost\n\nlet rec walk x = x", "Make control t Lost walk"},
		{"fsharp", "namespace A\n\nopen B\n\n[<AutoOpen>]\nmodule C =\n    let inline add x = x\n    let rec private walk x = x\n\ntype D() =\n    member this.Run() = 1\n    static member Make x = x\n\nlet ``it is so`` () = 1", "A C add walk D Run Make it is so"},
		{"erlang", "-module(a).\n-record(state, {x}).\n\n-spec run(x) -> y.\nrun(X) -> X.", "state run"},
		{"r", ".onLoad <- function(lib) {\n  1\n}\n\nprint.shape <- function(x) {\n  x\n}\n\n`names<-.shape` <- function(x, value) {\n  x\n}", ".onLoad print.shape"},
		{"julia", "area(s::Shape) = s.x\n\nBase.length(s::Shape)::Int where T = 1\n\n@testset \"x\" begin\n    helper(x) = x\nend", "area length helper"},
		{"nim", "proc first(x: int) =\n  echo x\n\nwhen not declared(second):\n  proc second(x: int) =\n    echo x", "first second"},
		{"vim", "if 1\n  function! s:Inner()\n  endfunction\nelse\n  function! s:Other()\n  endfunction\nendif", "Inner Other"},
		{"powershell", "Function Get-It {\n}\n\nfunction Set-It {\n}", "Get-It Set-It"},
		{"csharp", "public static class A\n{\n    extension(double)\n    {\n        public static bool Finite(double x)\n        {\n            return true;\n        }\n    }\n}", "A Finite"},
		{"verilog", "module top;\nendmodule\n\nmodule adder #(parameter W = 1) (input a);\nendmodule", "top adder"},
		{"lua", "local run\ndo\n  local function inner(x)\n    return x\n  end\n\n  function M.outer()\n  end\nend", "inner outer"},
		{"shell", "if [ -n \"$x\" ]; then\n  inside() {\n    :\n  }\nfi\n\n[ -n \"$y\" ] || {\n  other() {\n    :\n  }\n}", "inside other"},
		{"ruby", "module A\n  class_methods do\n    def found\n    end\n  end\n\n  Point = Struct.new(:x) do\n    def far\n    end\n  end\nend", "A found Point far"},
	} {
		var names []string
		for _, p := range Split("", c.lang, []byte(c.src)) {
			names = append(names, p.Defines...)
		}
		if got := strings.Join(slices.Compact(names), " "); got != c.want {
			t.Errorf("%s defines %q, want %q:\n%s", c.lang, got, c.want, c.src)
		}
	}
}
