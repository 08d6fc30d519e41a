package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const filesPerPage = 100

// code shows the indexed repositories.
func (q *request) code() {
	v, err := q.view("Code", "code")
	if err == nil {
		v.Data, err = ask(q, service.Repos, service.None{})
	}
	q.ok("code", v, err)
}

// repoPage is the files of one indexed folder.
type repoPage struct {
	*memory.RepoFiles
	Languages            []count // most files first
	Part, Lang, FilePath string
	Pager                pager
}

// repo shows the files of one folder, or one of them with its chunks.
func (q *request) repo() {
	v, err := q.view("Files", "code")
	page := &repoPage{Part: q.r.FormValue("part"), Lang: q.r.FormValue("lang"), FilePath: q.r.FormValue("path")}
	if err == nil {
		page.RepoFiles, err = ask(q, service.RepoFiles, memory.RepoFilesRequest{Sandbox: q.r.PathValue("id"), Path: page.FilePath, Part: page.Part, Lang: page.Lang, Skip: q.skip(filesPerPage), Limit: filesPerPage})
	}
	if err == nil {
		v.Title, v.Project = page.Sandbox.ProjectName, page.Sandbox.Project
		for _, lang := range slices.Sorted(maps.Keys(page.Langs)) {
			page.Languages = append(page.Languages, count{lang, page.Langs[lang]})
		}
		slices.SortStableFunc(page.Languages, func(a, b count) int { return cmp.Compare(b.N, a.N) })
		page.Pager = q.pager(filesPerPage, page.Found)
	}
	v.Data = page
	q.ok("repo", v, err)
}

// skipped shows which files of a folder the rules leave out, by a walk over it now.
func (q *request) skipped() {
	v, err := q.view("Files left out", "code")
	var repos *memory.RepoList
	if err == nil {
		repos, err = ask(q, service.Repos, service.None{})
	}
	if err == nil {
		at := slices.IndexFunc(repos.Repos, func(r memory.SandboxState) bool { return r.ID == q.r.PathValue("id") })
		if at < 0 {
			err = memory.Errorf(memory.CodeNotFound, "no indexed folder has the id %s", memory.Quote(q.r.PathValue("id")))
		} else {
			v.Data, err = ask(q, service.Skipped, memory.SkippedRequest{Path: repos.Repos[at].Root, Caller: q.caller()})
		}
	}
	q.ok("skipped", v, err)
}

// chunk shows a chunk as it is on disk now, through the gate.
func (q *request) chunk() {
	v, err := q.view("Code as it is now", "code")
	if err == nil {
		v.Data, err = q.item(q.r.PathValue("id"), v.Project)
	}
	q.ok("chunk", v, err)
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
func (q *request) indexNow() {
	repos, err := ask(q, service.Repos, service.None{})
	if err == nil {
		at := slices.IndexFunc(repos.Repos, func(r memory.SandboxState) bool { return r.ID == q.r.PathValue("id") })
		if at < 0 {
			err = memory.Errorf(memory.CodeNotFound, "no indexed folder has the id %s", memory.Quote(q.r.PathValue("id")))
		} else {
			_, err = ask(q, service.IndexRepo, memory.IndexRequest{Path: repos.Repos[at].Root, Caller: q.caller()})
		}
	}
	if err != nil {
		q.refused("code", err)
		return
	}
	q.to("code", url.Values{"done": {"indexing"}, "project": {q.r.PostForm.Get("project")}})
}
