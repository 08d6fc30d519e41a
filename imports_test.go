// Package recalld_test holds the architecture: which package may import which,
// where each library is at home, and what no file may do. The rules are the
// tables below; every one carries its reason, and a test that fails says it.
// What looks for offences is in imports_check_test.go.
package recalld_test

// libraries are the packages that others may build on. They stand at the top
// because they know nothing of recalld: they never import internal/.
var libraries = []string{"configs", "embedder", "index", "worker"}

// transports serve the table of operations to the outside.
var transports = []string{"internal/api", "internal/mcp", "internal/web"}

// layer says what one package may import of this module. Its tests may import
// more: see testMayImport.
type layer struct {
	path string
	// may lists packages; "x/..." is x and everything below it.
	may []string
	why string
}

// layers is the package map. A package that is not in it fails the test, so
// that a new one is placed on purpose.
var layers = []layer{
	{"cmd/recalld", []string{"internal/cli"},
		"main is signals and an exit code; everything else can be tested in cli"},
	{"configs", nil,
		"it embeds files; what they mean is known by internal/config"},

	{"bench/agents", nil,
		"it drives agents and recalld from outside, as people do"},
	{"bench/browser", nil,
		"it drives the web page from outside, as people and their browsers do"},

	{"embedder", nil,
		"it is a contract, which must not know its implementations"},
	{"embedder/builtin", []string{"embedder", "embedder/builtin/table"},
		"it brings the table and is the embedder over it"},
	{"embedder/builtin/table", nil,
		"it is a trained model in memory and in its file; who trains or embeds it is above"},
	{"embedder/builtin/contrast", []string{"embedder/builtin/table"},
		"it learns from tokens, wherever they are from: a corpus or a user's own repositories"},
	{"embedder/builtin/training/lsa", nil,
		"it takes a matrix apart, a pure function"},
	{"embedder/builtin/training/train", []string{"embedder/builtin/table", "embedder/builtin/contrast", "embedder/builtin/training/lsa"},
		"it is the program that makes the trained model, from the tokens and in the file that package builtin reads"},
	{"embedder/builtin/training/mine", []string{"embedder/builtin/training/mine/clean", "embedder/builtin/training/mine/mirror", "embedder/builtin/training/mine/scan"},
		"it is the program that finds what is trained on, and hands it over in files"},
	{"embedder/builtin/training/mine/scan", nil,
		"it finds pairs in a text, a pure function, wherever the text is from"},
	{"embedder/builtin/training/mine/clean", nil,
		"it judges texts and must not know where they are from"},
	{"embedder/builtin/training/mine/mirror", nil,
		"it reads git repositories and must not know what is looked for in them"},
	{"embedder/builtin/training/fit", []string{"internal/language", "internal/memory", "internal/recall", "internal/source/code/chunk", "index/...", "embedder", "embedder/builtin", "embedder/builtin/training/mine/mirror"},
		"it is the program that finds the priors of recall from the raw scores of each retriever, over repositories split as the indexer does"},
	{"embedder/builtin/training/rivals", nil,
		"it measures programs from outside, recalld as the others"},
	{"embedder/ollama", []string{"embedder"},
		"an implementation knows the contract and itself"},
	{"embedder/embeddertest", []string{"embedder"},
		"a conformance suite knows the contract only, or it would favour an implementation"},
	{"embedder/ollama/ollamatest", []string{"embedder", "embedder/embeddertest"},
		"it stands in for the server, not for the client under test"},
	{"embedder/ollama/ollamatest/tinygguf", nil,
		"it is the program that makes the model of the tests with a real server"},

	{"index", nil,
		"it is a contract, which must not know its implementations"},
	{"index/lexical", []string{"index"},
		"retrievers do not know one another: they are fused, not chained"},
	{"index/vector", []string{"index"},
		"retrievers do not know one another: they are fused, not chained"},
	{"index/files", nil,
		"it looks for pieces of text and knows neither documents nor filters, so it shares nothing with the retrievers"},
	{"index/indextest", []string{"index"},
		"a conformance suite knows the contract only, or it would favour an implementation"},

	{"worker", nil,
		"it runs jobs and must not know what they do"},
	{"worker/workertest", []string{"worker"},
		"a conformance suite knows the contract only, or it would favour an implementation"},

	{"internal/language", nil,
		"it is the one table of languages, which filters are checked by and files are known by"},
	{"internal/memory", []string{"internal/language"},
		"the domain is what all others share, so it can depend on none of them but a table"},
	{"internal/memory/strict", []string{"internal/memory"},
		"it decodes calls for every transport, so that none is laxer than another"},
	{"internal/service", []string{"internal/memory", "internal/memory/strict"},
		"it declares what the daemon can do; who does it, and over what it is asked, it does not know"},
	{"internal/service/servicetest", []string{"internal/service"},
		"it is a service for the tests of every caller, so it knows none"},

	{"internal/store", []string{"internal/fsx", "internal/memory", "internal/store/lsm", "worker"},
		"storing must not depend on searching: the indexes are caches of the store"},
	{"internal/store/lsm", nil,
		"it reads files as they are, so that it can be believed about damaged ones; what is in them it does not know"},
	{"internal/archive", []string{"internal/fsx", "internal/memory", "internal/store"},
		"it reads a snapshot and writes by the write path; who does that, and how, it is told"},
	{"internal/backup", []string{"internal/fsx", "internal/memory", "internal/store"},
		"it writes states of a store into files and reads them back; what their values mean, the store knows"},
	{"internal/indexer", []string{"internal/memory", "index/...", "embedder", "worker"},
		"it is the sole writer of the indexes; it sees the store through its own interface"},
	{"internal/render", []string{"internal/memory"},
		"it is pure functions from the domain's types to text, for everything that shows text"},
	{"internal/redact", []string{"internal/memory"},
		"it works on text and must be usable wherever text passes"},
	{"internal/steptext", []string{"internal/memory"},
		"it is pure functions over what a step says, for both paths"},
	{"internal/fingerprint", nil,
		"it is a pure function over text, for both paths"},
	{"internal/plane", nil,
		"it is pure functions over vectors; what they are of it does not know"},
	{"internal/fsx", []string{"internal/memory"},
		"it opens and writes files that other programs write too; what is in them it does not know"},
	{"internal/git", []string{"internal/fsx"},
		"it reads repositories safely; what they mean to anybody it does not know"},
	{"internal/githistory", []string{"internal/git", "index", "index/lexical"},
		"it ranks files by texts of commits; folders have names there, not meaning"},
	{"internal/testlong", nil,
		"it is what tests ask whether to run in full"},
	{"internal/testkit/golden", nil,
		"it compares texts with files, whatever they are"},
	{"internal/testkit/modelserver", nil,
		"it plays a model's endpoint for any client, and knows no tool"},
	{"internal/testkit/backend", []string{"embedder/builtin", "index", "index/lexical", "internal/indexer", "internal/ingest", "internal/memory", "internal/project", "internal/recall", "internal/source/code", "internal/store", "worker"},
		"it opens the real parts for tests of what is above them"},
	{"internal/git/gittest", nil,
		"it makes repositories, also such as no reader should trust"},
	{"internal/project", []string{"internal/git", "internal/memory", "internal/fsx"},
		"it reads folders and must be usable by every caller"},
	{"internal/ingest", []string{"internal/memory", "internal/fingerprint", "internal/redact", "internal/project", "internal/steptext", "index", "embedder", "worker"},
		"the write path knows contracts, never the implementations behind them"},
	{"internal/recall", []string{"internal/memory", "internal/fingerprint", "internal/language", "internal/redact", "internal/render", "internal/steptext", "index", "embedder"},
		"the read path knows contracts, never the implementations behind them"},
	{"internal/source/code/chunk", []string{"internal/language", "internal/redact"},
		"it is a pure function from a text to its chunks"},
	{"internal/source/code", []string{"internal/source/code/chunk", "internal/language", "internal/git", "internal/memory", "internal/fsx", "internal/redact", "internal/project", "internal/source/watch"},
		"a source hands over what it found; where that is kept is not its business"},
	{"internal/source/lessonlog", []string{"configs", "internal/memory", "internal/fsx"},
		"a source hands over what it found; where that is kept is not its business"},
	{"internal/source/sessiondir", []string{"internal/memory", "internal/fsx"},
		"a source hands over what it found; where that is kept is not its business"},
	{"internal/source/contextfile", []string{"internal/memory", "internal/fsx"},
		"a source hands over what it found; where that is kept is not its business"},
	{"internal/source/watch", []string{"internal/fsx"},
		"it tells that files have changed; what they are to anybody it does not know"},
	{"internal/source/agentlog", []string{"internal/fsx", "internal/steptext"},
		"a source hands over what it found; where that is kept is not its business"},
	{"internal/agentimport", []string{"internal/fsx", "internal/hook", "internal/ingest", "internal/memory", "internal/redact", "internal/source/agentlog", "internal/steptext"},
		"it stands between the logs of agents and the write path, shortens steps as hooks do, and reads nothing without consent"},
	{"internal/team", []string{"internal/fsx", "internal/ingest", "internal/memory", "internal/service"},
		"it stands between the server of a team and the write path; what a lesson is, and how shares merge, the write path knows"},
	{"internal/team/teamtest", nil,
		"it runs servers; what is stored on them it does not know"},
	{"internal/repofiles", []string{"internal/fsx", "internal/git", "internal/ingest", "internal/logging", "internal/memory", "internal/project", "internal/redact", "internal/store", "internal/source/contextfile", "internal/source/lessonlog", "internal/source/sessiondir"},
		"it stands between the files of repositories and the write path, and reads nothing without consent; how lines and folders are written down, the sources know"},
	{"internal/agentctx", []string{"internal/memory", "internal/recall", "internal/render"},
		"it keeps tasks and the catalogue and assembles contexts; of recall it uses queries and their results"},
	{"internal/ledger", []string{"internal/memory", "internal/recall", "internal/render"},
		"it reads receipts, stores verdicts, and sends past queries to the read path again"},
	{"internal/adaptation", []string{"internal/fsx", "internal/memory", "embedder/builtin", "embedder/builtin/contrast", "embedder/builtin/table"},
		"it trains the built-in model further on what is remembered, and keeps the table; it sees the store and the disk by interfaces of its own"},
	{"internal/models", []string{"embedder", "embedder/builtin", "embedder/ollama", "internal/indexer", "internal/logging", "internal/memory", "internal/redact", "worker"},
		"it attaches models to the indexer and queues their backfills; how vectors are stored and searched it does not know"},
	{"internal/eval", []string{"internal/memory"},
		"it measures the paths that users take, through the service interfaces, and not parts of them"},

	{"internal/metrics", []string{"internal/memory", "internal/render"},
		"it counts runs and answers and writes a status for Prometheus; render is how many tokens a text has"},
	{"internal/web", []string{"internal/memory", "internal/render", "internal/service", "internal/steptext"},
		"a transport knows the service interface only; Host and Origin are checked before it; steptext is values of JSON as text"},
	{"internal/schema", []string{"internal/memory"},
		"it reads types and their tags; what calls them, it does not know"},
	{"internal/api", []string{"internal/memory", "internal/metrics", "internal/render", "internal/schema", "internal/service"},
		"a transport knows the service interface only, so that all of them answer alike; metrics is how one of its routes writes the status"},
	{"internal/mcp", []string{"internal/memory", "internal/memory/strict", "internal/render", "internal/schema", "internal/service"},
		"a transport knows the service interface only, so that all of them answer alike"},
	{"internal/client", []string{"internal/memory", "internal/service"},
		"every hook and bridge starts it, so it knows the table of operations and no implementation"},
	{"internal/connect", []string{"internal/fsx", "internal/memory"},
		"it edits the files of clients; how recalld is started it is told, and what recalld does it need not know"},
	{"internal/spool", nil,
		"a folder of events; what they are and who takes them out is its users' business"},
	{"internal/hook", []string{"internal/memory", "internal/memory/strict", "internal/render", "internal/service", "internal/steptext"},
		"it turns payloads into requests; who sends them, and until when, is the command's business"},
	{"internal/config", []string{"configs"},
		"settings are values; each package is handed its own and none reads them"},
	{"internal/cli", []string{"configs", "internal/archive", "internal/backup", "internal/fsx", "internal/git", "internal/memory", "internal/memory/strict", "internal/service", "internal/client", "internal/config", "internal/httpserver", "internal/project", "internal/mcp", "internal/eval", "internal/daemon",
		"internal/connect", "internal/hook", "internal/render", "internal/source/lessonlog", "internal/spool", "internal/team"},
		"commands speak to the daemon through its service, as every other client does; mcp is for the bridge, eval, connect, hook and backup (lists and verifies files, without a daemon) for their commands, team for its operator, who needs no daemon either, lessonlog for the script that connect installs, strict for files of requests, configs for what up prints"},
	{"internal/httpserver", []string{"internal/api", "internal/fsx", "internal/mcp", "internal/memory", "internal/service"},
		"it serves any handler; of the transports it knows paths and how errors are written"},
	{"internal/logging", []string{"internal/fsx", "internal/memory"},
		"it writes what is logged and keeps errors; who logs them it need not know"},
	{"internal/daemon", []string{"configs", "embedder/...", "index/...", "worker", "internal/..."},
		"it is the composition root, which alone knows all implementations"},
}

