package mcp

const indexDescription = `Index a repository, or redo files that changed, in the background; answers at once with the place in the queue. Use it when recall says that a project is not indexed or its code is stale. Without a path the caller's own repository is meant. The status tool shows how far it is.`

const statusDescription = `Show whether the memory daemon is healthy: the state of each project's index, how far each model's vectors are, the queue and the last errors. Use it when answers look degraded or stale, or after index_repo.`

// adminTools look after the daemon and its indexes.
func adminTools() []ownTool {
	return []ownTool{
		{name: "index_repo", title: "Index a repository", description: indexDescription, group: groupAdmin, hints: repeats,
			in: indexInputSchema(), out: indexOutputSchema(), bind: plain((*Server).indexRepo)},
		{name: "status", title: "Memory status", description: statusDescription, group: groupAdmin, hints: reads,
			in: object("", true, schema{}), out: statusOutputSchema(), bind: plain((*Server).status)},
	}
}
