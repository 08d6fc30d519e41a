package web

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const filesPerPage = 100

// code shows the indexed repositories.
func (q *request) code(v *view) (err error) {
	v.Data, err = ask(q, service.Repos, service.None{})
	return err
}

// repoPage is the files of one indexed folder.
type repoPage struct {
	*memory.RepoFiles
	Languages            []count // most files first
	Part, Lang, FilePath string
	Pager                pager
}

// repo shows the files of one folder, or one of them with its chunks.
func (q *request) repo(v *view) (err error) {
	page := &repoPage{Part: q.r.FormValue("part"), Lang: q.r.FormValue("lang"), FilePath: q.r.FormValue("path")}
	v.Data = page
	page.RepoFiles, err = ask(q, service.RepoFiles, memory.RepoFilesRequest{Sandbox: q.r.PathValue("id"), Path: page.FilePath, Part: page.Part, Lang: page.Lang, Skip: q.skip(filesPerPage), Limit: filesPerPage})
	if err != nil {
		return err
	}
	v.Title, v.Project = page.Sandbox.ProjectName, page.Sandbox.Project
	page.Languages = counts(page.Langs)
	slices.SortStableFunc(page.Languages, func(a, b count) int { return cmp.Compare(b.N, a.N) })
	page.Pager = q.pager(filesPerPage, page.Found)
	return nil
}

// skipped shows which files of a folder the rules leave out, by a walk over it now.
func (q *request) skipped(v *view) error {
	folder, err := q.folder()
	if err == nil {
		v.Project = folder.Project
		v.Data, err = ask(q, service.Skipped, memory.SkippedRequest{Path: folder.Root, Caller: q.caller()})
	}
	return err
}

// folder returns the indexed folder that the address names.
func (q *request) folder() (memory.Sandbox, error) {
	repos, err := ask(q, service.Repos, service.None{})
	if err != nil {
		return memory.Sandbox{}, err
	}
	id := q.r.PathValue("id")
	i := slices.IndexFunc(repos.Repos, func(r memory.SandboxState) bool { return r.ID == id })
	if i < 0 {
		return memory.Sandbox{}, memory.Errorf(memory.CodeNotFound, "no indexed folder has the id %s", memory.Quote(id))
	}
	return repos.Repos[i].Sandbox, nil
}

// chunk shows a chunk as it is on disk now, through the gate.
func (q *request) chunk(v *view) (err error) {
	v.Data, err = q.item(q.r.PathValue("id"), v.Project)
	return err
}

// item reads one memory of any kind by its id.
func (q *request) item(id, project string) (*memory.Item, error) {
	a, err := ask(q, service.Recall, memory.RecallRequest{IDs: []string{id}, Project: project, MaxTokens: memory.MaxTokens, Caller: q.caller()})
	switch {
	case err != nil:
		return nil, err
	case len(a.Items) > 0:
		return &a.Items[0], nil
	case len(a.Withheld) > 0:
		return nil, memory.Errorf(memory.CodeNotFound, "%s is not shown: %s", id, cmp.Or(a.Withheld[0].Note, reasonText(a.Withheld[0].Reason)))
	}
	return nil, memory.Errorf(memory.CodeNotFound, "there is no memory %s", id)
}

// indexNow has a folder indexed again.
func (q *request) indexNow(string) (string, url.Values, error) {
	folder, err := q.folder()
	if err == nil {
		_, err = ask(q, service.IndexRepo, memory.IndexRequest{Path: folder.Root, Caller: q.caller()})
	}
	return "code", url.Values{"done": {"indexing"}}, err
}
