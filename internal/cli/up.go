package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// upResult is what up did.
type upResult struct {
	Index    *memory.SandboxState `json:"index"`
	Question *question            `json:"question,omitempty"`
	// Found says that the answer holds the file that the question is about.
	Found  bool                   `json:"found"`
	Answer *memory.RecallResponse `json:"answer,omitempty"`
	Client clientSetup            `json:"client"`
	// Unconnected are the clients on this machine that do not use recalld yet.
	Unconnected []string `json:"unconnected,omitempty"`
	// Waiting are files of the repository that are not read before the user agrees.
	Waiting *memory.WaitingFiles `json:"waiting_files,omitempty"`

	indexedIn time.Duration // as it was waited for
}

// clientSetup is what goes into an MCP client's settings.
type clientSetup struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	// Hint is what has to be done first.
	Hint string `json:"hint,omitempty"`

	program string // the absolute path of Command, empty if it is not known
}

// upCommand is the first command that a user runs: it must end with an answer.
func upCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "up [PATH]",
		Short: "Start the daemon, index a repository and try it",
		Long: `Start the daemon, index PATH (the working folder by default) with progress, ask one
question that is taken from a doc comment or a title in it, show the answer, and print
the lines for an MCP client.`,
		Example: "  recalld up\n  recalld up ~/src/service",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := a.pathArgument(args)
			if err != nil {
				return err
			}
			result, err := a.up(c.Context(), folder)
			if err != nil {
				return err
			}
			_, missing, _ := a.foundClients(&connectFlags{}) // one that cannot be read is connect's to report
			for _, client := range missing {
				result.Unconnected = append(result.Unconnected, client.Title)
			}
			entry, err := result.Client.json()
			if err != nil {
				return err
			}
			if a.json {
				return a.recorded(result, true, nil)
			}
			return a.people(func(w io.Writer) { a.writeUp(w, result, entry) })
		},
		ValidArgsFunction: completeAnyFolder,
	}
}

// up indexes a folder, waits for it and asks about it. Only code is asked for:
// the question is about code.
func (a *App) up(ctx context.Context, path string) (*upResult, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	asked := a.opts.Now()
	queued, err := ask(ctx, a, service.IndexRepo, memory.IndexRequest{Path: path})
	if err != nil {
		return nil, err
	}
	result := &upResult{Client: a.clientSetup()}
	if result.Index, err = a.waitIndexed(ctx, queued.Sandbox, asked); err != nil {
		return nil, err
	}
	result.indexedIn = a.opts.Now().Sub(asked)
	if result.Waiting, err = a.waitingIn(ctx, queued.Root); err != nil {
		return nil, err
	}
	questions, err := findQuestions(ctx, queued.Root, cfg.Index.SkipDirs)
	if err != nil {
		return result, err
	}
	return result, a.askGood(ctx, result, queued, questions)
}

// askGood asks the first question whose answer begins with what it expects, else the first
// whose answer has it. One that the answer would miss says nothing about what the user
// will ask, and is not shown; if all are missed, the first is, with its answer.
func (a *App) askGood(ctx context.Context, result *upResult, queued *memory.IndexQueued, questions []question) error {
	if len(questions) == 0 {
		return nil
	}
	ask := func(q question, trying bool) (*memory.RecallResponse, error) {
		return ask(ctx, a, service.Recall, memory.RecallRequest{
			Query: q.Text, Kinds: []memory.Kind{memory.Chunk}, Project: queued.Project, Typing: trying,
			Caller: memory.Caller{Dir: queued.Root, Client: "cli"},
		})
	}
	chosen, best := questions[0], -1
	for _, q := range questions {
		answer, err := ask(q, true)
		if err != nil {
			return err
		}
		place := slices.IndexFunc(answer.Items, func(i memory.Item) bool { return i.Source.Path == q.Path && i.Strength != memory.Maybe })
		if place >= 0 && (best < 0 || place < best) {
			chosen, best = q, place
		}
		if best == 0 {
			break
		}
	}
	answer, err := ask(chosen, false)
	result.Question, result.Found, result.Answer = &chosen, best >= 0, answer
	return err
}