// starter is a file, or a folder with all below it, that may start programs.
type starter struct{ path, why string }

// starters are all that do, outside of tests.
var starters = []starter{
	{"internal/git/...", "git, so that no program runs that a repository configures"},
	{"internal/client/spawn.go", "the daemon, which is this program"},
	{"internal/cli/ui.go", "the browser, with the address of the page"},
	{"internal/connect/start.go", "the server that a client will start, once, to see that it answers; and Claude Code, to add it"},
	{"embedder/ollama/ollamatest/server.go", "the server of tests"},
	{"internal/team/teamtest/postgres.go", "the PostgreSQL of tests"},
	{"embedder/builtin/training/mine/mirror/mirror.go", "git, over mirrors that whoever trains has made"},
	{"embedder/builtin/training/rivals/rival.go", "the programs that are measured"},
}

// cliDaemonFiles are the files of internal/cli that may import the composition
// root, because they run a daemon, or parts of one, in their own process. Any
// other command would work without the daemon that holds the folder's lock.
var cliDaemonFiles = []string{"serve.go", "eval.go", "doctor.go", "doctor_repair.go", "restore.go"}

// home says which packages may import a library. A library with one home can be
// replaced, and its quirks are known in one place.
type home struct {
	module string
	// in lists packages; "x/..." is x and everything below it.
	in  []string
	why string
}

