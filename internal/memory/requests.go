package memory

// The requests of the history operations: of HistoryRequest exactly what each takes, by
// the names of contract 1. A field of another operation is refused as unknown.
type (
	// SearchStepsRequest finds steps by words and meaning, best first.
	SearchStepsRequest struct {
		Query   string       `json:"query" limit:"1-200" desc:"A tool, a screen, a target, words of an error or of a goal."`
		Scope   *Scope       `json:"scope,omitempty" usual:"all" desc:"Whose steps."`
		Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
		Limit   int          `json:"limit,omitempty" limit:"1-100" default:"20" desc:"Most steps to return."`
		Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
		Caller  Caller       `json:"caller,omitzero"`
	}
	// LastStepsRequest lists the newest steps, newest first.
	LastStepsRequest struct {
		N       int          `json:"n,omitempty" limit:"1-200" default:"20" desc:"Most steps to return, counted after the filters."`
		Scope   *Scope       `json:"scope,omitempty" usual:"current" desc:"Whose steps."`
		Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
		Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
		Caller  Caller       `json:"caller,omitzero"`
	}
	// SummarizeRequest summarises one session.
	SummarizeRequest struct {
		Scope   *Scope `json:"scope,omitempty" usual:"current" desc:"Which session; all is refused."`
		Project string `json:"project,omitempty" limit:"0-4096" mcp:"-"`
		Caller  Caller `json:"caller,omitzero"`
	}
	// SessionsRequest lists sessions, newest first.
	SessionsRequest struct {
		Filters *StepFilters `json:"filters,omitempty" desc:"All that are given must hold."`
		Limit   int          `json:"limit,omitempty" limit:"1-50" default:"10" desc:"Most sessions to return."`
		Project string       `json:"project,omitempty" limit:"0-4096" mcp:"-"`
		Caller  Caller       `json:"caller,omitzero"`
	}
)

// History is the request as the read path takes it.
func (r SearchStepsRequest) History() HistoryRequest {
	return HistoryRequest{Query: r.Query, Scope: r.Scope, Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller}
}

// History is the request as the read path takes it.
func (r LastStepsRequest) History() HistoryRequest {
	return HistoryRequest{Scope: r.Scope, Filters: r.Filters, Limit: r.N, Project: r.Project, Caller: r.Caller}
}

// History is the request as the read path takes it.
func (r SummarizeRequest) History() HistoryRequest {
	return HistoryRequest{Scope: r.Scope, Project: r.Project, Caller: r.Caller}
}

// History is the request as the read path takes it.
func (r SessionsRequest) History() HistoryRequest {
	return HistoryRequest{Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller}
}

// Search is the part of the request that a search for steps takes.
func (r HistoryRequest) Search() SearchStepsRequest {
	return SearchStepsRequest{Query: r.Query, Scope: r.Scope, Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller}
}

// Last is the part of the request that a list of steps takes.
func (r HistoryRequest) Last() LastStepsRequest {
	return LastStepsRequest{N: r.Limit, Scope: r.Scope, Filters: r.Filters, Project: r.Project, Caller: r.Caller}
}

// Summarize is the part of the request that a summary takes.
func (r HistoryRequest) Summarize() SummarizeRequest {
	return SummarizeRequest{Scope: r.Scope, Project: r.Project, Caller: r.Caller}
}

// Sessions is the part of the request that a list of sessions takes.
func (r HistoryRequest) Sessions() SessionsRequest {
	return SessionsRequest{Filters: r.Filters, Limit: r.Limit, Project: r.Project, Caller: r.Caller}
}

type (
	// ReceiptRequest names a receipt.
	ReceiptRequest struct {
		ID string `json:"id"`
	}
	// RequeueRequest names a dead job.
	RequeueRequest struct {
		ID string `json:"id"`
	}
	// PullRequest names the model to download.
	PullRequest struct {
		Name string `json:"name"`
	}
	// Pulled says that a model was downloaded.
	Pulled bool
)

// Lists are objects, so that fields can be added beside the list.
type (
	// RepoList holds the sandboxes known, by project name and root.
	RepoList struct {
		Repos []SandboxState `json:"repos"`
	}
	// DeadJobList holds the jobs that were given up.
	DeadJobList struct {
		Jobs []DeadJob `json:"jobs"`
	}
	// ModelList holds the embedding models.
	ModelList struct {
		Models []ModelState `json:"models"`
	}
)
