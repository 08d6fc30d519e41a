package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/plane"
)

// Lesson carries out service.Lesson.
func (d *Daemon) Lesson(ctx context.Context, req memory.LessonRequest) (*memory.LessonHistory, error) {
	return d.core.Recall.Lesson(ctx, req, d.core.Store.Receipts)
}

// Activity carries out service.Activity.
func (d *Daemon) Activity(ctx context.Context, req memory.ActivityRequest) (*memory.Activity, error) {
	project := ""
	if req.Project != "" {
		p, _, err := d.core.Recorder.Resolve(ctx, req.Project, req.Caller)
		if err != nil {
			return nil, err
		}
		project = p.ID
	}
	first := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-req.Days)
	counts, before := d.core.Indexer.Activity(project, first, req.Days)
	a := &memory.Activity{Before: before}
	for i, n := range counts {
		a.Days = append(a.Days, memory.DayCount{Day: first.AddDate(0, 0, i), Counts: n})
	}
	return a, nil
}

// RepoFiles carries out service.RepoFiles.
func (d *Daemon) RepoFiles(ctx context.Context, req memory.RepoFilesRequest) (*memory.RepoFiles, error) {
	repos, err := d.sandboxes.Repos(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(repos, func(r memory.SandboxState) bool { return r.ID == req.Sandbox })
	if at < 0 {
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "sandbox", Message: "no indexed folder has the id " + memory.Quote(req.Sandbox), Hint: "repos lists them"}
	}
	known, err := d.core.Store.FileMetadata(req.Sandbox)
	if err != nil {
		return nil, err
	}
	list := &memory.RepoFiles{Sandbox: repos[at], Total: len(known), Langs: map[string]int{}, Files: []memory.IndexedFile{}}
	var paths []string
	for path, f := range known {
		if f.Lang != "" {
			list.Langs[f.Lang]++
		}
		if (req.Path == "" || path == req.Path) && (req.Lang == "" || f.Lang == req.Lang) && strings.Contains(strings.ToLower(path), strings.ToLower(req.Part)) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	list.Found = len(paths)
	paths = paths[min(req.Skip, len(paths)):]
	for _, path := range paths[:min(req.Limit, len(paths))] {
		f := known[path]
		list.Files = append(list.Files, memory.IndexedFile{Path: path, Lang: f.Lang, Size: f.Size, ModTime: f.ModTime, Chunks: f.Chunks, Pruned: f.Pruned})
	}
	if req.Path != "" && len(list.Files) == 1 {
		f, err := d.core.Store.File(req.Sandbox, req.Path)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Chunks {
			list.Files[0].Parts = append(list.Files[0].Parts, memory.IndexedChunk{ID: memory.ChunkID(req.Sandbox, req.Path, c), Symbol: c.Symbol, StartLine: c.StartLine, EndLine: c.EndLine})
		}
	}
	return list, nil
}

// maxLogRead bounds how much of the log is read for its last lines, in bytes.
const maxLogRead = 1 << 20

// Log carries out service.Log.
func (d *Daemon) Log(_ context.Context, req memory.LogRequest) (*memory.LogLines, error) {
	out := &memory.LogLines{Path: d.opts.Config.Paths().Log, Lines: []string{}}
	f, err := fsx.Open(out.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-maxLogRead, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, maxLogRead))
	if err != nil {
		return nil, err
	}
	if from > 0 { // the first line is not whole
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = bytes.TrimRight(text, "\n")
	if len(text) == 0 {
		return out, nil
	}
	lines := strings.Split(string(text), "\n")
	out.Lines = lines[max(len(lines)-req.Lines, 0):]
	return out, nil
}

// Map carries out service.Map. It answers at once.
func (d *Daemon) Map(_ context.Context, req memory.MapRequest) (*memory.MemoryMap, error) {
	made, seq := d.lastMap.Load(), d.core.Indexer.Seq()
	if made == nil || req.Again && made.seq != seq {
		select {
		case d.mapWanted <- struct{}{}:
		default: // it is being made
		}
		return emptyMap(), nil
	}
	m := *made.MemoryMap
	m.Stale = made.seq != seq
	return &m, nil
}

// madeMap is a map, and the last change that it shows.
type madeMap struct {
	*memory.MemoryMap
	seq uint64
}

func emptyMap() *memory.MemoryMap {
	return &memory.MemoryMap{Kinds: []memory.Kind{}, Projects: []string{}, IDs: []string{}, X: []int32{}, Y: []int32{}, Kind: []int32{}, Project: []int32{}, Success: []int32{}, Age: []int32{}, Twins: [][]int32{}}
}

// makeMaps makes a map whenever one is wanted, until ctx ends.
func (d *Daemon) makeMaps(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.mapWanted:
		}
		began, seq := time.Now(), d.core.Indexer.Seq()
		if made := d.lastMap.Load(); made != nil && made.seq == seq {
			continue // it was asked for while it was made
		}
		if m := mapOf(ctx, d.core.Indexer.MapPoints(), began); m != nil {
			m.Took = memory.Millis(time.Since(began))
			d.lastMap.Store(&madeMap{m, seq})
		}
	}
}

// mapOf puts memories on a map, in the order of their ids. Twins are lessons: a step is a
// record of what happened, and is not cleaned up for being like another. It returns nil if
// ctx ends first.
func mapOf(ctx context.Context, points []indexer.MapPoint, now time.Time) *memory.MemoryMap {
	slices.SortFunc(points, func(a, b indexer.MapPoint) int { return cmp.Compare(a.ID, b.ID) })
	vectors := make([][]float32, len(points))
	var lessons [][]float32
	var places []int32
	for i, p := range points {
		vectors[i] = p.Vector
		if p.Kind == memory.Lesson {
			lessons, places = append(lessons, p.Vector), append(places, int32(i))
		}
	}
	placed := plane.Of(ctx, vectors)
	twins := plane.Twins(ctx, lessons)
	if ctx.Err() != nil {
		return nil
	}
	m := emptyMap()
	m.Ready, m.At, m.X, m.Y, m.Explained = true, now.UTC(), placed.X, placed.Y, placed.Explained
	for _, group := range twins {
		for i := range group {
			group[i] = places[group[i]]
		}
		m.Twins = append(m.Twins, group)
	}
	kinds, projects := map[memory.Kind]int32{}, map[string]int32{}
	for _, p := range points {
		m.IDs = append(m.IDs, p.ID)
		m.Kind = append(m.Kind, numbered(kinds, p.Kind, &m.Kinds))
		m.Project = append(m.Project, numbered(projects, p.Project, &m.Projects))
		success := int32(-1)
		if p.Rate != nil && p.Rate.Attempts > 0 {
			success = int32(100 * p.Rate.Successes / p.Rate.Attempts)
		}
		m.Success = append(m.Success, success)
		m.Age = append(m.Age, int32(max(now.Sub(p.Created)/(24*time.Hour), 0)))
	}
	return m
}

// numbered returns the number of a name, which it enters into the list if it is new.
func numbered[T comparable](numbers map[T]int32, name T, names *[]T) int32 {
	n, known := numbers[name]
	if !known {
		n = int32(len(*names))
		numbers[name] = n
		*names = append(*names, name)
	}
	return n
}
