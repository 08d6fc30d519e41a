package steptext

import "strings"

// IsCommand says whether a prompt, without space around it, is a command of the client, as
// /clear is; /home/me/x.go is a path.
func IsCommand(prompt string) bool {
	return strings.HasPrefix(prompt, "/") && !strings.Contains(strings.Fields(prompt)[0][1:], "/")
}
