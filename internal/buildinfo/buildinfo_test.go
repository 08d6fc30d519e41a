package buildinfo

import "testing"

func TestNewer(t *testing.T) {
	// Each is newer than those before it.
	ascending := []string{
		"v0.0.0-20261125215100-19c9b27abcde",
		"v0.0.0-20261126000000-0000000abcde",
		"v0.1.0-rc.1",
		"v0.1.0",
		"v0.1.1-0.20261127000000-0000000abcde",
		"v0.1.1",
		"v0.2.0-SNAPSHOT-abc",
		"v0.10.0",
		"v1.0.0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := Newer(a, b); got != (i > j) {
				t.Errorf("Newer(%s, %s) = %v", a, b, got)
			}
		}
	}
	for _, pair := range [][2]string{
		{"v0.1.0", Unknown}, {Unknown, "v0.1.0"}, {Unknown, Unknown}, {"v0.1.0", ""}, {"0.2.0", "v0.1.0"},
		{"v0.1.0+dirty", "v0.1.0"}, // metadata of a build says nothing about its age
	} {
		if Newer(pair[0], pair[1]) {
			t.Errorf("Newer(%q, %q): one of them is unknown, or both are as old", pair[0], pair[1])
		}
	}
}
