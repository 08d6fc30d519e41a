package steptext

import "testing"

func TestIsCommand(t *testing.T) {
	for prompt, want := range map[string]bool{
		"": false, "/": true, "/clear": true, "/review cmd/app": true, "fix /clear": false,
		"/home/me/app fails with exit 2": false, "/etc/hosts": false,
	} {
		if got := IsCommand(prompt); got != want {
			t.Errorf("IsCommand(%q) = %v, want %v", prompt, got, want)
		}
	}
}
