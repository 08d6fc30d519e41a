package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/adaptation"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestAdaptsToWhatIsIndexed: what is ignored, skipped by its name, larger than what is
// indexed, changed since, replaced by a link that leads out or forgotten is not learned
// from.
func TestAdaptsToWhatIsIndexed(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	cfg.Index.Watch = false
	cfg.Index.MaxFileSize = 4000
	outside := t.TempDir()
	place(t, outside, "secret.go", "package mail\n\n// Confirm is not what it was.\n")
	place(t, dir, ".recalldignore", "private/\n")
	place(t, dir, "private/plan.go", "package private\n\n// Plan is nobody's business.\nfunc Plan() {}\n")
	place(t, dir, "node_modules/dep.js", "// Dep is of others.\nfunction dep() {}\n")
	place(t, dir, "large.go", "package shop\n\n"+strings.Repeat("// A long story.\n", 500))
	for _, name := range []string{"changed.go", "link.go"} {
		place(t, dir, name, "package shop\n\n// What "+name+" says is read once.\nfunc What() {}\n")
	}
	gone := filepath.Join(filepath.Dir(dir), "gone")
	place(t, gone, "gone.go", "package gone\n\n// Gone is forgotten.\nfunc Gone() {}\n")
	s := serve(t, cfg)
	s.indexed(s.index(dir))
	left := s.indexed(s.index(gone))
	_, err := service.Forget.Do(t.Context(), s, memory.ForgetRequest{Project: left.Project})
	must(t, err)
	s.end()
	must(t, s.wait())
	place(t, dir, "changed.go", "package shop\n\n// What it says now nobody has looked at.\nfunc What() {}\n")
	must(t, os.Remove(filepath.Join(dir, "link.go")))
	if err := os.Symlink(filepath.Join(outside, "secret.go"), filepath.Join(dir, "link.go")); err != nil {
		t.Logf("no links here: %v", err)
	}

	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	defer func() { must(t, core.Close()) }()
	read, refused := map[string]string{}, []string{}
	svc := adaptation.New(adaptation.Options{
		Store: adaptationStore{core.Store, slog.New(slog.DiscardHandler)}, General: generalPairs,
		Read: func(ctx context.Context, at memory.Location, hash memory.DocID) (string, error) {
			text, err := core.Verifier.Whole(ctx, at, hash)
			if read[at.Path] = text; err != nil {
				delete(read, at.Path)
				refused = append(refused, at.Path)
			}
			return text, err
		},
	})
	if _, err := svc.Adapt(t.Context(), memory.AdaptRequest{}, nil); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("adapt: %v, want too little to learn from", err)
	}
	if got, want := slices.Sorted(maps.Keys(read)), []string{".recalldignore", "cart/cart.go", "mail/mail.go"}; !slices.Equal(got, want) {
		t.Errorf("learned from %v, want %v", got, want)
	}
	if want := []string{"changed.go", "link.go"}; !slices.Equal(refused, want) {
		t.Errorf("refused when read: %v, want %v", refused, want)
	}
}

// TestAdaptationHidesSecrets: a secret in a file that is indexed is taken out.
func TestAdaptationHidesSecrets(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	place(t, dir, "key.go", "package shop\n\n// Key opens the warehouse.\nconst key = \""+secret+"\"\n")
	s := serve(t, cfg)
	s.indexed(s.index(dir))
	s.end()
	must(t, s.wait())
	core, err := OpenCore(t.Context(), CoreOptions{Dir: cfg.Paths().Store, Config: cfg})
	must(t, err)
	defer func() { must(t, core.Close()) }()
	seen := ""
	svc := adaptation.New(adaptation.Options{
		Store: adaptationStore{core.Store, slog.New(slog.DiscardHandler)}, General: generalPairs,
		Read: func(ctx context.Context, at memory.Location, hash memory.DocID) (string, error) {
			text, err := core.Verifier.Whole(ctx, at, hash)
			seen += text
			return text, err
		},
	})
	_, err = svc.Adapt(t.Context(), memory.AdaptRequest{}, nil)
	if memory.CodeOf(err) != memory.CodeConflict || !strings.Contains(seen, "Key opens") || strings.Contains(seen, secret) {
		t.Errorf("adapt: %v; it has read %q", err, seen)
	}
}