// homes holds every library that is imported. One that is not in it fails the
// test, so that a dependency is taken on purpose.
var homes = []home{
	{"github.com/dgraph-io/badger/v4", []string{"internal/store", "internal/store/lsm"},
		"transactions, sizes and damaged blocks are the store's to know"},
	{"go.opentelemetry.io/otel", []string{"internal/store"},
		"Badger tells a tracer of compactions, and the store holds them there; nothing is traced"},
	{"github.com/fxamacker/cbor/v2", []string{"internal/store"},
		"the encoding on disk is the store's alone"},
	{"golang.org/x/sync", []string{"internal/store", "internal/recall", "internal/indexer", "internal/daemon"},
		"work in parallel belongs to who owns goroutines"},
	{"github.com/philippgille/chromem-go", []string{"index/vector"},
		"its pitfalls (unordered ties, empty filters, zero vectors) are handled there"},
	{"github.com/viterin/vek", []string{"index/vector", "embedder/builtin/contrast", "embedder/builtin/training/..."},
		"only vector search and training need SIMD"},
	{"github.com/blevesearch/snowballstem", []string{"index/lexical"},
		"documents and questions must be stemmed by the same function"},
	{"github.com/RoaringBitmap/roaring/v2", []string{"index/...", "internal/indexer", "internal/recall"},
		"sets of documents are part of the retrievers' contract; others have no document numbers"},
	{"github.com/ollama/ollama", []string{"embedder/ollama/..."},
		"a server's protocol stays behind the embedder's contract"},
	{"github.com/sony/gobreaker/v2", []string{"embedder/ollama"},
		"only a server can be out of reach"},
	{"github.com/mark3labs/mcp-go", []string{"internal/mcp"},
		"the protocol stays in its transport"},
	{"github.com/google/uuid", []string{"internal/mcp"},
		"the bridge names requests; all other ids are made of what they name"},
	{"github.com/jackc/pgx/v5", []string{"internal/team", "internal/team/teamtest"},
		"the server of a team is behind one package"},
	{"github.com/spf13/cobra", []string{"internal/cli"},
		"the command line stays in its package"},
	{"github.com/spf13/pflag", []string{"internal/cli"},
		"cobra's flags are of its types"},
	{"github.com/schollz/progressbar/v3", []string{"internal/cli"},
		"only a terminal has progress bars"},
	{"github.com/mattn/go-isatty", []string{"internal/cli"},
		"only the command line has a terminal"},
	{"github.com/VictoriaMetrics/metrics", []string{"internal/metrics"},
		"the core counts nothing in globals: a page is made of what the status says"},
	{"github.com/goccy/go-yaml", []string{"internal/config", "internal/source/contextfile"},
		"settings are YAML, and .recalld/context.yaml; what others call YAML is not always"},
	{"github.com/gofrs/flock", []string{"internal/client", "internal/daemon", "internal/store"},
		"the daemon locks its folder, and clients lock the right to start one"},
	{"golang.org/x/sys", []string{"internal/client", "internal/config", "internal/daemon", "internal/httpserver", "internal/project", "internal/store"},
		"what differs between systems sits beside what needs it, in files named after the system"},
	{"github.com/zricethezav/gitleaks/v8", []string{"internal/redact"},
		"what a secret looks like is redact's to know, and what else the library brings is used by nobody"},
	{"github.com/pelletier/go-toml/v2", []string{"internal/connect", "internal/redact"},
		"Codex keeps its settings in TOML, and gitleaks its rules"},
	{"github.com/tailscale/hujson", []string{"internal/connect"},
		"it tells where things stand in JSON with comments, which only the files of clients are"},
	{"github.com/ncruces/go-sqlite3", []string{"internal/source/agentlog", "bench/agents"},
		"OpenCode keeps its sessions in a database of SQLite, which is read in one place, and made in a measure"},
	{"github.com/fsnotify/fsnotify", []string{"internal/source/watch"},
		"what systems tell of changes differs, and is made good for in one place"},
	{"github.com/chromedp/chromedp", []string{"bench/browser"},
		"only a test of the web page needs a browser"},
	{"github.com/chromedp/cdproto", []string{"bench/browser"},
		"the events and commands of a browser that chromedp does not wrap"},
	{"github.com/google/go-cmp", []string{"worker/workertest", "internal/testkit/golden"},
		"a difference is shown by tests"},
	{"github.com/google/licensecheck", nil,
		"a test classifies the license files of modules"},
	{"github.com/santhosh-tekuri/jsonschema/v6", nil,
		"tests hold tool answers against the schemas that are published"},
}

// testLibraries may be imported by test files everywhere.
// mcp-go: its client is what tests speak to a whole daemon with. badger: plain
// transactions are what a benchmark holds durable writes against.
var testLibraries = []string{"github.com/dgraph-io/badger/v4", "github.com/google/go-cmp", "github.com/google/licensecheck", "github.com/mark3labs/mcp-go", "github.com/santhosh-tekuri/jsonschema/v6"}
