package render

import "github.com/recalld/recalld/internal/memory"

// anchorMark says that a lesson's code changed or is gone.
func anchorMark(i memory.Item) string {
	switch memory.WorstAnchor(i.Anchors) {
	case memory.AnchorChanged:
		return " (code changed since)"
	case memory.AnchorGone:
		return " (code gone)"
	}
	return ""
}
