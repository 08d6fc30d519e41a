package chunk

import (
	"fmt"
	"strings"
	"testing"
)

// sample is a text and the symbols that its units must have, as "first line:
// symbol", when every unit is large enough to stand for itself.
type sample struct {
	lang, src string
	want      []string
}

// TestUnits holds the units of each language, before they are joined, against
// what a reader of the language sees.
func TestUnits(t *testing.T) {
	for _, s := range samples {
		tx := newText([]byte(s.src))
		var units []unit
		switch s.lang {
		case "go":
			units = goUnits(tx)
		case "markdown":
			units = markdownUnits(tx)
		default:
			units = syntaxes[s.lang].units(tx, s.lang)
		}
		var got []string
		for _, u := range units {
			if u.name != "" {
				got = append(got, fmt.Sprintf("%d-%d %s", u.first+1, u.last+1, u.name))
			}
		}
		if g, w := strings.Join(got, "\n"), strings.Join(s.want, "\n"); g != w {
			t.Errorf("%s:\n%s\ngot:\n%s\nwant:\n%s", s.lang, numbered(s.src), g, w)
		}
	}
}

func numbered(src string) string {
	var b strings.Builder
	for i, line := range strings.Split(src, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, line)
	}
	return b.String()
}

// TestMembers holds the symbols within units that are larger than a chunk.
func TestMembers(t *testing.T) {
	body := strings.Repeat("        work(with, these, arguments); // and more\n", 24)
	pyBody := strings.Repeat("        work(with_, these, arguments)  # and more\n", 24)
	for _, test := range []struct {
		lang, src string
		want      []string
	}{
		{"java", "package a;\n\npublic class Server extends Base implements Runnable {\n    private int n = 1;\n\n    public Server(int n) {\n" + body +
			"    }\n\n    /** Runs. */\n    @Override\n    public <T> List<T> run(Map<String, T> m) throws IOException {\n" + body + "    }\n\n    class Inner {\n        void deep() {\n" + body + body + "        }\n        void deeper() {\n" + body + body + "        }\n    }\n}\n",
			[]string{"Server", "Server.Server", "Server.run", "Server.Inner.deep", "Server.Inner.deeper"}},
		{"python", "import os\n\nclass Server(Base):\n    \"\"\"Serves.\n\n    def not_this(): pass\n    \"\"\"\n    x = 1\n\n    def __init__(self):\n" + pyBody +
			"\n    @property\n    async def run(self, *,\n            n=1):\n" + pyBody + "# odd comment\n" + pyBody + "\ndef top():\n" + pyBody,
			[]string{"Server", "Server.__init__", "Server.run", "top"}},
		{"cpp", "#include <x>\nnamespace a {\n\nclass EXPORT Foo final : public Bar {\n public:\n  Foo(int a) : b_(a) {\n" + body + "  }\n\n  ~Foo();\n  int run() const override\n  {\n#ifdef X\n    if (a) {\n#else\n    if (b) {\n#endif\n" + body +
			"    }\n  }\n};\n\ntemplate <typename T>\nint Foo::go(T t) {\n" + body + body + "}\n}  // namespace a\n",
			[]string{"a", "a.Foo", "a.Foo.Foo", "a.Foo.run", "a.Foo.go"}},
		{"typescript", "export class Store<T> {\n  private readonly map = new Map<string, T>()\n\n  constructor(private readonly dir: string) {\n" + body +
			"  }\n\n  async get(key: string): Promise<T> {\n    const re = /[{]\"/g\n    const s = `${key} {`\n" + body + "  }\n\n  save = async () => {\n" + body + "  }\n}\n\nexport const helper = (a: number) => {\n" + body + "}\n\nexport default function main() {\n" + body + "}\n",
			[]string{"Store", "Store.constructor", "Store.get", "Store.save", "helper", "main"}},
		{"rust", "impl<T: Clone> Handler<T> for Server<T> {\n    /// Gets.\n    #[inline]\n    pub fn get<'a>(&'a self, c: char) -> &'a T {\n        let q = '\\'';\n        let b = '{';\n" + body + "    }\n\n    pub(crate) async fn put(&mut self) {\n" + body + body + "    }\n}\n",
			[]string{"Server", "Server.get", "Server.put"}},
		{"ruby", "module A\n  class B < C\n    def self.one(x)\n" + pyBody + "    end\n\n    # two\n    def two?\n      s = <<~TEXT\n  not indented\n      TEXT\n" + pyBody + pyBody + "    end\n  end\nend\n",
			[]string{"A", "A.B", "A.B.self.one", "A.B.two?"}},
		{"csharp", "namespace A.B\n{\n    [Serializable]\n    public sealed class C : D\n    {\n        public int N { get; set; }\n\n        public C()\n        {\n" + body + "        }\n\n        [Test]\n        public async Task<int> Run(int n)\n        {\n" + body + body + "        }\n    }\n}\n",
			[]string{"A.B", "A.B.C", "A.B.C.N", "A.B.C.C", "A.B.C.Run"}},
		{"go", "package a\n\nconst (\n" + strings.Repeat("\t// Name is a name of a thing that is explained here in many words.\n\tName = 1\n", 30) + ")\n\nfunc (s *Server[T]) Run() {\n" + strings.Repeat("\tif err := work(with, these, arguments); err != nil {\n\t\treturn\n\t}\n", 40) + "}\n",
			[]string{"package a", "Name", "Server.Run"}},
		{"yaml", "name: ci\njobs:\n  build:\n    steps:\n" + strings.Repeat("      - run: work with these arguments and with some more\n", 45) + "  test:\n    steps:\n" + strings.Repeat("      - run: work with these arguments and with some more\n", 45),
			[]string{"jobs.build.steps", "jobs.test.steps"}},
	} {
		src := []byte(test.src)
		chunks := Split("", test.lang, src)
		if wrong := checkChunks(src, chunks); wrong != "" {
			t.Errorf("%s: %s", test.lang, wrong)
		}
		have := map[string]bool{}
		var all []string
		for _, p := range chunks {
			all = append(all, fmt.Sprintf("%d-%d %s", p.StartLine, p.EndLine, p.Symbol))
			for name := range strings.SplitSeq(p.Symbol, ", ") {
				have[name] = true
			}
		}
		for _, want := range test.want {
			if !have[want] {
				t.Errorf("%s: no chunk is named %q:\n%s", test.lang, want, strings.Join(all, "\n"))
			}
		}
	}
}

