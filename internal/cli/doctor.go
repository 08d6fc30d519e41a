package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/daemon"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// ollamaTimeout bounds the question whether an Ollama server is there.
const ollamaTimeout = 2 * time.Second

// diagnosis is what doctor answers.
type diagnosis struct {
	Findings []render.Finding `json:"findings"`
	Dead     []memory.DeadJob `json:"dead_jobs,omitempty"`
	Requeued []string         `json:"requeued,omitempty"`
}

func (d *diagnosis) add(check string, level render.Level, hint, format string, args ...any) {
	d.Findings = append(d.Findings, render.Finding{Check: check, Level: level, Detail: fmt.Sprintf(format, args...), Hint: hint})
}

// doctorCommand looks at everything and says what is wrong, with the next step.
// It starts nothing: a daemon that does not run is a finding of its own.
func doctorCommand(a *App) *cobra.Command {
	var requeue string
	var repair, yes bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and repair the store",
		Long: `Check the settings, the data folder and its permissions, the daemon and its protocol,
the vectors, every value of the store, the jobs that were given up, and Ollama. doctor
starts no daemon: it checks the store itself if none runs. With --requeue, try jobs
again that were given up.

With --repair, stop the daemon, show what a damaged store has lost, and ask whether to
go on with the rest. The damaged files are kept.`,
		Example: "  recalld doctor\n  recalld doctor --requeue all\n  recalld doctor --repair",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			if repair {
				return a.repair(c.Context(), cfg, yes)
			}
			d, err := a.diagnose(c.Context(), cfg, requeue)
			if err != nil {
				return err
			}
			if err := a.answer(d, func(w io.Writer) { writeDiagnosis(w, d) }); err != nil {
				return err
			}
			for _, f := range d.Findings {
				if f.Level == render.FindingFailed {
					return errReported
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&requeue, "requeue", "", "give a job that was given up another try: its id, or all")
	c.Flags().BoolVar(&repair, "repair", false, "show what a damaged store has lost, and go on with the rest")
	c.Flags().BoolVar(&yes, "yes", false, "with --repair: do not ask")
	c.MarkFlagsMutuallyExclusive("repair", "requeue")
	return c
}

// diagnose runs the checks from the outside in: folders, daemon, what it says
// about itself, Ollama.
func (a *App) diagnose(ctx context.Context, cfg config.Config, requeue string) (*diagnosis, error) {
	d := &diagnosis{}
	paths := cfg.Paths()
	checkFolders(d, paths)
	running, err := a.connect(ctx, cfg, false)
	switch {
	case err == nil:
		defer running.Close()
		if err := a.checkDaemon(ctx, d, running, requeue); err != nil {
			return d, err
		}
	case requeue != "" || memory.CodeOf(err) == memory.CodeInvalidInput: // wrong usage is no finding
		return d, err
	case memory.CodeOf(err) == memory.CodeUnavailable && !client.MayNotOpen(err):
		checkNoDaemon(d, paths, err)
		if damaged := daemon.CheckModel(cfg); damaged != nil {
			d.adaptedModel(damaged.Error())
		}
		if err := checkStore(ctx, d, cfg); err != nil {
			return d, err
		}
	default:
		d.add("daemon", render.FindingFailed, memory.AsError(err).Hint, "%v", err)
	}
	checkOllama(ctx, d, cfg)
	return d, nil
}

// checkFolders looks at the data folder and the folder of the socket.
func checkFolders(d *diagnosis, paths config.Paths) {
	for _, folder := range []struct{ check, path string }{
		{"data folder", paths.Data}, {"socket folder", filepath.Dir(paths.Socket)},
	} {
		info, err := os.Stat(folder.path)
		switch {
		case os.IsNotExist(err):
			d.add(folder.check, render.FindingNote, "", "%s does not exist yet", folder.path)
		case err != nil:
			d.add(folder.check, render.FindingFailed, "", "%v", err)
		case !info.IsDir():
			d.add(folder.check, render.FindingFailed, "move it away", "%s is not a folder", folder.path)
		case info.Mode()&os.ModeSticky != 0: // as /tmp, which all users need
			d.add(folder.check, render.FindingFailed, "name a folder in it", "%s is for all users (mode %04o)", folder.path, info.Mode().Perm())
		case fsx.OpenToOthers(info):
			d.add(folder.check, render.FindingFailed, "chmod 700 "+folder.path, "%s can be entered by others (mode %04o)", folder.path, info.Mode().Perm())
		default:
			d.add(folder.check, render.FindingOK, "", "%s", folder.path)
		}
	}
}

// checkNoDaemon says whether no daemon runs, or one runs and does not answer.
func checkNoDaemon(d *diagnosis, paths config.Paths, why error) {
	owner, err := daemon.ReadOwner(paths.Lock)
	if err != nil {
		d.add("daemon", render.FindingNote, "run 'recalld up' to start it; every command that asks it starts it too", "not running")
		return
	}
	// The record of an owner that was killed stays; the daemon overwrites it.
	d.add("daemon", render.FindingNote, "read the log "+paths.Log, "does not answer (%v); the data folder was last used by pid %d, version %s, since %s",
		why, owner.PID, owner.Version, render.Time(owner.Since, "?"))
}

// ownerSocket is where the last owner of the data folder listens; empty if that is not known.
func ownerSocket(paths config.Paths) string {
	owner, err := daemon.ReadOwner(paths.Lock)
	if err != nil {
		return ""
	}
	return owner.Socket
}

// adaptedModel says why the adapted model is not used.
func (d *diagnosis) adaptedModel(why string) {
	d.add("adapted model", render.FindingFailed, "run 'recalld model adapt' to make another one, or 'recalld model reset' to go back", "%s", why)
}

// storeHint is what can be done about damage.
const storeHint = memory.RepairCommand + " shows what is lost and goes on with the rest; indexing again mends code"

// soundStore is what is said of a store without a finding.
const soundStore = "every value is sound, and nothing that was acknowledged is missing"

// checkStore looks for damage in a store that no daemon has open.
func checkStore(ctx context.Context, d *diagnosis, cfg config.Config) error {
	if _, err := os.Stat(cfg.Paths().Store); err != nil {
		return nil // nothing was remembered yet
	}
	found, err := daemon.CheckStore(ctx, cfg, buildinfo.Version())
	switch {
	case err != nil:
		d.add("store", render.FindingFailed, memory.AsError(err).Hint, "%v", err)
	case found != nil:
		d.add("store", render.FindingFailed, storeHint, "%v", found)
	default:
		d.add("store", render.FindingOK, "", "%s", soundStore)
	}
	return ctx.Err()
}

// checkDaemon asks a daemon that runs how it is.
func (a *App) checkDaemon(ctx context.Context, d *diagnosis, running Daemon, requeue string) error {
	status, err := service.Status.Do(ctx, running, service.None{})
	if err != nil {
		d.add("daemon", render.FindingFailed, memory.AsError(err).Hint, "does not answer: %v", err)
		return nil
	}
	repos, err := service.Repos.Do(ctx, running, service.None{}) // all of them, status has the first
	if err != nil {
		return err
	}
	d.Findings = append(d.Findings, render.Findings(status, repos.Repos)...)
	if note := versionNote(buildinfo.Version(), service.Greeting{Version: status.Version, Protocol: service.Protocol}); note != "" {
		d.add("version", render.FindingNote, "", "%s", note)
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	trouble := ""
	if m, err := service.BuiltinModel.Do(ctx, running, service.None{}); err == nil && m != nil && m.Trouble != "" {
		trouble = m.Trouble
		d.adaptedModel(trouble)
	}
	for _, note := range status.Notes {
		if why := cfg.Embedding.Ollama.Unused; why != "" && strings.Contains(note, why) {
			continue // said below, of this command's own environment
		}
		if note == trouble {
			continue // said above
		}
		d.add("settings", render.FindingNote, "", "%s", note)
	}
	if err := checkRunningStore(ctx, d, running); err != nil {
		return err
	}
	return a.checkQueue(ctx, d, running, requeue)
}

// checkQueue lists the jobs that were given up, after those named got another
// try.
func (a *App) checkQueue(ctx context.Context, d *diagnosis, running Daemon, requeue string) error {
	switch requeue {
	case "":
	case "all":
		if err := requeueAll(ctx, d, running); err != nil {
			return err
		}
	default:
		if _, err := service.RequeueJob.Do(ctx, running, memory.RequeueRequest{ID: requeue}); err != nil {
			return err
		}
		d.Requeued = []string{requeue}
	}
	dead, err := service.DeadJobs.Do(ctx, running, service.None{})
	if err != nil {
		return err
	}
	for _, job := range dead.Jobs {
		if !slices.Contains(d.Requeued, job.ID) { // else it has died again
			d.Dead = append(d.Dead, job)
		}
	}
	if len(d.Dead) > 0 {
		d.add("queue", render.FindingFailed, "run 'recalld doctor --requeue all' to try again", "%s given up", wereCounted(len(d.Dead), "job"))
		return nil
	}
	d.add("queue", render.FindingOK, "", "no job was given up")
	return nil
}

// requeueAll gives every job that was given up another try. The daemon lists
// only so many at once; one that dies again meanwhile is not tried for ever.
func requeueAll(ctx context.Context, d *diagnosis, running Daemon) error {
	tried := map[string]bool{}
	for {
		dead, err := service.DeadJobs.Do(ctx, running, service.None{})
		if err != nil {
			return err
		}
		before := len(tried)
		for _, job := range dead.Jobs {
			if tried[job.ID] {
				continue
			}
			tried[job.ID] = true
			// Another command may have requeued it meanwhile.
			switch _, err := service.RequeueJob.Do(ctx, running, memory.RequeueRequest{ID: job.ID}); {
			case err == nil:
				d.Requeued = append(d.Requeued, job.ID)
			case memory.CodeOf(err) != memory.CodeNotFound:
				return err
			}
		}
		if len(tried) == before {
			return nil
		}
	}
}

// wereCounted writes "1 job was" or "3 jobs were".
func wereCounted(n int, one string) string {
	if n == 1 {
		return memory.Count(n, one) + " was"
	}
	return memory.Count(n, one) + " were"
}

// checkRunningStore has the daemon read its store.
func checkRunningStore(ctx context.Context, d *diagnosis, running Daemon) error {
	report, err := service.Check.Do(ctx, running, service.None{})
	switch {
	case memory.CodeOf(err) == memory.CodeIncompatible || memory.CodeOf(err) == memory.CodeNotFound:
		d.add("store", render.FindingNote, "run 'recalld stop' to stop it; the next command starts the new version", "the daemon is of a version that cannot check its store")
	case err != nil:
		return err
	case report == nil:
	case report.Busy:
		d.add("store", render.FindingNote, "try again when fewer writes are in progress", "not checked: too many writes are in progress")
	case report.Total > 0:
		d.add("store", render.FindingFailed, storeHint, "%s; %s", memory.Count(report.Total, "problem"), strings.Join(report.Problems, "; "))
	default:
		d.add("store", render.FindingOK, "", "%s", soundStore)
	}
	return nil
}

// checkOllama asks whether the server that may embed is there. Without one,
// answers come from the built-in model.
func checkOllama(ctx context.Context, d *diagnosis, cfg config.Config) {
	o := cfg.Embedding.Ollama
	switch {
	case o.Enabled == config.OllamaOff:
		d.add("ollama", render.FindingOK, "", "turned off")
		return
	case o.Unused != "":
		d.add("ollama", render.FindingNote, "set embedding.ollama.url, and embedding.ollama.allow_remote if texts may leave this machine", "not used: %s", o.Unused)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ollamaTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL+"/api/version", nil)
	if err != nil {
		d.add("ollama", render.FindingFailed, "", "%v", err)
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("it answers %s", response.Status)
		}
	}
	level := render.FindingNote
	if o.Enabled == config.OllamaOn {
		level = render.FindingFailed
	}
	switch {
	case err == nil:
		d.add("ollama", render.FindingOK, "", "%s, model %s", o.URL, o.Model)
	case response != nil && response.StatusCode >= http.StatusInternalServerError || errors.Is(err, context.DeadlineExceeded):
		d.add("ollama", level, "restart it; the built-in model answers meanwhile", "the server at %s is in trouble: %v", o.URL, err)
	case o.Enabled == config.OllamaOn:
		d.add("ollama", level, "start it, or set embedding.ollama.enabled to off", "no server at %s: %v", o.URL, err)
	default:
		d.add("ollama", level, "install Ollama for better vectors; the built-in model answers meanwhile", "no server at %s", o.URL)
	}
}

// writeDiagnosis writes the findings with their hints below them.
func writeDiagnosis(w io.Writer, d *diagnosis) {
	rows := [][]string{{"CHECK", "RESULT", "DETAIL"}}
	for _, f := range d.Findings {
		rows = append(rows, []string{f.Check, string(f.Level), f.Detail})
		if f.Hint != "" {
			rows = append(rows, []string{"", "", "→ " + f.Hint})
		}
	}
	render.Table(w, rows)
	if len(d.Dead) > 0 {
		fmt.Fprintln(w)
		jobs := [][]string{{"JOB", "KIND", "KEY", "ATTEMPTS", "LAST ERROR"}}
		for _, j := range d.Dead {
			jobs = append(jobs, []string{j.ID, j.Kind, j.Key, fmt.Sprint(j.Attempts), j.LastError})
		}
		render.Table(w, jobs)
	}
	for _, id := range d.Requeued {
		fmt.Fprintf(w, "Job %s gets another try.\n", id)
	}
}
