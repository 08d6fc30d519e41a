package service

import (
	"net/http"

	"github.com/recalld/recalld/internal/memory"
)

// The table of operations. To add one: declare it here, bind its handler in
// internal/daemon, add it to the methods of the client's test, and accept its line in the
// golden files. "Add a tool" in CONTRIBUTING.md has all steps.
var (
	// What every client and every protocol understands.
	Hello = define[None, Greeting](Spec{Name: "hello", Method: http.MethodGet, Path: "/v1/hello", ReadOnly: true, AnyProtocol: true,
		Title:       "Who answers",
		Description: "Say who answers on the socket: protocol, version, process and data folder."})
	Stop = define[None, None](Spec{Name: "stop", Path: "/v1/stop", AnyProtocol: true,
		Title:       "Stop the daemon",
		Description: "Have the daemon finish what it does and exit. Answers once that has begun."})

	// The core: memories in and out.
	Recall = defineForm[recallForm, memory.RecallRequest, memory.RecallResponse](Spec{Name: "recall", Path: "/v1/recall", Group: Core, ReadOnly: true, Stored: true,
		Title:       "Recall",
		Description: `Search this project's memory: lessons, earlier steps, tasks and code. Use it before a task, when an error appears (paste it whole), and to find where something is implemented. Returns a few ranked items, with file and lines for code, and says so when nothing is relevant. What is only a line is shown in full by its id.`}, recallForm.request)
	// Not idempotent: a lesson that is remembered twice counts twice.
	Remember = define[memory.RememberRequest, memory.Remembered](Spec{Name: "remember", Path: "/v1/remember", Group: Core,
		Title:       "Remember a lesson",
		Description: `Keep a lesson for later sessions and other agents: after an error that took more than one attempt, a working solution to a known problem, or a reusable pattern. Say what was attempted, what was learned and the exact command. It is found by recall at once; secrets are taken out.`})
	Feedback = define[memory.FeedbackRequest, memory.FeedbackResult](Spec{Name: "feedback", Path: "/v1/feedback", Group: Core, Idempotent: true,
		Title:       "Give feedback",
		Description: "Say what came of an answer, or of one item of it, once you know. Only this moves its rank."})
	// Read-only: it only changes what its own session lists and may call.
	SearchTools = define[memory.SearchToolsRequest, memory.ToolMatches](Spec{Name: "search_tools", Path: "/v1/tools/search", Group: Core, ReadOnly: true, Stored: true,
		Title:       "Search tools",
		Description: `Find tools by what you want to do: those of this project's catalogue, and recalld's own that are not listed. Use it before you decide that there is no tool for something.`})
	Receipt = define[memory.ReceiptRequest, memory.Receipt](Spec{Name: "receipt", Method: http.MethodGet, Path: "/v1/receipts/{id}", ReadOnly: true, Stored: true,
		Title:       "One receipt",
		Description: "Show the receipt of one answer: what was asked, handed out and withheld, with scores and settings."})
	Lessons = define[memory.LessonsRequest, memory.LessonList](Spec{Name: "lessons", Path: "/v1/lessons", ReadOnly: true, Stored: true,
		Title:       "List lessons",
		Description: "List the lessons of a project in an order, those with certain words, those whose code changed or is gone since they were told, or those that were withdrawn."})
	Lesson = define[memory.LessonRequest, memory.LessonHistory](Spec{Name: "lesson", Path: "/v1/lesson", ReadOnly: true, Stored: true,
		Title:       "One lesson",
		Description: "Show one lesson, recalled or withdrawn, with what was reported of it, where it was handed out and what came of it."})
	RestoreLesson = define[memory.RestoreLessonRequest, memory.RestoredLesson](Spec{Name: "restore_lesson", Path: "/v1/lesson/restore", Idempotent: true,
		Title:       "Restore a lesson",
		Description: "Bring back a lesson that another one superseded or retracted. The other one stays."})
	MarkLesson = define[memory.MarkLessonRequest, memory.MarkedLesson](Spec{Name: "mark_lesson", Path: "/v1/lesson/mark", Idempotent: true,
		Title:       "Pin a lesson, or keep it private",
		Description: "Pin a lesson, or keep it on this machine. The newest three pinned lessons come first in each brief of their project. false takes the mark back; a mark that is not given stays."})
	// Not idempotent: the second call would not find what the first removed.
	Forget = define[memory.ForgetRequest, memory.Forgotten](Spec{Name: "forget", Path: "/v1/forget", Destructive: true,
		Title:       "Forget",
		Description: "Remove records and sessions with their steps for good, by id, or a whole project. conflict for an id of sessions of several projects."})

	// Sessions and steps.
	StartSession = define[memory.StartSessionRequest, memory.SessionState](Spec{Name: "session_start", Path: "/v1/sessions/start", Group: History,
		Title:       "Start a session",
		Description: `Open a session, one run of one agent, before work of several steps. Give the goal in a sentence, as another agent would search for it. Branch and commit are filled in. Later calls of record_step and recall on this connection use the session until session_end; if you name a project here, calls that name none are about that one until then. Not for clients whose hooks record: see the instructions.`})
	RecordStep = define[memory.RecordStepRequest, memory.StepRecorded](Spec{Name: "record_step", Path: "/v1/sessions/step", Group: History, Stored: true,
		Title:       "Record a step",
		Description: `Record a step of the open session, what you just did: the tool used, on what, and how it ended, or failed. Log what another agent would want to know of, failures above all: a step that failed is answered with lessons about its error. Labels are derived; secrets are taken out. It is found by search as soon as this returns. Not for clients whose hooks record: see the instructions.`})
	EndSession = define[memory.EndSessionRequest, memory.SessionState](Spec{Name: "session_end", Path: "/v1/sessions/end", Group: History, Idempotent: true,
		Title:       "End a session",
		Description: "End the open session, when the task is done or given up. It stays searchable. Ending it again changes nothing."})
	SearchSteps = define[memory.SearchStepsRequest, memory.StepMatches](Spec{Name: "knowledge_search", Path: "/v1/history/search", Group: Knowledge, ReadOnly: true, Stored: true,
		Title:       "Search steps",
		Description: `Find steps of this project's sessions by words and meaning, best first. Query with the name of a tool, a screen, a button or file, or the words of an error; narrow with filters, which choose sessions before any step is ranked. Answers {"ok":true,"result":{"query","matches"}}.`})
	LastSteps = define[memory.LastStepsRequest, memory.StepList](Spec{Name: "knowledge_last", Path: "/v1/history/last", Group: Knowledge, ReadOnly: true, Stored: true,
		Title:       "Last steps",
		Description: `List the newest steps, newest first: of the current session by default, of every session of the project with scope "all". Use it to see where you, or the agent before you, left off. Answers {"ok":true,"result":{"steps"}}.`})
	SummarizeSession = defineForm[summarizeForm, memory.SummarizeRequest, memory.Summary](Spec{Name: "knowledge_summarize", Path: "/v1/history/summary", Group: Knowledge, ReadOnly: true, Stored: true,
		Title:       "Summarise a session",
		Description: `Summarise one session: the recipe of its steps, its goal, counts by label, screens in order, and each failure with what recovered it. Use it to repeat what worked before. Find ids with the sessions tool. Answers {"ok":true,"result":{"sessionId","stepCount","recipe",...}}.`}, summarizeForm.request)
	Sessions = define[memory.SessionsRequest, memory.SessionList](Spec{Name: "knowledge_sessions", Path: "/v1/history/sessions", Group: Knowledge, ReadOnly: true, Stored: true,
		Title:       "List sessions",
		Description: `List the project's sessions, newest first, with goal, tags and branch; filters narrow them. Use it to find an earlier run of a task like yours, then summarise that. Answers {"ok":true,"result":{"sessions"}}.`})

	// Tasks and blockers.
	CompleteTask = define[memory.CompleteTaskRequest, memory.TaskSaved](Spec{Name: "complete_task", Path: "/v1/tasks/complete", Group: Tasks, Idempotent: true,
		Title:       "Complete a task",
		Description: `Mark a task as done: complete it, well or not, so that whoever comes next sees it. Give the validation report as an object; its "valid" says success. Intent and summary are kept only with requires_context: true. A task with an id that is there is replaced.`})
	BlockTask = define[memory.BlockTaskRequest, memory.TaskSaved](Spec{Name: "block_task", Path: "/v1/tasks/block", Group: Tasks, Idempotent: true,
		Title:       "Block a task",
		Description: "Say that a task cannot go on, and why. It is shown in every window until unblock_task resolves it."})
	// Not idempotent: a resolved blocker does not exist.
	UnblockTask = define[memory.UnblockTaskRequest, memory.TaskSaved](Spec{Name: "unblock_task", Path: "/v1/tasks/unblock", Group: Tasks,
		Title:       "Unblock a task",
		Description: "Resolve a task's blocker; say how, for the audit log."})
	TaskWindow = define[memory.TaskWindowRequest, memory.TaskWindow](Spec{Name: "task_window", Path: "/v1/tasks", Group: Tasks, ReadOnly: true, Stored: true,
		Title:       "Recent tasks and blockers",
		Description: "Show the last completed tasks and all active blockers as text for a prompt, oldest first. Use it before you plan the next task."})
	TaskHistory = define[memory.TaskHistoryRequest, memory.TaskHistory](Spec{Name: "task_history", Path: "/v1/tasks/history", Group: Tasks, ReadOnly: true, Stored: true,
		Title:       "History of tasks",
		Description: "Show what happened to tasks, newest first: completed, blocked, resolved how, and what is no longer in the window."})
	LoadTasks = define[memory.LoadTasksRequest, memory.TasksLoaded](Spec{Name: "load_tasks", Path: "/v1/tasks/load", Group: Tasks, Idempotent: true,
		Title:       "Load tasks",
		Description: "Import tasks and blockers from an old state, or one that was kept elsewhere: an object with completed_tasks and active_blockers, or a list of tasks. What is known stays as it is; doing it again does no harm."})

	// The catalogue of a project: rules, references and tools.
	Register = define[memory.RegisterRequest, memory.Registered](Spec{Name: "register_context", Path: "/v1/catalogue/register", Group: Catalogue, Idempotent: true,
		Title:       "Register rules, references and tools",
		Description: `Register rules, references and tools of a host in the project's catalogue, and settings of servers. include says when an entry gets into a context: always, manual (where somebody added it) or agent (where it is relevant to the message); a tool's own wins over its server's, which wins over always. replace removes what the same source registered before and does not name now.`})
	Unregister = define[memory.UnregisterRequest, memory.Registered](Spec{Name: "unregister_context", Path: "/v1/catalogue/unregister", Group: Catalogue, Idempotent: true, Destructive: true,
		Title:       "Remove rules, references and tools",
		Description: "Remove entries from the project's catalogue by name, or all of a source. Old records still name them."})
	Entries = define[memory.EntriesRequest, memory.EntryList](Spec{Name: "list_context", Path: "/v1/catalogue", Group: Catalogue, ReadOnly: true, Stored: true,
		Title:       "List rules, references and tools",
		Description: "List the project's catalogue of rules, references and tools: what there is, when each is included, and whether it is enabled."})

	// The contexts of sessions and requests.
	SessionContext = define[memory.ContextRequest, memory.Context](Spec{Name: "session_context", Path: "/v1/context", Group: Contexts, ReadOnly: true, Stored: true,
		Title:       "Session context",
		Description: "Show what the session's context holds: the rules, references and tools that are always included, and those that were added by hand."})
	ChangeContext = define[memory.ChangeContextRequest, memory.Context](Spec{Name: "change_context", Path: "/v1/context/change", Group: Contexts, Idempotent: true, Stored: true,
		Title:       "Change the session context",
		Description: "Add rules, references and tools to the session's context, or take some out. Any registered entry can be, whatever its include mode. Adding what is there changes nothing."})
	// Not idempotent: each call is a turn of the session.
	Brief = define[memory.BriefRequest, memory.Brief](Spec{Name: "brief", Path: "/v1/brief", ReadOnly: true, Stored: true,
		Title:       "Brief of a project",
		Description: "Say in a few lines what an agent should know when a session starts: pinned lessons, blockers, lessons that have worked, last tasks. Empty if there is nothing. Hooks hand it to the model."})
	Assemble = define[memory.AssembleRequest, memory.Assembled](Spec{Name: "assemble_context", Path: "/v1/context/assemble", Group: Contexts, Stored: true,
		Title:       "Assemble a context",
		Description: `Build the context of one request: the session's context, the rules, references and tools that are relevant to the message, lessons, steps and code, recent tasks and blockers, within a token budget. Returns it as text for a prompt, and records what was handed out, what was withheld, and why. For hosts, once a request.`})
	WorkingContext = define[memory.WorkingContextRequest, memory.WorkingContext](Spec{Name: "working_context", Path: "/v1/working", Group: Working, ReadOnly: true, Stored: true,
		Title:       "Working context",
		Description: "Show what the session has come across: discovered and used tools, entities, and the summary of the last compaction."})
	Report = define[memory.ReportRequest, memory.WorkingContext](Spec{Name: "report_context", Path: "/v1/working/report", Group: Working, Idempotent: true, Stored: true,
		Title:       "Report tools and entities",
		Description: "Report the tools that the session used and the entities that it met (an order, a file, a pull request), so that later requests know of them. With clearDiscovered, forget the tools that search_tools found."})
	Compact = define[memory.CompactRequest, memory.Compacted](Spec{Name: "compact_session", Path: "/v1/working/compact", Group: Working, Destructive: true, Stored: true,
		Title:       "Compact a session",
		Description: `Start from a clean slate when the conversation grows too long: the summary is stored; entities, discovered and used tools are cleared. Say in the summary what was done, what comes next and what is open, with names and ids, and name no tool. Answers how many recent turns to keep. Without a summary a local model writes it from the transcript, if one is configured.`})

	// The ledger: what was handed out.
	ContextOf = define[memory.ContextOfRequest, memory.TurnContext](Spec{Name: "context_of_turn", Path: "/v1/context/turn", Group: Ledger, ReadOnly: true, Stored: true,
		Title:       "Context of a turn",
		Description: "Show what a turn of the session was given: rules, references, tools and memories, how each came in, what has changed since, and what was withheld. Without a turn the last one."})
	Receipts = define[memory.ReceiptsRequest, memory.ReceiptList](Spec{Name: "receipts", Path: "/v1/receipts", Group: Ledger, ReadOnly: true, Stored: true,
		Title:       "Receipts",
		Description: "List receipts of answers and contexts, newest first: what was asked, handed out and withheld, with scores, settings and verdicts. Use it to see why something was, or was not, found."})
	Replay = defineStream[memory.ReplayRequest, memory.ReplayProgress, memory.Replayed](Spec{Name: "replay", Path: "/v1/replay", ReadOnly: true,
		Title:       "Replay queries",
		Description: "Ask past queries again under other settings and compare. Changes nothing."})

	// Repositories and files.
	IndexRepo = define[memory.IndexRequest, memory.IndexQueued](Spec{Name: "index_repo", Path: "/v1/index", Group: Admin, Idempotent: true,
		Title:       "Index a repository",
		Description: `Index a repository, or redo files that changed, in the background; answers at once with the place in the queue. Use it when recall says that a project is not indexed or its code is stale. Without a path the caller's own repository is meant. The status tool shows how far it is.`})
	Status = define[None, memory.Status](Spec{Name: "status", Method: http.MethodGet, Path: "/v1/status", Group: Admin, ReadOnly: true,
		Title:       "Memory status",
		Description: "Show whether the memory daemon is healthy: the state of each project's index, how far each model's vectors are, the queue and the last errors. Use it when answers look degraded or stale, or after index_repo."})
	OpenPage = define[memory.PageRequest, memory.Page](Spec{Name: "open_page", Path: "/v1/ui",
		Title:       "Open the web page",
		Description: "Give an address of the daemon's web page on this machine, good for one visit within two minutes."})
	Repos = define[None, memory.RepoList](Spec{Name: "repos", Method: http.MethodGet, Path: "/v1/repos", ReadOnly: true,
		Title:       "Indexed repositories",
		Description: "List the indexed repositories by project and root, with how far indexing is."})
	RepoFiles = define[memory.RepoFilesRequest, memory.RepoFiles](Spec{Name: "repo_files", Path: "/v1/repos/files", ReadOnly: true, Stored: true,
		Title:       "Files of an index",
		Description: "List the indexed files of a folder by path, with languages; of one file its chunks."})
	Skipped = define[memory.SkippedRequest, memory.SkippedList](Spec{Name: "skipped", Path: "/v1/repos/skipped", ReadOnly: true,
		Title:       "Skipped files",
		Description: "Walk over the repository of a folder and list the files that the rules leave out. Indexes nothing."})
	Pause = define[memory.PauseRequest, memory.Paused](Spec{Name: "pause", Path: "/v1/repos/pause", Idempotent: true,
		Title:       "Pause indexing",
		Description: "Pause or resume indexing, of one repository or of all; also after a restart."})
	Trust = define[memory.TrustRequest, memory.TrustState](Spec{Name: "trust", Path: "/v1/trust", Idempotent: true,
		Title:       "Trust a repository",
		Description: "Agree that files of a repository are read into the memory, take that back, or list what is trusted and what waits. conflict for a folder that the settings trust."})
	Team = define[None, memory.TeamState](Spec{Name: "team", Method: http.MethodGet, Path: "/v1/team", ReadOnly: true,
		Title:       "Show the team",
		Description: "Say who the user is in which team, which projects are shared, and whether the server answers."})
	TeamJoin = define[memory.TeamJoinRequest, memory.TeamState](Spec{Name: "team_join", Path: "/v1/team/join", Idempotent: true,
		Title:       "Join a team",
		Description: "Connect to the server of a team and keep the membership. Nothing is shared by that. conflict if there is a team already or the clocks differ; forbidden if the server refuses; incompatible if its schema is another one."})
	TeamShare = define[memory.TeamShareRequest, memory.TeamState](Spec{Name: "team_share", Path: "/v1/team/share", Idempotent: true,
		Title:       "Share a project with the team",
		Description: "Share the lessons of a project with the team from now on, or take them back."})
	TeamLeave = define[memory.TeamLeaveRequest, memory.TeamState](Spec{Name: "team_leave", Path: "/v1/team/leave", Destructive: true, BodyOptional: true,
		Title:       "Leave the team",
		Description: "Take what the user shared back from the server and end the membership. unavailable while the server does not answer; force leaves all the same, and what was shared stays there."})
	Files = define[memory.FilesRequest, memory.FileList](Spec{Name: "files", Path: "/v1/files", ReadOnly: true, Stored: true,
		Title:       "Find files",
		Description: "Find files by name and by how they begin, without a model."})
	Import = define[memory.ImportRequest, memory.Imported](Spec{Name: "import", Path: "/v1/import", Idempotent: true,
		Title:       "Import memories",
		Description: "Take over lesson logs and sessions from a file or folder. What is known changes nothing."})
	ImportAgents = defineStream[memory.AgentImportRequest, memory.AgentImportProgress, memory.AgentImported](Spec{Name: "import_agents", Path: "/v1/import/agents", Idempotent: true,
		Title:       "Import agents' logs",
		Description: "Take over what coding agents did before, from the logs that they keep on disk, and follow the logs from then on. forbidden without the user's consent, except for a dry run. What is known changes nothing."})
	// Not idempotent: the folder is not empty the second time.
	Export = define[memory.ExportRequest, memory.Exported](Spec{Name: "export", Path: "/v1/export",
		Title:       "Export memories",
		Description: "Write the lessons and sessions of a project into a new folder, sorted. conflict when the folder is not empty."})

	// The daemon, its queue and its models.
	Check = define[None, memory.CheckReport](Spec{Name: "check", Path: "/v1/check", ReadOnly: true,
		Title:       "Check the store",
		Description: "Read every stored value, compare them with one another, and report problems. Changes nothing."})
	Activity = define[memory.ActivityRequest, memory.Activity](Spec{Name: "activity", Path: "/v1/activity", ReadOnly: true,
		Title:       "Memories over time",
		Description: "Count the memories of each kind by the day on which they were made."})
	Map = define[memory.MapRequest, memory.MemoryMap](Spec{Name: "map", Path: "/v1/map", ReadOnly: true,
		Title:       "Map of all memories",
		Description: "Give all memories as points of a plane, by their built-in vectors, with near-duplicates. Answers at once: the first call has it computed in the background."})
	Log = define[memory.LogRequest, memory.LogLines](Spec{Name: "log", Path: "/v1/log", ReadOnly: true,
		Title:       "Log of the daemon",
		Description: "Give the last lines of the daemon's log."})
	Audit = define[memory.AuditRequest, memory.AuditList](Spec{Name: "audit", Path: "/v1/audit", ReadOnly: true, Stored: true,
		Title:       "Audit",
		Description: "List the calls that changed something, or were refused, newest first: when, by which client as it names itself, for which session and project, with which ids."})
	Backup = defineStream[memory.BackupRequest, memory.BackupProgress, memory.Backup](Spec{Name: "backup", Path: "/v1/backup",
		Title:       "Back up the store",
		Description: "Write a backup of everything remembered into a folder, and remove older ones as the settings say. conflict while another is made."})
	ExportAll = defineStream[memory.ArchiveRequest, memory.ArchiveProgress, memory.Archive](Spec{Name: "export_all", Path: "/v1/archive/export",
		Title:       "Export everything",
		Description: "Write everything remembered, of all projects, to a new file of JSON lines: an archive."})
	ImportAll = defineStream[memory.ArchiveRequest, memory.ArchiveProgress, memory.Archive](Spec{Name: "import_all", Path: "/v1/archive/import", Idempotent: true,
		Title:       "Import an archive",
		Description: "Verify an archive as a whole, and take in what is not stored yet. What was forgotten here stays forgotten."})
	DeadJobs = define[None, memory.DeadJobList](Spec{Name: "dead_jobs", Method: http.MethodGet, Path: "/v1/jobs/dead", ReadOnly: true,
		Title:       "Dead jobs",
		Description: "List the jobs that were given up."})
	RequeueJob = define[memory.RequeueRequest, None](Spec{Name: "requeue_job", Path: "/v1/jobs/requeue/{id}",
		Title:       "Requeue a job",
		Description: "Give a dead job another try."})
	Models = define[None, memory.ModelList](Spec{Name: "models", Method: http.MethodGet, Path: "/v1/models", ReadOnly: true,
		Title:       "Embedding models",
		Description: "List the embedding models and their states."})
	PullModel = defineStream[memory.PullRequest, memory.PullProgress, memory.Pulled](Spec{Name: "pull_model", Path: "/v1/models/pull", Idempotent: true,
		Title:       "Download a model",
		Description: "Have the Ollama server download a model. unavailable when no server answers."})
	AdaptModel = defineStream[memory.AdaptRequest, memory.AdaptProgress, memory.Adaptation](Spec{Name: "adapt_model", Path: "/v1/models/adapt",
		Title:       "Adapt the built-in model",
		Description: "Train the built-in model further on what is remembered. The result is used from the next start if it finds more; else it says why not. conflict while another adaptation runs, and when there is too little to learn from."})
	ResetModel = define[None, memory.BuiltinModel](Spec{Name: "reset_model", Path: "/v1/models/reset", Destructive: true,
		Title:       "Reset the built-in model",
		Description: "Remove the adapted model: from the next start the program's own is used. conflict while one is made."})
	BuiltinModel = define[None, memory.BuiltinModel](Spec{Name: "builtin_model", Method: http.MethodGet, Path: "/v1/models/builtin", ReadOnly: true,
		Title:       "The built-in model",
		Description: "Say which built-in model is in use and how it was made."})
)
