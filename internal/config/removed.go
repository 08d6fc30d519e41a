package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// removed are settings of former versions. They are accepted and ignored, with a notice
// for each. Their values are constants beside the code that uses them.
var removed = []string{
	"log.max_size", "daemon.start_timeout", "daemon.drain_timeout",
	"index.workers", "index.reconcile_every",
	"queue.lease", "queue.max_attempts", "queue.backoff_min", "queue.backoff_max",
	"recall.query_deadline", "recall.vector_weight",
	"recall.half_life_days.lesson", "recall.half_life_days.step", "recall.half_life_days.chunk", "recall.half_life_days.task",
	"recall.half_life_days.reference", "recall.half_life_days.rule", "recall.half_life_days.tool",
	"embedding.ollama.batch", "embedding.ollama.concurrency", "embedding.ollama.keep_alive",
	"context.shares.rule", "context.shares.reference", "context.shares.tool",
	"context.shares.lesson", "context.shares.step", "context.shares.chunk",
}

// removedGroups held only removed settings.
var removedGroups = []string{"recall.half_life_days", "context.shares"}

// Removed reports whether a path names a setting of former versions that has no effect.
func Removed(path string) bool { return slices.Contains(removed, path) }

// ignore notes that a removed setting has no effect. Source is where it is set.
func (c *Config) ignore(source, path string) {
	c.Notices = append(c.Notices, fmt.Sprintf("%s: %s is no longer a setting and has no effect", source, path))
}

// ignoreRemoved takes the removed settings out of a parsed settings file.
func (c *Config) ignoreRemoved(file string, body ast.Node) {
	mapping, ok := body.(*ast.MappingNode)
	if !ok {
		return
	}
	mapping.Values = slices.DeleteFunc(mapping.Values, func(n *ast.MappingValueNode) bool {
		path := strings.TrimPrefix(n.Key.GetPath(), "$.")
		if Removed(path) {
			c.ignore(fmt.Sprintf("%s:%d", file, n.Key.GetToken().Position.Line), path)
			return true
		}
		c.ignoreRemoved(file, n.Value)
		group, ok := n.Value.(*ast.MappingNode)
		return slices.Contains(removedGroups, path) && (n.Value.Type() == ast.NullType || ok && len(group.Values) == 0)
	})
}
