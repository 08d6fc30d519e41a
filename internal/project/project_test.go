package project

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

func TestParseRemote(t *testing.T) {
	const want = "git.example.org/Org/Repo"
	for _, address := range []string{
		"https://git.example.org/Org/Repo",
		"https://git.example.org/Org/Repo.git",
		"https://Git.Example.ORG/Org/Repo.git/",
		"https://user:secret@git.example.org:8443/Org/Repo.git",
		"http://git.example.org//Org/./Repo",
		"ssh://git@git.example.org:2222/Org/Repo.git",
		"git+ssh://git@git.example.org/Org/Repo",
		"git://git.example.org/Org/Repo.git",
		"git@git.example.org:Org/Repo.git",
		"git@git.example.org:/Org/Repo",
		"git@git.example.org:Org/Repo/.git",
		"GIT.example.org:Org/Repo.git",
		" git@git.example.org:Org/Repo.git\r",
		"[git.example.org]:Org/Repo.git",
		"[git.example.org:2222]:Org/Repo.git",
		"git@[git.example.org:2222]:Org/Repo.git",
		"[git@git.example.org:2222]:Org/Repo.git",
	} {
		if got := parseRemote(address); got.key != want || got.path != "" || got.name() != "Repo" {
			t.Errorf("parseRemote(%q) = %+v, want the key %q", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"git@[::1]:Repo":       "::1/Repo",
		"[2001:db8::1]:/a/b":   "2001:db8::1/a/b",
		"ssh://git@[::1]:22/x": "::1/x",
		"host:odd[1]:name":     "host/odd[1]:name",
		"a@b:[c]:d":            "b/[c]:d",
	} {
		if got := parseRemote(address); got.key != want || got.path != "" {
			t.Errorf("parseRemote(%q) = %+v, want the key %q", address, got, want)
		}
	}
	if got := parseRemote("a:Org/Repo"); (got.key == "a/Org/Repo") != (runtime.GOOS != "windows") || (got.path == "") != (got.key != "") {
		t.Errorf("a host of one letter is %+v; it is one but on Windows, where it is a drive", got)
	}
	for address, want := range map[string]string{
		"/srv/repo":           "/srv/repo",
		"../repo":             "../repo",
		"file:///srv/repo":    "/srv/repo",
		"C:/work/repo":        "C:/work/repo",
		`C:\work\repo`:        `C:\work\repo`,
		"file:///C:/work/r":   "C:/work/r",
		"./odd:name":          "./odd:name",
		"/srv/a@[b]:c":        "/srv/a@[b]:c",
		"[odd]":               "[odd]",
		"":                    "",
		"https://":            "",
		"https://host.only/":  "",
		"https://%zz/bad.git": "",
	} {
		got := parseRemote(address)
		if got.key != "" || filepath.ToSlash(got.path) != filepath.ToSlash(filepath.FromSlash(want)) {
			t.Errorf("parseRemote(%q) = %+v, want the path %q", address, got, want)
		}
	}
}

func TestOriginURL(t *testing.T) {
	for name, test := range map[string]struct{ config, want string }{
		"origin":              {"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/o/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", "https://h/o/r.git"},
		"origin among others": {"[remote \"a\"]\nurl = A\n[remote \"origin\"]\nurl = O\n[remote \"b\"]\nurl = B\n", "O"},
		"the only one":        {"[remote \"upstream\"]\nurl = U\n", "U"},
		"two without origin":  {"[remote \"a\"]\nurl = A\n[remote \"b\"]\nurl = B\n", ""},
		"comment and quotes":  {"[remote \"origin\"] ; mine\n  URL = \"h:o/r # x\" # y\n", "h:o/r # x"},
		"same line":           {"[remote \"origin\"] url = X\n", "X"},
		"first of two":        {"[remote \"origin\"]\nurl = X\nurl = Y\n", "X"},
		"another section":     {"[branch \"origin\"]\nurl = X\n", ""},
		"torn":                {"[remote \"origin\nurl = X", ""},
	} {
		if got := originURL(git.ParseConfig([]byte(test.config))); got != test.want {
			t.Errorf("%s: originURL = %q, want %q", name, got, test.want)
		}
	}
}

func FuzzRemote(f *testing.F) {
	f.Add("git@host:a/b.git")
	f.Add("host:a:b/.git")
	f.Add("https://u:p@host:1/a/../b")
	f.Add("[remote \"origin\"]\nurl = \\")
	f.Fuzz(func(t *testing.T, s string) {
		r := parseRemote(originURL(git.ParseConfig([]byte("[remote \"origin\"]\nurl = " + s))))
		parseRemote(s)
		if r.key != "" && r.path != "" {
			t.Errorf("%q is both on a server and on this machine: %+v", s, r)
		}
		if strings.HasSuffix(r.key, "/") {
			t.Errorf("%q: the key %q has no name", s, r.key)
		}
	})
}

// repo makes folders of a fake but well-formed repository. Those with the same remote
// have a commit in common; the others have one of their own.
func repo(t *testing.T, root, remote string) {
	t.Helper()
	gittest.Commit(t, filepath.Join(root, ".git"), cmp.Or(parseRemote(remote).key, root))
	config := "[core]\n\tbare = false\n"
	if remote != "" {
		config += fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n", remote)
	}
	write(t, filepath.Join(root, ".git", "config"), config)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// realTemp is a temporary folder without symbolic links in its path.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func identify(t *testing.T, dir string) Identity {
	t.Helper()
	id, err := Identify(dir)
	if err != nil {
		t.Fatalf("Identify(%s): %v", dir, err)
	}
	return id
}

func TestIdentifyFolders(t *testing.T) {
	tmp := realTemp(t)
	repo(t, filepath.Join(tmp, "one"), "git@h.example:org/thing.git")
	write(t, filepath.Join(tmp, "one", "deep", "er", "x.go"), "package x\n")
	repo(t, filepath.Join(tmp, "two"), "https://h.example/org/thing")
	repo(t, filepath.Join(tmp, "bare-name"), "")

	one := identify(t, filepath.Join(tmp, "one", "deep", "er"))
	if one.Root != filepath.Join(tmp, "one") || one.GitDir != filepath.Join(tmp, "one", ".git") || one.CommonDir != one.GitDir {
		t.Errorf("a folder below a repository: %+v", one)
	}
	if one.Project.Name != "thing" || one.Project.Remote != "h.example/org/thing" || !slices.Equal(one.Project.Names, []string{"thing", "one"}) {
		t.Errorf("names and remote: %+v", one.Project)
	}
	two := identify(t, filepath.Join(tmp, "two"))
	if two.Project.ID != one.Project.ID {
		t.Errorf("the ssh clone is %s, the https clone %s", one.Project.ID, two.Project.ID)
	}
	if SandboxID(one.Root) == SandboxID(two.Root) {
		t.Error("two clones have the same sandbox")
	}
	bare := identify(t, filepath.Join(tmp, "bare-name"))
	if bare.Project.Name != "bare-name" || bare.Project.Remote != "" || bare.Project.ID == one.Project.ID {
		t.Errorf("without a remote: %+v", bare.Project)
	}

	plain := filepath.Join(tmp, "plain")
	write(t, filepath.Join(plain, "sub", "a.txt"), "a\n")
	if err := os.Mkdir(filepath.Join(plain, ".git"), 0o755); err != nil { // left behind, empty
		t.Fatal(err)
	}
	id := identify(t, plain)
	if id.Root != plain || id.GitDir != "" || id.Project.Name != "plain" {
		t.Errorf("a folder without git: %+v", id)
	}
	if !strings.HasPrefix(id.Project.ID, "p-") || !strings.HasPrefix(SandboxID(id.Root), "s-") {
		t.Errorf("ids %s and %s", id.Project.ID, SandboxID(id.Root))
	}

	link := filepath.Join(tmp, "link")
	if err := os.Symlink(filepath.Join(tmp, "one", "deep"), link); err != nil {
		t.Logf("no symbolic links here: %v", err)
	} else if got := identify(t, link); got.Root != one.Root {
		t.Errorf("through a link the root is %s", got.Root)
	}
}

func TestIdentifyRefuses(t *testing.T) {
	tmp := realTemp(t)
	home := filepath.Join(tmp, "home")
	repo(t, home, "git@h:me/dotfiles") // dotfiles kept in git
	write(t, filepath.Join(home, "notes", "n.md"), "# n\n")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for dir, want := range map[string]memory.Code{
		home: memory.CodeForbidden,
		filepath.VolumeName(tmp) + string(filepath.Separator): memory.CodeForbidden,
		filepath.Join(tmp, "missing"):                         memory.CodeNotFound,
		filepath.Join(home, "notes", "n.md"):                  memory.CodeInvalidInput,
	} {
		if _, err := Identify(dir); memory.CodeOf(err) != want {
			t.Errorf("Identify(%s) = %v, want code %s", dir, err, want)
		}
	}
	if id := identify(t, filepath.Join(home, "notes")); id.Root != filepath.Join(home, "notes") {
		t.Errorf("the dotfiles swallowed %s: %+v", filepath.Join(home, "notes"), id)
	}
	write(t, filepath.Join(tmp, "torn", ".git"), "gitdir: ../nowhere\n")
	if _, err := Identify(filepath.Join(tmp, "torn")); memory.CodeOf(err) != memory.CodeConflict || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a worktree without its repository: %v", err)
	}
	circle := filepath.Join(tmp, "circle", ".git")
	write(t, filepath.Join(tmp, "circle", "n.md"), "# n\n")
	if err := os.Symlink(circle, circle); err == nil { // Windows asks for a right
		if _, err := Identify(filepath.Dir(circle)); memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(err.Error(), circle) {
			t.Errorf("a .git that cannot be read: %v", err)
		}
	}
}

// TestIdentifyRefusesBare: git's own files are nobody's code. A worktree that lies
// in a bare repository is one all the same.
func TestIdentifyRefusesBare(t *testing.T) {
	tmp := realTemp(t)
	bare := filepath.Join(tmp, "shop.git")
	write(t, filepath.Join(bare, "HEAD"), "ref: refs/heads/main\n")
	for _, dir := range []string{"objects", "refs", "hooks"} {
		must(t, os.MkdirAll(filepath.Join(bare, dir), 0o755))
	}
	for _, dir := range []string{bare, filepath.Join(bare, "hooks")} {
		_, err := Identify(dir)
		e, ok := errors.AsType[*memory.Error](err)
		if !ok || e.Code != memory.CodeConflict || !strings.Contains(e.Message, bare+" is a bare repository") || e.Hint == "" {
			t.Errorf("Identify(%s) = %v, want a conflict that names %s and a next step", dir, err, bare)
		}
	}
	inside := filepath.Join(bare, "main")
	repo(t, inside, "")
	if id := identify(t, inside); id.Root != inside {
		t.Errorf("in a bare repository the worktree %s is %+v", inside, id)
	}
	// A HEAD alone makes no repository.
	plain := filepath.Join(tmp, "plain")
	write(t, filepath.Join(plain, "HEAD"), "a file\n")
	if id := identify(t, plain); id.Root != plain {
		t.Errorf("a folder with a file HEAD is %+v", id)
	}
}

func TestIdentifyAbove(t *testing.T) {
	tmp := realTemp(t)
	want := []string{filepath.Join(tmp, "a"), filepath.Join(tmp, "deep", "er", "c"), filepath.Join(tmp, "group", "b")}
	for _, root := range want {
		repo(t, root, "")
	}
	repo(t, filepath.Join(tmp, "a", "inner"), "")          // inside one that is listed
	repo(t, filepath.Join(tmp, "node_modules", "dep"), "") // other people's
	repo(t, filepath.Join(tmp, "1", "2", "3", "4"), "")    // too deep
	_, err := Identify(tmp)
	above, ok := errors.AsType[*AboveError](err)
	if !ok || !slices.Equal(above.Repos, want) {
		t.Fatalf("Identify above repositories: %v, want %v", err, want)
	}
	if memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("code %s", memory.CodeOf(err))
	}
	if e := memory.AsError(err); e.Hint == "" || !strings.Contains(e.Message, want[0]) {
		t.Errorf("what people see: %+v", e)
	}
	if id := identify(t, filepath.Join(tmp, "1", "2", "3", "4")); id.GitDir == "" {
		t.Error("the deep repository has no git folder")
	}
	for i := range searchRepos + 5 {
		repo(t, filepath.Join(tmp, "many", fmt.Sprintf("r%02d", i)), "")
	}
	_, err = Identify(filepath.Join(tmp, "many"))
	if above, _ := errors.AsType[*AboveError](err); above == nil || len(above.Repos) != searchRepos {
		t.Errorf("many repositories: %v", err)
	}
}