// coined is a word that nobody else uses.
func coined(begin string, n int) string {
	ends := strings.Fields("zor vex mur den hoy wib kro fen sag jep")
	return begin + ends[n/10%10] + ends[n%10]
}

// learnable is a repository of which enough can be learned: words that nobody else
// uses, and what they stand for.
func learnable(t *testing.T, files int) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for i := range files {
		var text strings.Builder
		fmt.Fprintf(&text, "package p%d\n", i)
		for j := range 8 {
			a, b, c := (i*31+j*17)%97, (i*13+j*29)%97, (i*7+j*3)%97
			fmt.Fprintf(&text, "\n// The %s of our %s must dwell with every %s.\nfunc f%d() {\n\t%s := %s\n\t%s(%[5]s)\n\treturn %[8]d\n}\n",
				coined("ilt", a), coined("bla", b), coined("nid", c), j, coined("qua", a), coined("tul", b), coined("pax", c), i*8+j)
		}
		place(t, dir, fmt.Sprintf("f%d.go", i), text.String())
	}
	return dir
}

// TestAdaptationEnds: an adaptation ends with its request, and with the daemon, and
// leaves nothing.
func TestAdaptationEnds(t *testing.T) {
	cfg := newConfig(t)
	s := serve(t, cfg, func(o *Options) { o.minPairs = 500 })
	s.indexed(s.index(learnable(t, 320)))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := service.AdaptModel.Do(ctx, s, memory.AdaptRequest{}, func(p memory.AdaptProgress) {
		if p.Phase == "training" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.until("idle", func(st *memory.Status) bool { return st.Adapting == nil })
	asked := false
	_, err = service.AdaptModel.Do(t.Context(), s, memory.AdaptRequest{}, func(p memory.AdaptProgress) {
		if p.Phase == "training" && !asked {
			asked = true
			if st, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || st.Adapting == nil {
				t.Errorf("meanwhile the status says %+v, %v", st, err)
			}
			_, err := service.Stop.Do(t.Context(), s, service.None{})
			must(t, err)
		}
	})
	if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "the daemon was stopped") {
		t.Errorf("the daemon was stopped: %v", err)
	}
	must(t, s.wait())
	if _, err := os.Stat(cfg.Paths().Models); err == nil {
		t.Error("something of it is left")
	}
}

// TestDamagedModel: a damaged adapted model is told of, and the shipped one embeds.
func TestDamagedModel(t *testing.T) {
	cfg := newConfig(t)
	place(t, cfg.Data, "models/adapted.json", fmt.Sprintf(`{"model": "builtin/static-v1-adapted-0a1b2c3d", "base_sum": "%08x"}`, binary.LittleEndian.Uint32(builtin.File()[len(builtin.File())-4:])))
	place(t, cfg.Data, "models/static-v1-adapted-0a1b2c3d.bin", "not a table")
	if err := CheckModel(cfg); !errors.Is(err, adaptation.ErrDamaged) {
		t.Errorf("check says %v", err)
	}
	must(t, os.Chmod(cfg.Data, 0o700))
	s := serve(t, cfg)
	s.await("the adapted model is not used")
	m, err := service.BuiltinModel.Do(t.Context(), s, service.None{})
	must(t, err)
	if m.InUse != builtin.Name || m.Next != builtin.Name || !strings.Contains(m.Trouble, "recalld model reset") {
		t.Errorf("the model is %+v", m)
	}
	st := s.until("ready", func(st *memory.Status) bool { return st.State == stateReady })
	if len(st.Notes) == 0 || !strings.Contains(strings.Join(st.Notes, " "), "damaged") || st.Collections[0].Model != builtin.Name {
		t.Errorf("the status says %+v", st)
	}
	m, err = service.ResetModel.Do(t.Context(), s, service.None{})
	must(t, err)
	if m.Trouble != "" || m.Adapted != nil || CheckModel(cfg) != nil {
		t.Errorf("reset, the model is %+v, the check says %v", m, CheckModel(cfg))
	}
	if st, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || len(st.Notes) > 0 {
		t.Errorf("reset, the status says %+v, %v", st, err)
	}
}
