package agentctx

import (
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// guide returns the guidance of tools that are new in a session, and marks them in its
// working context: between two compactions the guidance of a tool is handed out once. It is
// empty if no tool has new guidance.
//
//	[TOOL GUIDANCE] Instructions for discovered tools
//
//	filesystem:read_file
//	Read a file before you edit it.
func guide(wc *memory.WorkingContext, tools []memory.EntryState) string {
	var b strings.Builder
	known := setOf(wc.Guided)
	for _, t := range tools {
		ref := toolOf(&t)
		if t.Guidance == "" || known[ref] {
			continue
		}
		known[ref] = true
		wc.Guided = append(wc.Guided, ref)
		if b.Len() == 0 {
			b.WriteString(memory.GuidanceHeading + "\n")
		}
		b.WriteString(render.Guidance(&t))
	}
	wc.Guided = latest(wc.Guided)
	return b.String()
}

// setOf returns a set of tools; a session may know a thousand.
func setOf(tools []memory.ToolRef) map[memory.ToolRef]bool {
	set := make(map[memory.ToolRef]bool, len(tools))
	for _, ref := range tools {
		set[ref] = true
	}
	return set
}

// toolOf returns the reference of a tool's entry.
func toolOf(t *memory.EntryState) memory.ToolRef {
	return memory.ToolRef{ServerName: t.ServerName, ToolName: t.Name}
}

// latest returns the last MaxDiscovered tools of a list. Older tools can be found again.
func latest(tools []memory.ToolRef) []memory.ToolRef {
	return tools[max(0, len(tools)-memory.MaxDiscovered):]
}

// active returns the tools that a session may call (contract 5): core tools in the order of
// the catalogue, then discovered ones, if they exist and are enabled.
func active(items []memory.EntryState, wc *memory.WorkingContext) []memory.ToolRef {
	tools := []memory.ToolRef{}
	discovered := setOf(wc.DiscoveredTools)
	there := make(map[memory.ToolRef]bool, len(discovered))
	for i := range items { // there may be thousands
		e := &items[i]
		if e.Type != memory.Tool || !e.On {
			continue
		}
		switch ref := toolOf(e); {
		case e.Core:
			tools = append(tools, ref)
		case discovered[ref]:
			there[ref] = true
		}
	}
	for _, ref := range wc.DiscoveredTools {
		if there[ref] {
			tools = append(tools, ref)
		}
	}
	return tools
}