// TestWithGit holds the package against what git itself makes and says.
func TestWithGit(t *testing.T) {
	gittest.Need(t)
	tmp := realTemp(t)
	git := func(dir string, args ...string) string {
		t.Helper()
		return gittest.Run(t, dir, args...)
	}
	origin := filepath.Join(tmp, "origin")
	write(t, filepath.Join(origin, "sub", "a.go"), "package a\n")
	git(origin, "init", "-q")
	git(origin, "add", ".")
	git(origin, "commit", "-qm", "first")
	git(origin, "worktree", "add", "-q", filepath.Join(tmp, "tree"))
	git(tmp, "clone", "-q", origin, "clone")
	git(tmp, "clone", "-q", "clone", "clone-of-clone")
	git(tmp, "clone", "-q", "--bare", origin, "bare.git")
	git(filepath.Join(tmp, "bare.git"), "worktree", "add", "-q", filepath.Join(tmp, "bare-tree"))
	git(filepath.Join(tmp, "clone"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(tmp, "bare.git"), "sub-module")

	first := identify(t, origin)
	for _, dir := range []string{"origin/sub", "tree", "tree/sub", "clone", "clone-of-clone", "bare-tree"} {
		dir = filepath.Join(tmp, filepath.FromSlash(dir))
		id := identify(t, dir)
		if id.Project.ID != first.Project.ID {
			t.Errorf("%s is project %+v, the origin %+v", dir, id.Project, first.Project)
		}
		for what, got := range map[string]string{"--show-toplevel": id.Root, "--absolute-git-dir": id.GitDir} {
			if want := filepath.FromSlash(git(dir, "rev-parse", what)); got != want {
				t.Errorf("%s: git rev-parse %s says %s, not %s", dir, what, want, got)
			}
		}
		common := git(dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if id.CommonDir != filepath.FromSlash(common) {
			t.Errorf("%s: git's common folder is %s, not %s", dir, common, id.CommonDir)
		}
	}
	sub := identify(t, filepath.Join(tmp, "clone", "sub-module"))
	if sub.Root != filepath.Join(tmp, "clone", "sub-module") {
		t.Errorf("a submodule's root is %s", sub.Root)
	}

	git(origin, "remote", "add", "origin", "git@h.example:org/thing.git")
	moved := filepath.Join(tmp, "renamed")
	before := identify(t, origin).Project.ID
	must(t, os.Rename(origin, moved))
	if after := identify(t, moved).Project.ID; after != before {
		t.Errorf("renaming the folder changed the project from %s to %s", before, after)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
