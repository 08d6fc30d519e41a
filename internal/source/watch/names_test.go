package watch

import "testing"

func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		"4913": true, ".a.go.swp": true, ".a.go.swx": true, ".swp": false, "a.swp": false, "a.go~": true, ".#a.go": true,
		"#a.go#": true, "#": false, "#a": false, "a.go___jb_tmp___": true, ".goutputstream-ABC": true, ".DS_Store": true,
		"a.go": false, ".env": false, "49133": false, ".a.sw": false, ".a.swift": false, ".gitignore": false,
	} {
		if got := isTemporary(name); got != want {
			t.Errorf("isTemporary(%q) = %t, want %t", name, got, want)
		}
	}
}