// TestCuts: a unit that is too large is cut where statements begin.
func TestCuts(t *testing.T) {
	src := "package a\n\nfunc f() {\n\tx := `\n" + strings.Repeat("not a statement\n", 40) + "`\n" +
		strings.Repeat("\tif call(x) {\n\t\treturn one(\n\t\t\tx,\n\t\t)\n\t}\n", 80) + "}\n"
	chunks := Split("", "go", []byte(src))
	if len(chunks) < 3 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for _, p := range chunks[2:] {
		lines := strings.Split(src[p.Start:p.End], "\n")
		if own := lines[p.Overlap]; own != "\tif call(x) {" {
			t.Errorf("lines %d–%d begin with %q", p.StartLine, p.EndLine, own)
		}
	}
}

var samples = []sample{
	{"go", "// Package a does.\npackage a\n\nimport (\n\t\"fmt\"\n)\n\n// T is.\ntype T struct{}\n\nvar x, y = 1, 2; var z = 3\n\n// M does.\nfunc (t *T) M() {\n\tfmt.Println()\n}\n\n// alone\n\nfunc F() {}\n",
		[]string{"1-6 package a", "8-9 T", "11-11 x, y, z", "13-16 T.M", "20-20 F"}},
	{"markdown", "---\ntitle: x\n---\n# One\n\ntext\n\n## Two ##\n```sh\n# no heading\n```\n### Three\nx\n## Four\n\nFive\n----\n\n- a\n---\n",
		[]string{"4-7 One", "8-11 One > Two", "12-13 One > Two > Three", "14-15 One > Four", "16-20 One > Five"}},
	{"python", "#!/usr/bin/env python\n\"\"\"Doc\n\ndef no(): pass\n\"\"\"\nimport os\n\nX = {\n    'a': 1,\n}\n\n@deco(\n  1)\n@other\ndef f(a,\n      b):\n    return '''\ntext\n'''\n\nclass C(B):\n    def m(self):\n        pass\n# at the end\n",
		[]string{"8-10 X", "12-19 f", "21-23 C"}},
	{"typescript", "import { a } from './a'\nimport b from 'b'\n\n/** Doc. */\nexport interface I<T> extends J {\n  x: number\n}\n\nexport type U = 'a' | 'b'\n\n@Injectable()\nexport class C {\n  m() { return /}/.test('{') }\n}\n\nexport async function f(x: string) {\n  return `a ${x} }`\n}\n\nconst g = async (a) => {\n  a()\n}\n\nmodule.exports.h = function () {\n}\n",
		[]string{"4-7 I", "9-9 U", "11-14 C", "16-18 f", "20-22 g", "24-25 module.exports.h"}},
	{"cpp", "#include <a>\n#define X(a) \\\n  foo(a)\n\nnamespace n {\nint x;\n}\n\ntemplate <class T>\nT* ns::Foo<T>::get(int a)\n{\n  return 'a' + '\\'';\n}\n\nstatic const char *names[] = {\n  \"{\",\n};\n\nint\nmain(void)\n{\n}\n",
		[]string{"2-3 X", "5-7 n", "9-13 ns.Foo.get", "15-17 names", "19-22 main"}},
	{"c", "struct point {\n  int x;\n};\n\ntypedef struct {\n  int y;\n} other;\n\nint add(int a, int b);\n\nint add(int a, int b) {\n  return a + b;\n}\n",
		[]string{"1-3 point", "5-7 other", "9-9 add", "11-13 add"}},
	{"java", "package a.b;\n\nimport java.util.List;\n\n/**\n * Doc {\n */\n@Service(\"x\")\npublic final class A extends B {\n  int x;\n}\n\nenum E { A, B }\n\npublic @interface N {}\n\nrecord P(int x, int y) {}\n",
		[]string{"1-1 a.b", "5-11 A", "13-13 E", "15-15 N", "17-17 P"}},
	{"rust", "use std::io;\n\n/// Doc\n#[derive(Debug)]\npub struct S<'a> {\n    x: &'a str,\n}\n\nimpl<'a> fmt::Display for S<'a> {\n    fn fmt(&self) {}\n}\n\npub async fn go(c: char) -> bool {\n    c == '{' || c == '\\''\n}\n\nmacro_rules! m {\n    () => {};\n}\n\nmod tests {\n}\n",
		[]string{"3-7 S", "9-11 S", "13-15 go", "17-19 m", "21-22 tests"}},
	{"ruby", "require 'x'\n\n# Doc\nclass A::B < C\n  def m\n  end\nend\n\ndef top(a)\n  x = <<~EOS\nend\nclass No\n  EOS\nend\n",
		[]string{"3-7 A.B", "9-14 top"}},
	{"shell", "#!/bin/bash\nset -e\n\n# Doc\nbuild() {\n  cat <<EOF\nother() {\nEOF\n  if x; then\n    y\n  fi\n}\n\nfunction test_it {\n  echo \"a\nb() {\"\n}\n",
		[]string{"4-12 build", "14-17 test_it"}},
	{"sql", "-- People.\nCREATE TABLE IF NOT EXISTS app.people (\n  id int, -- ;\n  name text DEFAULT 'a;b'\n);\n\nCREATE OR REPLACE FUNCTION f() RETURNS int AS $$\nBEGIN\n  RETURN 1;\nEND;\n$$ LANGUAGE plpgsql;\n\nINSERT INTO people VALUES (1);\nCREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND;\nSELECT 1;\n",
		[]string{"1-5 app.people", "7-11 f", "13-13 people", "14-17 p"}},
	{"yaml", "# Doc\nversion: 2\n\njobs:\n- a\n- b: |\n    text:\n\"quoted key\":\n  x: 1\n",
		[]string{"1-2 version", "4-7 jobs", "8-9 quoted key"}},
	{"toml", "name = 1\n\n# Doc\n[package]\nx = \"\"\"\n[no]\n\"\"\"\n\n[[bin]]\ny = 1\n", []string{"3-8 package", "9-10 bin"}},
	{"dockerfile", "# syntax\nFROM golang:1 AS build\nRUN x\n\nFROM scratch\nCOPY --from=build a b\n", []string{"1-4 build", "5-6 scratch"}},
	{"make", "X = 1\n\n# Doc\nbuild test: dep\n\tgo build\n\nifdef Y\nz:\nendif\n", []string{"3-5 build test", "8-9 z"}},
	{"css", "/* a */\n.a, .b > c {\n  color: red;\n}\n@media (x) {\n  .d { x: y }\n}\n", []string{"1-4 .a, .b > c", "5-7 @media (x)"}},
	{"hcl", "resource \"aws_x\" \"y\" {\n  a = 1\n}\n\nvariable \"z\" {}\n", []string{"1-3 resource.aws_x.y", "5-5 variable.z"}},
	{"proto", "syntax = \"proto3\";\n\n// Doc.\nmessage M {\n  int32 x = 1;\n}\n\nservice S {\n  rpc Get(A) returns (B);\n}\n", []string{"1-1 syntax", "3-6 M", "8-10 S"}},
	{"kotlin", "package a\n\ndata class P(val x: Int)\n\nfun String.up(a: Int): String {\n    return \"${a}\"\n}\n\nobject O {\n}\n", []string{"1-1 a", "3-3 P", "5-7 String.up", "9-10 O"}},
	{"swift", "import A\n\npublic protocol P: Q {\n}\n\nextension P where Self: R {\n}\n\n@objc func f(_ a: Int) -> Int {\n}\n", []string{"3-4 P", "6-7 P", "9-10 f"}},
	{"php", "<?php\nnamespace A\\B;\n\nabstract class C extends D {\n  # it's\n  public function m() {}\n}\n\nfunction f($x) {\n  return <<<EOT\n}\nEOT;\n}\n", []string{"1-2 A.B", "4-7 C", "9-13 f"}},
	{"lua", "local M = {}\n\n--[[ function no()\n]]\nfunction M.go(a)\n  if a then\n    return 1\n  end\nend\n\nlocal function f()\nend\n", []string{"1-1 M", "3-9 M.go", "11-12 f"}},
	{"elixir", "defmodule A.B do\n  @doc \"\"\"\n  x\n  \"\"\"\n  def f(x), do: x\nend\n", []string{"1-6 A.B"}},
	{"scala", "package a\n\ncase class P(x: Int)\n\nobject O extends App {\n  def f = '{'\n}\n\ntrait T\n", []string{"1-1 a", "3-3 P", "5-7 O", "9-9 T"}},
	{"graphql", "type Query {\n  a: Int\n}\n\ninput I {\n  x: Int\n}\n", []string{"1-3 Query", "5-7 I"}},
}
