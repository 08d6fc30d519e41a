package fingerprint

import (
	"slices"
	"strings"
	"testing"
)

// kin holds tellings of one error by different machines, versions and times.
// The first fingerprints within a group are the same, those of two groups are
// not.
var kin = map[string][]string{
	"npm EACCES line": {
		"npm ERR! Error: EACCES: permission denied, mkdir '/usr/local/lib/node_modules/typescript'",
		"npm error Error: EACCES: permission denied, mkdir 'C:\\Program Files\\nodejs\\node_modules\\npm'",
		"\x1b[31mnpm\x1b[0m \x1b[31merror\x1b[39m Error: EACCES: permission denied, mkdir '/opt/node/lib'",
	},
	"npm EACCES open": {"npm ERR! Error: EACCES: permission denied, open '/home/ann/.npm/_cacache/tmp/4f2a91c'"},
	"npm ERESOLVE":    {"npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree", "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error A complete log of this run can be found in: /root/.npm/_logs/2026-01-02T03_04_05_678Z-debug-0.log"},
	"npm 404": {
		"npm ERR! 404 Not Found - GET https://registry.example/left-padd - Not found",
		"npm error 404 Not Found - GET http://localhost:4873/left-padd - Not found",
	},
	"node module": {
		"Error: Cannot find module 'express'\nRequire stack:\n- /srv/app/index.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:933:15)",
		"node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module 'express'",
		"Uncaught Error: Cannot find module 'express'",
	},
	"node other module": {"Error: Cannot find module 'lodash'"},
	"node port":         {"Error: listen EADDRINUSE: address already in use :::3000", "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"},
	"node refused":      {"Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED ::1:6379"},
	"node undefined":    {"TypeError: Cannot read properties of undefined (reading 'map')", "/app/dist/x.js:12\n        return a.map(f)\n                ^\nTypeError: Cannot read properties of undefined (reading 'map')\n    at f (/app/dist/x.js:12:7)"},
	"node undefined 2":  {"TypeError: Cannot read properties of undefined (reading 'length')"},
	"node esm":          {"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'chalk' imported from /home/a/x.mjs", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'chalk' imported from /home/b/c/y.mjs"},
	"node heap":         {"<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"},
	"yarn":              {"error An unexpected error occurred: \"https://registry.example/react: getaddrinfo ENOTFOUND registry.example\".", "error An unexpected error occurred: \"https://other.example/react: getaddrinfo ENOTFOUND registry.example\"."},
	"pip version": {
		"ERROR: Could not find a version that satisfies the requirement torch==1.2.0 (from versions: 2.0.0, 2.0.1, 2.1.0)",
		"ERROR: Could not find a version that satisfies the requirement torch==1.13.1 (from versions: 2.2.0, 2.3.0)",
	},
	"pip none":     {"ERROR: No matching distribution found for torch==1.2.0", "ERROR: No matching distribution found for torch==1.13"},
	"pip managed":  {"error: externally-managed-environment\n\n× This environment is externally managed"},
	"python":       {"Traceback (most recent call last):\n  File \"/home/a/x.py\", line 3, in <module>\n    import requests\nModuleNotFoundError: No module named 'requests'", "E   ModuleNotFoundError: No module named 'requests'", "ModuleNotFoundError: No module named 'requests'", "ImportError while importing test module '/x/test_a.py'.\nE   ModuleNotFoundError: No module named 'requests'"},
	"python numpy": {"ModuleNotFoundError: No module named 'numpy'"},
	"python file":  {"FileNotFoundError: [Errno 2] No such file or directory: '/home/a/config.yaml'", "FileNotFoundError: [Errno 2] No such file or directory: 'C:\\Users\\b\\settings.json'"},
	"python key":   {"KeyError: 'user_id'", "Traceback (most recent call last):\n  File \"a.py\", line 9, in f\n    return d['user_id']\nKeyError: 'user_id'"},
	"python dec":   {"UnicodeDecodeError: 'utf-8' codec can't decode byte 0x9f in position 12: invalid start byte", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"},
	"pytest":       {"E       fixture 'db_session' not found", "  E   fixture 'db_session' not found"},
	"pytest other": {"E       fixture 'client' not found"},
	"rust moved": {
		"error[E0382]: borrow of moved value: `items`\n  --> src/main.rs:10:20\n   |\n10 |     println!(\"{:?}\", items);",
		"\x1b[1m\x1b[38;5;9merror[E0382]\x1b[0m\x1b[1m: borrow of moved value: `items`\x1b[0m",
	},
	"rust borrow": {"error[E0502]: cannot borrow `v` as mutable because it is also borrowed as immutable\n --> src/lib.rs:4:5"},
	"rust linker": {"error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)\n\nerror: could not compile `x` (bin \"x\") due to 1 previous error"},
	"rust panic":  {"thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 5", "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 7', src/main.rs:9:13"},
	"rust unwrap": {"called `Option::unwrap()` on a `None` value"},
	"go undefined": {
		"# example.com/x\n./main.go:10:2: undefined: frobnicate", "main.go:7:14: undefined: frobnicate", "vet: ./a.go:3:4: undefined: frobnicate",
	},
	"go unused":   {"./main.go:4:2: \"os\" imported and not used", "internal/a/b.go:14:2: \"os\" imported and not used"},
	"go nil":      {"panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4813f1]\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:8 +0x1d", "panic: runtime error: invalid memory address or nil pointer dereference"},
	"go index":    {"panic: runtime error: index out of range [5] with length 3", "panic: runtime error: index out of range [12] with length 10"},
	"go module":   {"main.go:4:2: no required module provides package github.com/foo/bar; to add it:\n\tgo get github.com/foo/bar", "cmd/x/a.go:19:2: no required module provides package github.com/foo/bar; to add it:"},
	"go sum":      {"main.go:5:2: missing go.sum entry for module providing package github.com/foo/bar (imported by x); to add:"},
	"go cycle":    {"package a\n\timports b\n\timports a: import cycle not allowed"},
	"go x509":     {"go: github.com/a/b@v1.2.3: Get \"https://proxy.example/a/b/@v/v1.2.3.mod\": x509: certificate signed by unknown authority", "Get \"https://10.0.0.5/v2/\": x509: certificate signed by unknown authority"},
	"docker pull": {"docker: Error response from daemon: pull access denied for acme/web, repository does not exist or may require 'docker login'.", "Error response from daemon: pull access denied for acme/web, repository does not exist or may require 'docker login'"},
	"docker port": {"docker: Error response from daemon: driver failed programming external connectivity on endpoint web (4f2a91c0d3): Bind for 0.0.0.0:8080 failed: port is already allocated.", "docker: Error response from daemon: driver failed programming external connectivity on endpoint web (9e8d7c6b5a): Bind for 0.0.0.0:5432 failed: port is already allocated."},
	"docker off":  {"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "Cannot connect to the Docker daemon at unix:///home/a/.docker/run/docker.sock. Is the docker daemon running?"},
	"docker copy": {"ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 8f14e45f-ceea-467f-a8d2-0123456789ab::x1: \"/dist/app.js\": not found", "ERROR: failed to solve: failed to compute cache key: failed to calculate checksum of ref 0cc175b9-c0f1-46b6-a31c-399e269772aa::x1: \"/build/index.html\": not found"},
	"docker full": {"write /var/lib/docker/tmp/GetImageBlob123456: no space left on device", "write /var/lib/docker/overlay2/8f14/x: no space left on device"},
	"git repo":    {"fatal: not a git repository (or any of the parent directories): .git"},
	"git auth":    {"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.", "git@github.com: Permission denied (publickey)."},
	"git push":    {"error: failed to push some refs to 'https://github.com/a/b.git'", "error: failed to push some refs to 'git@gitlab.example:team/repo.git'"},
	"git merge":   {"CONFLICT (content): Merge conflict in src/app.ts", "CONFLICT (content): Merge conflict in lib/other/deep.py"},
	"git lock":    {"fatal: Unable to create '/home/a/w/.git/index.lock': File exists.", "fatal: Unable to create '/Users/bob/My Work/x/.git/index.lock': File exists."},
	"git unsafe":  {"fatal: detected dubious ownership in repository at '/workspace/app'", "fatal: detected dubious ownership in repository at 'C:/Users/a/app'"},
	"git history": {"fatal: refusing to merge unrelated histories"},
	"kubectl":     {"Error from server (NotFound): pods \"web-7d9f8b6c54-x2x4z\" not found", "Error from server (NotFound): pods \"web-5c6d7e8f90-a1b2c\" not found"},
	"kubectl rbac": {
		"Error from server (Forbidden): pods is forbidden: User \"dev\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
	},
	"kubectl off": {"The connection to the server localhost:8080 was refused - did you specify the right host or port?", "The connection to the server localhost:6443 was refused - did you specify the right host or port?"},
	"k8s crash":   {"web-7d9f8b6c54-x2x4z   0/1   CrashLoopBackOff   5 (32s ago)   3m", "web-5c6d7e8f90-a1b2c   0/1     CrashLoopBackOff   12 (7s ago)   18m"},
	"make rule":   {"make: *** No rule to make target 'deploy'.  Stop.", "make[2]: *** No rule to make target 'deploy'.  Stop."},
	"make tab":    {"Makefile:3: *** missing separator.  Stop.", "Makefile:17: *** missing separator.  Stop."},
	"gcc undecl":  {"main.c:10:5: error: 'count' undeclared (first use in this function)", "src/deep/x.c:112:17: error: ‘count’ undeclared (first use in this function)"},
	"gcc header":  {"main.c:1:10: fatal error: zlib.h: No such file or directory", "a/b.c:22:10: fatal error: zlib.h: No such file or directory"},
	"ld":          {"/usr/bin/ld: main.o: in function `main':\nmain.c:(.text+0x1b): undefined reference to `pthread_create'\ncollect2: error: ld returned 1 exit status", "/usr/bin/x86_64-linux-gnu-ld: /tmp/ccX1y2Z3.o: undefined reference to `pthread_create'"},
	"ld other":    {"main.c:(.text+0x1b): undefined reference to `sqrt'"},
	"tsc": {
		"src/a.ts(10,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
		"src/b/c.tsx:99:12 - error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
	},
	"tsc 2":    {"src/a.ts(10,5): error TS2322: Type 'string' is not assignable to type 'number'."},
	"psql":     {"psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: FATAL:  password authentication failed for user \"app\"", "2026-01-02 03:04:05.678 UTC [71] FATAL:  password authentication failed for user \"app\""},
	"psql rel": {"ERROR:  relation \"users\" does not exist\nLINE 1: select * from users", "psycopg2.errors.UndefinedTable: relation \"users\" does not exist\nERROR:  relation \"users\" does not exist"},
	"psql dup": {"ERROR:  duplicate key value violates unique constraint \"users_pkey\"\nDETAIL:  Key (id)=(42) already exists."},
	"mysql":    {"ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)"},
	"oracle":   {"ORA-01017: invalid username/password; logon denied"},
	"java":     {"Exception in thread \"main\" java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"s\" is null\n\tat Main.main(Main.java:5)", "java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"s\" is null"},
	"shell":    {"bash: line 1: kubectx: command not found", "-bash: kubectx: command not found", "bash: kubectx: command not found"},
	"ssh":      {"Host key verification failed."},
	"segv":     {"Segmentation fault (core dumped)", "/bin/sh: line 1: 12345 Segmentation fault      (core dumped)"},
	"oom":      {"command exited: exit code 137", "process 4312 failed: exit code 137"},
	"tf":       {"│ Error: Reference to undeclared resource\n│\n│   on main.tf line 12", "Error: Reference to undeclared resource"},
	"eslint":   {"  12:5  error  'foo' is not defined  no-undef", "  3:17  error  'foo' is not defined  no-undef"},
	"vite":     {"[vite] Internal server error: Failed to resolve import \"./x.vue\" from \"src/main.ts\". Does the file exist?"},
	"prisma":   {"Error: P1001: Can't reach database server at `localhost:5432`", "Error: P1001: Can't reach database server at `localhost:5433`"},
	"http 401": {"HTTP/1.1 401 Unauthorized\nrequest failed: 401 Unauthorized for https://api.example/v1/users"},
	"http 403": {"request failed: 403 Forbidden for https://api.example/v1/users", "request failed: 403 Forbidden for https://api.example/v2/orders/17"},
}

func TestKin(t *testing.T) {
	first := map[string]string{}
	for name, texts := range kin {
		for i, text := range texts {
			prints := Of(text)
			if len(prints) == 0 {
				t.Errorf("%s %d: no fingerprint of %q", name, i, text)
				continue
			}
			if i == 0 {
				if other, ok := first[prints[0]]; ok {
					t.Errorf("%s and %s have the same fingerprint", name, other)
				}
				first[prints[0]] = name
			} else if got := first[prints[0]]; got != name {
				t.Errorf("%s %d: the fingerprint is of %q, not that of the first\n%s\n%s", name, i, got, explain(texts[0]), explain(text))
			}
		}
	}
}

// explain shows what a text's lines were read as.
func explain(text string) string {
	var b strings.Builder
	for line := range lines(text) {
		normal := normalise(line)
		f, _ := judge(normal)
		b.WriteString("\t" + normal + "\n\t\t" + f.core + "\n")
	}
	return b.String()
}

// TestNone lists texts without an error, or without a specific one.
func TestNone(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "ok", "npm install finished in 3.2s", "added 120 packages in 4s", "All tests passed", "0 errors, 2 warnings", "no errors found",
		"3 passed in 0.12s", "exit status 1", "Build failed", "build failed.", "error", "ERROR", "Error: ", "fatal", "Command failed with exit code 1",
		"error: Process completed with exit code 1.", "make: *** [Makefile:10: all] Error 2", "make[1]: *** [all] Error 1", "npm ERR! errno -13",
		"npm ERR! A complete log of this run can be found in:", "npm ERR! path /usr/local/lib", "npm ERR! Exit status 1", "npm ERR! code ELIFECYCLE",
		"collect2: error: ld returned 1 exit status", "error: could not compile `x` (bin \"x\") due to 2 previous errors", "error: aborting due to previous error",
		"FAIL", "FAIL\texample.com/x\t0.012s", "Use the error handling of the parser", "The function returns an error when it is called twice",
		`return fmt.Errorf("open file: %w", err)`, `throw new Error("cannot open");`, "if err != nil {", "    raise ValueError('cannot read')", "except KeyError:",
		"console.error('failed to load');", "Run `sudo chown -R $USER .` first", "Delete lock file, regenerate", "rm -rf node_modules && npm ci",
		"Total: 12 files changed, 3 insertions", "https://example.com/errors", "src/errors/error.go", "Caused by: process exited", "1 failed, 3 passed in 0.3s",
	} {
		if got := Of(text); len(got) > 0 {
			t.Errorf("Of(%q) = %v\n%s", text, got, explain(text))
		}
	}
}

// TestShort holds that what a person wrote about an error shares a fingerprint
// with what the tool said.
func TestShort(t *testing.T) {
	for _, test := range []struct{ note, output string }{
		{"npm install → EACCES", "npm ERR! code EACCES\nnpm ERR! syscall mkdir\nnpm ERR! path /usr/local/lib/node_modules\nnpm ERR! errno -13"},
		{"ERESOLVE after upgrading react", "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve"},
		{"E0382 in a loop over a vector", "error[E0382]: use of moved value: `rows`\n  --> src/x.rs:1:2"},
		{"passing a string where TS2345 is raised", "a.ts(1,2): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Id'."},
		{"login failed with ORA-01017", "ERROR:\nORA-01017: invalid username/password; logon denied"},
		{"importing failed: ModuleNotFoundError: No module named 'yaml'", "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nModuleNotFoundError: No module named 'yaml'"},
		{"npm install -g stops with \"EACCES: permission denied, mkdir '/usr/local/lib/node_modules'\" because the prefix belongs to root.",
			"npm error Error: EACCES: permission denied, mkdir '/opt/node/lib/node_modules'"},
		{"kubectl answers `error: You must be logged in to the server (Unauthorized)` once the token is old", "error: You must be logged in to the server (Unauthorized)"},
		{"Go says “import cycle not allowed in test” for that", "package a\n\timports b: import cycle not allowed in test"},
		{"git push said: error: failed to push some refs to 'origin'", "To x\nerror: failed to push some refs to 'origin'"},
	} {
		note, output := Of(test.note), Of(test.output)
		if !slices.ContainsFunc(note, func(f string) bool { return slices.Contains(output, f) }) {
			t.Errorf("nothing in common:\n%s%v\n%s%v", explain(test.note), note, explain(test.output), output)
		}
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"":                                                "",
		"\x1b[1;31mError:\x1b[0m  Boom!":                  "error: boom",
		"\x1b]8;;https://x\x07link\x1b]8;;\x07":           "link",
		"10%\r50%\rdone":                                  "done",
		"open /a/b c.txt: no":                             "open <path>: no",
		"open 'C:\\Program Files\\x y\\z': no":            "open '<path>': no",
		`\\srv\share\x`:                                   "<path>",
		"run '/bin/sh -c npm ci'":                         "run '<path> -c npm ci'",
		"see https://x.example/a?b=1#c, now":              "see <url>, now",
		"clone git@h.example:a/b.git":                     "clone <url>",
		"at 12:30:45.123 on 2026-01-15T12:00:00Z in 1.5s": "at <n> on <n> in <n>",
		"at 2026-01-15 12:00:00,123":                      "at <n>",
		"pid 4312 at 0x7ffe12 of 1b6d3586":                "pid <n> at <n> of <n>",
		"id 8f14e45f-ceea-467f-a8d2-0123456789ab":         "id <n>",
		"sha256:9f86d081884c7d65 v1.2.3 ^4.0.0":           "sha256:<n> ^<n>",
		"127.0.0.1:5432 and ::1:5432":                     "<n> and <n>",
		"error[E0382]: x":                                 "error[e0382]: x",
		"exit code 137, errno 13, SQLSTATE[42S02]":        "exit code 137, errno 13, sqlstate[42s02]",
		"404 Not Found":                                   "404 not found",
		"Error: 3 problems":                               "error: <n> problems",
		"ORA-01017: invalid":                              "ora-01017: invalid",
		"module ‘foo’ “bar” `baz`":                        "module 'foo' 'bar' 'baz'",
		"read/write of linux/amd64":                       "read/write of linux/amd64",
		"@scope/pkg@1.2.3 missing":                        "@scope/pkg@<n> missing",
		"utf8 base64 sha256sum i18n x86_64":               "utf8 base64 sha256sum i18n x86_64",
		"a.ts(10,5): error":                               "<path>: error",
		"tmp_83742 gone":                                  "tmp_<n> gone",
		"Fehler: Datei »a.txt« nicht gefunden":            "fehler: datei '<path>' nicht gefunden",
		"• ✗ bad":                                         "bad",
	} {
		got := normalise(in)
		if got != want {
			t.Errorf("normalise(%q) = %q, want %q", in, got, want)
		}
		if again := normalise(got); again != got {
			t.Errorf("normalise(%q) = %q", got, again)
		}
	}
}

func TestPhrasesAreSorted(t *testing.T) {
	for i := 1; i < len(phrases); i++ {
		if phrases[i].text <= phrases[i-1].text {
			t.Errorf("phrases: %q stands behind %q", phrases[i].text, phrases[i-1].text)
		}
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ivy", "jon"} {
		b.WriteString("error: cannot open the book of " + name + "\n")
	}
	if got := len(Of(b.String())); got != Max {
		t.Errorf("%d fingerprints, want %d", got, Max)
	}
	// The end of a long output is read, and so is its beginning.
	noise := strings.Repeat("compiling some package\n", maxText/10)
	long := Of("error: cannot open the book\n" + noise + "error: cannot close the door")
	if want := append(Of("error: cannot open the book"), Of("error: cannot close the door")...); !slices.Equal(long, want) {
		t.Errorf("of a long text: %v, want %v", long, want)
	}
	strongest := Of("cannot open it\nerror[E0382]: borrow of moved value: `x`")
	if want := Of("error[E0382]: borrow of moved value: `x`"); strongest[0] != want[0] {
		t.Errorf("the most specific does not come first: %v, want %v first", strongest, want)
	}
}

func FuzzOf(f *testing.F) {
	for _, texts := range kin {
		f.Add(texts[0], uint32(7), "tmp")
	}
	f.Add("'/a b'/c -> /d:1:2 (3,4)::5 v6 _789 ORA-1 code 5:", uint32(0), "x")
	f.Fuzz(func(t *testing.T, text string, number uint32, name string) {
		if len(Of(text)) > Max {
			t.Fatal("too many fingerprints")
		}
		normal := normalise(text)
		if again := normalise(normal); again != normal {
			t.Fatalf("%q normalises to %q, that to %q", text, normal, again)
		}
		// Another number and another path change nothing.
		name = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, name)
		number %= 1_000_000
		with := func(number, path string) string {
			return text + "\nerror: cannot open " + path + " after " + number + " tries"
		}
		got, want := Of(with(itoa(number), "/home/"+name+"q/w")), Of(with("3", "/var/lib/x"))
		if !slices.Equal(got, want) {
			t.Fatalf("%q, number %d, name %q: %v, want %v", text, number, name, got, want)
		}
	})
}

func itoa(n uint32) string {
	digits := []byte{byte('0' + n%10)}
	for n /= 10; n > 0; n /= 10 {
		digits = append([]byte{byte('0' + n%10)}, digits...)
	}
	return string(digits)
}

func BenchmarkOf(b *testing.B) {
	var text strings.Builder
	for text.Len() < 64<<10 {
		for _, texts := range kin {
			text.WriteString(texts[0] + "\nsome ordinary line of output that says nothing of note\n")
		}
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		Of(text.String())
	}
}
