package connect

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

const tomlBlock = "[mcp_servers.recalld]\ncommand = \"recalld\"\nargs = [\"mcp\"]\n"

// tomlFiles are files with what becomes of them, and what is left when recalld is
// taken out again: "same" is the text itself.
var tomlFiles = map[string]struct{ text, want, left string }{
	"missing":            {"", tomlBlock, ""},
	"other servers":      {"# mine\nmodel = \"x\" # y\n\n[mcp_servers.git]\ncommand = \"g\"\n", "# mine\nmodel = \"x\" # y\n\n[mcp_servers.git]\ncommand = \"g\"\n\n" + tomlBlock, "same"},
	"no line end":        {"a = 1", "a = 1\n\n" + tomlBlock, "a = 1\n"},
	"another command":    {"[mcp_servers.recalld]\ncommand = \"/old\" # moved\nstartup_timeout_sec = 20\n\n[x]\ny = 1\n", "[mcp_servers.recalld]\ncommand = \"recalld\" # moved\nargs = [\"mcp\"]\nstartup_timeout_sec = 20\n\n[x]\ny = 1\n", "[x]\ny = 1\n"},
	"over lines":         {"[mcp_servers.recalld]\nargs = [\n  \"a\", # one\n]\n# about x\n[x]\n", "[mcp_servers.recalld]\ncommand = \"recalld\"\nargs = [\"mcp\"]\n# about x\n[x]\n", "# about x\n[x]\n"},
	"tables below":       {"a = 1\n\n" + tomlBlock + "\n[mcp_servers.recalld.env]\nA = \"b\"\n\n[z]\n", "same", "a = 1\n\n[z]\n"},
	"quoted, spaced":     {"[ mcp_servers . \"recalld\" ]\ncommand = 'recalld'\nargs = ['mcp']\n", "same", ""},
	"a table in a text":  {"a = \"\"\"\n[mcp_servers.recalld]\n\"\"\"\n", "a = \"\"\"\n[mcp_servers.recalld]\n\"\"\"\n\n" + tomlBlock, "same"},
	"Windows":            {"a = 1\r\n", "a = 1\r\n\r\n[mcp_servers.recalld]\r\ncommand = \"recalld\"\r\nargs = [\"mcp\"]\r\n", "same"},
	"byte order mark":    {"\ufeffa = 1\n", "\ufeffa = 1\n\n" + tomlBlock, "same"},
	"tables below alone": {"[mcp_servers.recalld.tools.recall]\napproval_mode = \"approve\"\n", "[mcp_servers.recalld.tools.recall]\napproval_mode = \"approve\"\n\n" + tomlBlock, ""},
	"comments only":      {"# nothing yet\n", "# nothing yet\n\n" + tomlBlock, "same"},
}

func TestTOMLTable(t *testing.T) {
	edit := tomlTable{server}
	for name, test := range tomlFiles {
		want := test.want
		if want == "same" {
			want = test.text
		}
		with, err := edit.Put([]byte(test.text))
		if err != nil || string(with) != want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", name, err, with, want)
			continue
		}
		if again, err := edit.Put(with); err != nil || !bytes.Equal(again, with) {
			t.Errorf("%s: a second time it became %v\n%s", name, err, again)
		}
		left := test.left
		if left == "same" {
			left = test.text
		}
		without, err := edit.Take(with)
		if err != nil || string(without) != left || left == "" && without != nil {
			t.Errorf("%s: left is %v\n%q\nwant\n%q", name, err, without, left)
		}
	}
}

// TestTOMLTakesOtherForms: what connect does not write is taken out, too.
func TestTOMLTakesOtherForms(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp_servers]\nrecalld = { command = \"x\" } # mine\ngit = { command = \"g\" }\n":                             "[mcp_servers]\ngit = { command = \"g\" }\n",
		"mcp_servers.recalld.command = \"x\"\nmcp_servers.recalld.args = [\n\"mcp\"\n]\na = 1\n":                       "a = 1\n",
		"[mcp_servers]\nrecalld.command = \"x\"\n\n[a]\nb = 1\n\n[mcp_servers.recalld.env]\nA = \"b\"\n\n[c]\nd = 1\n": "[mcp_servers]\n\n[a]\nb = 1\n\n[c]\nd = 1\n",
	} {
		if left, err := (tomlTable{server}).Take([]byte(text)); err != nil || string(left) != want {
			t.Errorf("%q became %v\n%q\nwant\n%q", text, err, left, want)
		}
	}
	const whole = "mcp_servers = { recalld = { command = \"x\" } }\n"
	if left, err := (tomlTable{server}).Take([]byte(whole)); err == nil {
		t.Errorf("%q became %q, want it refused", whole, left)
	}
}

func TestTOMLStrings(t *testing.T) {
	for _, command := range []string{`C:\Program Files\recalld.exe`, "a\"b", "ü\t\x7f\u2028<&>"} {
		with, err := tomlTable{Server{command, []string{"mcp", command}}}.Put(nil)
		var got struct {
			Servers map[string]Server `toml:"mcp_servers"`
		}
		if err == nil {
			err = toml.Unmarshal(with, &got)
		}
		if s := got.Servers["recalld"]; err != nil || s.Command != command || s.Args[1] != command {
			t.Errorf("%q is read back as %q: %v\n%s", command, s, err, with)
		}
	}
}

func FuzzTOMLTable(f *testing.F) {
	for _, test := range tomlFiles {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		edit := tomlTable{server}
		with, err := edit.Put(text)
		if err != nil {
			return
		}
		var before, after map[string]any
		if toml.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &before) != nil || toml.Unmarshal(bytes.TrimPrefix(with, byteOrderMark), &after) != nil {
			t.Fatalf("%q became %q, and one is not TOML", text, with)
		}
		for key, value := range before {
			if key != tomlServers && !reflect.DeepEqual(after[key], value) {
				t.Errorf("%q became %q: %s changed", text, with, key)
			}
		}
		without, err := edit.Take(with)
		if err != nil {
			t.Fatalf("take out of %q: %v", with, err)
		}
		if _, there, err := edit.get(without); there || err != nil {
			t.Errorf("%q still has it: %v", without, err)
		}
	})
}
