package chunk

import "testing"

func TestOnlyDeclares(t *testing.T) {
	for _, c := range []struct {
		lang, code string
		want       bool
	}{
		{"go", "// Config is returned if you ask for it.\ntype Config struct {\n\tName string\n}", true},
		{"go", "type Router interface {\n\tGet(path string) Router\n}", true},
		{"go", "func (c *Config) name() string { return c.Name }", false},
		{"go", "const returned = 1", true},
		{"typescript", "/* for all */\nexport interface Options { size: number }", true},
		{"typescript", "export const run = (x) => { if (x) go() }", false},
		{"python", "class Error(Exception):\n    pass", true},
		{"python", "def f(x):\n    raise Error(x)", false},
		{"rust", "pub struct Style {\n    on: bool,\n}", true},
		{"rust", "fn width(&self) -> usize {\n    self.width\n}", false},
		{"markdown", "Nothing at all.", false},
		{"json", "{}", false},
		{"go", "", true},
	} {
		if got := onlyDeclares(c.lang, []byte(c.code)); got != c.want {
			t.Errorf("%s only declares: %v, want %v:\n%s", c.lang, got, c.want, c.code)
		}
	}
}

func TestIsInnerTest(t *testing.T) {
	for symbol, want := range map[string]bool{
		"tests.reads": true, "tests": true, "tests.reads, tests.writes": true, "read": false, "read, tests.reads": false, "Reader.tests": false, "": false,
	} {
		if got := isInnerTest("rust", symbol); got != want {
			t.Errorf("%q is a test: %v, want %v", symbol, got, want)
		}
	}
	if isInnerTest("go", "tests.reads") {
		t.Error("Go has no tests within files")
	}
}
