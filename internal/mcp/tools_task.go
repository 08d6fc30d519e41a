package mcp

const completeDescription = `Mark a task as done: complete it, well or not, so that whoever comes next sees it. Give the validation report as an object; its "valid" says success. Intent and summary are kept only with requires_context: true. A task with an id that is there is replaced.`

const blockDescription = `Say that a task cannot go on, and why. It is shown in every window until unblock_task resolves it.`

const unblockDescription = `Resolve a task's blocker; say how, for the audit log.`

const windowDescription = `Show the last completed tasks and all active blockers as text for a prompt, oldest first. Use it before you plan the next task.`

const historyDescription = `Show what happened to tasks, newest first: completed, blocked, resolved how, and what is no longer in the window.`

const loadDescription = `Import tasks and blockers from an old state, or one that was kept elsewhere: an object with completed_tasks and active_blockers, or a list of tasks. What is known stays as it is; doing it again does no harm.`

// taskTools keep working memory.
func taskTools() []ownTool {
	return []ownTool{
		{name: "complete_task", title: "Complete a task", description: completeDescription, group: groupTasks, hints: repeats,
			in: completeInputSchema(), out: taskKeptSchema(), bind: plain((*Server).completeTask)},
		{name: "block_task", title: "Block a task", description: blockDescription, group: groupTasks, hints: repeats,
			in: blockInputSchema(), out: taskKeptSchema(), bind: plain((*Server).blockTask)},
		// Not idempotent: a blocker that is resolved is not there.
		{name: "unblock_task", title: "Unblock a task", description: unblockDescription, group: groupTasks,
			in: unblockInputSchema(), out: taskKeptSchema(), bind: plain((*Server).unblockTask)},
		{name: "task_window", title: "Recent tasks and blockers", description: windowDescription, group: groupTasks, hints: reads,
			in: windowInputSchema(), out: windowOutputSchema(), stored: true, bind: plain((*Server).taskWindow)},
		{name: "task_history", title: "History of tasks", description: historyDescription, group: groupTasks, hints: reads,
			in: historyInputSchema(), out: historyOutputSchema(), stored: true, bind: plain((*Server).taskHistory)},
		{name: "load_tasks", title: "Load tasks", description: loadDescription, group: groupTasks, hints: repeats,
			in: loadInputSchema(), out: loadOutputSchema(), bind: plain((*Server).loadTasks)},
	}
}