// writeUp shows the question with what it expects, so that the user can judge
// the answer; entry is for an MCP client's settings.
func (a *App) writeUp(w io.Writer, r *upResult, entry string) {
	writeIndexed(w, r.Index, r.indexedIn)
	fmt.Fprintln(w)
	if r.Question == nil {
		fmt.Fprintln(w, "There is nothing to ask about yet: no code and no documentation was found here.")
	} else {
		text, below := a.answerText(memory.RecallRequest{Format: memory.FormatText}, r.Answer)
		fmt.Fprintln(w, strings.TrimRight(a.fenced(fmt.Sprintf("Question: %s\nExpected: %s in %s\n\n%s",
			render.Printable(r.Question.Text), render.Printable(r.Question.Name), render.Printable(r.Question.Path), text))+below, "\n"))
		if !r.Found {
			fmt.Fprintln(w, "\nThe expected file is not in the answer.")
		}
	}
	if r.Waiting != nil {
		fmt.Fprintf(w, "\nNot read: %s\n", waitingText(*r.Waiting))
	}
	fmt.Fprintln(w, "\nThe daemon keeps running and keeps the index up to date. Run 'recalld stop' to stop it.")
	fmt.Fprintln(w, "Run 'recalld recall QUESTION' to ask a question of your own.")
	if len(r.Unconnected) > 0 {
		fmt.Fprintf(w, "\n%s: not connected yet. Run 'recalld connect --all' to connect, and 'recalld import agents' to take in what they did before.\n",
			strings.Join(r.Unconnected, ", "))
	}
	fmt.Fprintf(w, "\nFor an MCP client:\n\n%s\n", entry)
	if r.Client.Hint != "" {
		fmt.Fprintf(w, "\n%s\n", r.Client.Hint)
	}
}

// json is the entry as most clients take it.
func (s clientSetup) json() (string, error) {
	var entry struct {
		Servers map[string]clientSetup `json:"mcpServers"`
	}
	if err := json.Unmarshal(configs.ClientJSON, &entry); err != nil {
		return "", fmt.Errorf("read client entry: %w", err)
	}
	for name := range entry.Servers {
		entry.Servers[name] = clientSetup{Command: s.Command, Args: s.Args}
	}
	encoded, err := json.MarshalIndent(entry, "", "  ")
	return string(encoded), err
}

// clientSetup says how a client starts this program: by name where the name
// finds it, else by path, but never by the path of a program that `go run`
// built and takes away again.
func (a *App) clientSetup() clientSetup {
	setup := clientSetup{Command: "recalld", Args: append([]string{"mcp"}, a.dataArguments()...)}
	onPath, err := a.opts.LookPath("recalld")
	switch {
	case isTemporary(a.opts.Executable, os.TempDir()):
		if err != nil {
			setup.Hint = "Install it first: go install github.com/recalld/recalld/cmd/recalld@latest (in a checkout: go install ./cmd/recalld)"
		}
	case err != nil || !sameFile(onPath, a.opts.Executable):
		setup.Command, setup.program = a.opts.Executable, a.opts.Executable
	case filepath.IsAbs(onPath):
		setup.program = onPath // a link that stays when the program is updated
	}
	return setup
}

// dataArguments lead a client to the daemon of this command line. A client is
// started by a desktop or an editor: it has the platform's settings file, but
// neither the flags nor the variables of this shell.
func (a *App) dataArguments() []string {
	cfg, err := a.Config()
	if err != nil {
		return nil // a command that needs the settings reports it
	}
	var args []string
	file := cmp.Or(a.source.File, a.opts.Getenv("RECALLD_CONFIG"))
	if file != "" {
		file = a.absolute(file)
		args = append(args, "--config", file)
	}
	bare, err := config.Load(config.Sources{File: file, Getenv: func(name string) string {
		if strings.HasPrefix(name, "RECALLD_") {
			return ""
		}
		return a.opts.Getenv(name)
	}})
	if err != nil || bare.Data != cfg.Data {
		args = append(args, "--data", cfg.Data)
	}
	return args
}

// isTemporary says whether a program will be gone soon: it lies in a folder
// that the go command builds in, or in the one for temporary files.
func isTemporary(executable, tempDir string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(executable), "/") {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
	}
	relative, err := filepath.Rel(resolved(tempDir), resolved(executable))
	return err == nil && filepath.IsLocal(relative)
}

// resolved follows symbolic links; macOS has its temporary folder behind one.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// sameFile says whether two paths lead to one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
