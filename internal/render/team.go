package render

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// maxTeamNames is how many members a mark names.
const maxTeamNames = 2

// TeamNames writes which members share a lesson, and how often it worked for each:
// "ann, 4/5; bob; 3 more".
func TeamNames(shares []memory.TeamShare) string {
	var parts []string
	for n, s := range shares {
		if n == maxTeamNames {
			parts = append(parts, fmt.Sprintf("%d more", len(shares)-n))
			break
		}
		name := s.Member
		if s.Rate != nil {
			name += ", " + s.Rate.String()
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, "; ")
}
