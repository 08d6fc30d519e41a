package team

import "testing"

// TestReplacePath: only the folder itself and what lies in it is replaced, however it is
// written.
func TestReplacePath(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                    "",
		"nothing":                                             "nothing",
		"in /home/ann/src/shop/cart/total.go:7":               "in cart/total.go:7",
		"“/home/ann/src/shop/a.go”":                           "“a.go”",
		"/home/ann/src/shop/.env":                             ".env",
		"in /home/ann/src/shop. Next":                         "in ./. Next",
		"cd /home/ann/src/shop":                               "cd ./",
		"ls /home/ann/src/shop/ first":                        "ls ./ first",
		"file:///home/ann/src/shop/a.go":                      "file://a.go",
		"/home/ann/src/shop2/a.go":                            "/home/ann/src/shop2/a.go",
		"/home/ann/src/shop.git":                              "/home/ann/src/shop.git",
		"/mnt/x/home/ann/src/shop/a.go":                       "/mnt/x/home/ann/src/shop/a.go",
		"-I/home/ann/src/shop/include -L/home/ann/src/shop":   "-Iinclude -L./",
		"/home//ann/src/shop//a.go":                           "a.go",
		"/Home/Ann/src/shop/A.go and /home/ann/src/shop/b.go": "A.go and b.go",
		"我在/home/ann/src/shop/main.go中修复了错误":                  "我在main.go中修复了错误",
		"サーバー/home/ann/src/shopの設定":                           "サーバー./の設定",
		"/home/ann/src/shop에서 실행":                             "./에서 실행",
		"/home/ann/src/shop/数据.txt":                           "数据.txt",
		"把/home/ann/src/shop复制到/home/ann/src/shop/b":          "把./复制到b",
	} {
		if got := replacePath(text, "/home/ann/src/shop", ""); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"/home/ann/.netrc":                  "~/.netrc",
		"in /home/ann.":                     "in ~.",
		"/home/anna":                        "/home/anna",
		`C:\Users\ann\notes.md`:             `C:\Users\ann\notes.md`,
		"-I/home/ann/include":               "-I~/include",
		"cc -L/home/ann/lib":                "cc -L~/lib",
		"a-b/home/ann/lib":                  "a-b/home/ann/lib",
		"x/home/ann":                        "x/home/ann",
		"在/home/ann中":                       "在~中",
		"从/home/ann/a复制到/home/ann/b":        "从~/a复制到~/b",
		"/home/ann和/home/ann/x":             "~和~/x",
		"/home/ann中或/tmp":                   "~中或/tmp",
		`{"log": "failed\n/home/ann/a.go"}`: `{"log": "failed\n~/a.go"}`,
	} {
		if got := replacePath(text, "/home/ann", "~"); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`see c:\users\ann\src\a.go`:          `see ~\src\a.go`,
		`{"path": "C:\\Users\\ann\\a.go"}`:   `{"path": "~\\a.go"}`,
		"-LC:/Users/ann/lib":                 "-L~/lib",
		`see /c/Users/ann, /mnt/c/Users/ann`: `see /c/Users/ann, /mnt/c/Users/ann`, // not recognised
	} {
		if got := replacePath(text, `C:\Users\ann`, "~"); got != want {
			t.Errorf("a folder of Windows: %q becomes %q, want %q", text, got, want)
		}
	}
	for _, none := range []string{"", ".", "/"} {
		if got := replacePath("a /b . c", none, "~"); got != "a /b . c" {
			t.Errorf("the folder %q: %q", none, got)
		}
	}
}
