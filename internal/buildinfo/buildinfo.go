// Package buildinfo says which build of recalld this program is, and which of two builds
// is newer.
//
// A version is a semantic version with a leading v: that of a release, set by the linker;
// else the one that Go derives from the commit, such as v0.1.1-0.20261125215100-19c9b27abcde,
// which stands between the release before the commit and the next one.
package buildinfo

import (
	"cmp"
	"runtime/debug"

	"golang.org/x/mod/semver"
)

// Unknown is the version of a program that was built without a release and a commit.
const Unknown = "dev"

// Set by the linker in a release: -X github.com/recalld/recalld/internal/buildinfo.version=v0.1.0
var version string

// Version returns the version of this program, or Unknown.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if version != "" || !ok || info.Main.Version == "(devel)" {
		return cmp.Or(version, Unknown)
	}
	return cmp.Or(info.Main.Version, Unknown)
}

// Commit returns the commit that this program was built from, or nothing where none is
// known.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// Valid reports whether a text is the version of a build with a release or a commit.
func Valid(version string) bool { return semver.IsValid(version) }

// Newer reports whether a version is newer than another. It is not if either is unknown:
// who acts upon it must not act upon a guess.
func Newer(version, than string) bool {
	return semver.IsValid(version) && semver.IsValid(than) && semver.Compare(version, than) > 0
}
