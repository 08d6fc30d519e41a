package memory

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
