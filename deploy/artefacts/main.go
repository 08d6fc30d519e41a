// Command artefacts makes what a release consists of. A release is built by goreleaser
// (.goreleaser.yaml) and packed by this program; where goreleaser takes too long to build,
// as in .ci/run, this program builds the archives and packages too, under the same names
// and from the same configuration.
//
//	artefacts prepare -version v0.1.0        # the files that packages hold besides the program
//	artefacts build -version v0.1.0 -out dist [-targets linux/amd64,…]
//	artefacts pack -version v0.1.0 -out dist # npm packages and bundles, from the archives in dist
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/semver"
)

// allTargets are the platforms of a release.
var allTargets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// release is one version of the program, and where its artefacts are.
type release struct {
	version string // with the v
	out     string
	targets []target
	only    string // the format to make, empty for all
}

// target is a platform by Go's names.
type target struct{ os, arch string }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "artefacts:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want prepare, build or pack")
	}
	var r release
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "the version, such as v0.1.0")
	flags.StringVar(&r.out, "out", "dist", "the folder of the artefacts")
	names := flags.String("targets", strings.Join(allTargets, ","), "the platforms")
	flags.StringVar(&r.only, "only", "", "with build: the one format to make, deb or rpm")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if !semver.IsValid(r.version) || semver.Canonical(r.version)+semver.Build(r.version) != r.version {
		return fmt.Errorf("-version: %q is no full version such as v0.1.0", r.version)
	}
	for name := range strings.SplitSeq(*names, ",") {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("-targets: %q is no os/arch", name)
		}
		r.targets = append(r.targets, target{system, arch})
	}
	switch args[0] {
	case "prepare":
		r.out, r.targets = prepared, nil
		return r.prepare()
	case "build":
		return r.build()
	case "pack":
		return r.pack()
	}
	return fmt.Errorf("%q is none of prepare, build, pack", args[0])
}

// number is the version without the v, as packages have it.
func (r release) number() string { return strings.TrimPrefix(r.version, "v") }

// archive is the name of the archive for a platform.
func (r release) archive(t target) string {
	name := fmt.Sprintf("recalld_%s_%s_%s", r.number(), t.os, t.arch)
	if t.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// program is the name of the program's file.
func (t target) program() string {
	if t.os == "windows" {
		return "recalld.exe"
	}
	return "recalld"
}
