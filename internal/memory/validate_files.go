package memory

import (
	"fmt"
	"strings"
)

// MaxFilePattern is the longest pattern that files are looked for with, in characters.
const MaxFilePattern = 1000

// Validate checks the limits and fills in the defaults.
func (r *FilesRequest) Validate() error {
	r.Pattern = strings.TrimSpace(r.Pattern)
	if err := Text("pattern", r.Pattern, 1, MaxFilePattern); err != nil {
		return err
	}
	if err := Text("project", r.Project, 0, MaxPathText); err != nil {
		return err
	}
	switch {
	case r.Limit == 0:
		r.Limit = DefaultFiles
	case r.Limit < 1 || r.Limit > MaxFilesListed:
		return Invalid("limit", fmt.Sprintf("1–%d", MaxFilesListed), "%d is out of range", r.Limit)
	}
	return r.Caller.Validate()
}
