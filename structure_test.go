package recalld_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPackageMap compares the table of folders in docs/architecture.md with the
// packages: each package below internal/ has a row, and each row its folder.
func TestPackageMap(t *testing.T) {
	document, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(document), "\n## Package map\n")
	if !found {
		t.Fatal("docs/architecture.md has no section Package map")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.SplitSeq(section, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		folders, _, _ := strings.Cut(line[2:], " | ")
		for folder := range strings.SplitSeq(folders, ", ") {
			rows = append(rows, strings.Trim(folder, "`"))
		}
	}
	_, files := readModule(t)
	for _, f := range files {
		if strings.HasPrefix(f.pkg, "internal/") && !slices.Contains(rows, f.pkg) {
			t.Errorf("docs/architecture.md, package map: %s has no row", f.pkg)
			rows = append(rows, f.pkg) // say it once
		}
	}
	for _, row := range rows {
		if info, err := os.Stat(row); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md, package map: the folder %s does not exist", row)
		}
	}
}

// TestMakeTargets: every target that the Makefile declares and that the instructions for
// contributors name has a rule. One without is "nothing to be done", and nothing fails. Every
// rule is declared: else a file of its name would stand for it.
func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	var rules []string
	for line := range strings.Lines(string(makefile)) {
		if rule, _, is := strings.Cut(line, ":"); is && strings.Contains(line, " ## ") {
			rules = append(rules, rule)
		}
		if names, phony := strings.CutPrefix(line, ".PHONY:"); phony {
			want = append(want, strings.Fields(names)...)
		}
	}
	for _, rule := range rules {
		if !slices.Contains(want, rule) {
			t.Errorf("Makefile: .PHONY lacks %s", rule)
		}
	}
	for part := range strings.SplitSeq(string(contributing), "`make ") {
		if name := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == '`' })[0]; !strings.HasPrefix(part, "#") {
			want = append(want, name)
		}
	}
	for _, name := range want {
		if !strings.Contains(string(makefile), "\n"+name+":") {
			t.Errorf("Makefile: %s has no rule", name)
		}
	}
}

// TestFuzzingOfCI: the document says how long CI fuzzes.
func TestFuzzingOfCI(t *testing.T) {
	options := regexp.MustCompile(`FUZZTIME=.*`).FindString(read(t, ".ci/run"))
	if options == "" || !strings.Contains(read(t, "docs/reliability.md"), "`make fuzz "+options+"`") {
		t.Errorf("docs/reliability.md does not have CI's %q", options)
	}
}

// TestTrainerBuilds: the trainer is a module of its own, which go build ./... and go test
// ./... do not see. What it uses of this one must not change unnoticed.
func TestTrainerBuilds(t *testing.T) {
	build := exec.Command("go", "vet", "./...")
	build.Dir = "embedder/builtin/training"
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("the module %s is broken: %v\n%s", build.Dir, err, out)
	}
	product := exec.Command("go", "list", "-deps", "./cmd/recalld")
	out, err := product.Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "embedder/builtin/training") {
		t.Error("the program depends on the trainer")
	}
}
