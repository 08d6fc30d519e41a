package contextfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/recalld/recalld/internal/memory"
)

// serversIn returns what reads the names of servers from the settings of an MCP client, and
// nothing else; they stand in the field under. Problems quote nothing, because a name may be
// a secret in the wrong place.
func serversIn(under string) func(l *scan, p, text string) memory.FileEntries {
	return func(l *scan, p, text string) memory.FileEntries {
		f := memory.FileEntries{Path: p}
		names, line, err := namesUnder(text, under)
		if err != nil {
			l.problem(p, line, "%v", err)
		}
		seen := map[string]bool{}
		for _, name := range names {
			server := memory.Server{Name: name}
			if server.Validate("") != nil {
				l.problem(p, 0, "has a server whose name is not one line of 1–200 characters")
				continue
			}
			if !seen[server.Name] && server.Name != own {
				seen[server.Name] = true
				f.Servers = append(f.Servers, server)
			}
		}
		return f
	}
}

var errNotJSON = errors.New("is not a JSON object")

// maxOpen bounds the brackets of settings: the parser calls itself for each nested one.
const maxOpen = 10_000

// namesUnder returns the names of the objects in the field under of a JSON object.
// Comments and trailing commas are allowed, as editors write them. If the text is not
// JSON, line, from 1, is where it stops being so. No other value is decoded or copied.
func namesUnder(text, under string) (names []string, line int, err error) {
	if strings.Count(text, "{")+strings.Count(text, "[") > maxOpen {
		return nil, 1, errNotJSON
	}
	root, err := hujson.Parse([]byte(text + "\n")) // a comment ends with a line
	if err != nil {
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d", &line)
		return nil, min(line, 1+strings.Count(text, "\n")), errNotJSON // the error quotes the file
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, 1, errNotJSON
	}
	for _, field := range object.Members {
		servers, ok := field.Value.Value.(*hujson.Object)
		if !ok || nameOf(field) != under {
			continue
		}
		for _, server := range servers.Members {
			if _, ok := server.Value.Value.(*hujson.Object); ok {
				names = append(names, nameOf(server))
			}
		}
	}
	return names, 0, nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }
