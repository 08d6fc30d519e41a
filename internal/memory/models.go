package memory

import "time"

// AdaptRequest asks for the built-in model to learn from what is remembered.
type AdaptRequest struct {
	// Threads is how many cores are used at once. Default 1.
	Threads int `json:"threads,omitempty" limit:"1-64"`
	// TimeLimit is when training ends with the best so far. Default 10 minutes.
	TimeLimit Millis `json:"time_limit_ms,omitempty"`
}

// The limits of AdaptRequest.TimeLimit.
const (
	minAdaptTime = Millis(time.Second)
	maxAdaptTime = Millis(24 * time.Hour)
)

func (r *AdaptRequest) relations(string) error {
	if r.TimeLimit != 0 && (r.TimeLimit < minAdaptTime || r.TimeLimit > maxAdaptTime) {
		return Invalid("time_limit_ms", "one second to a day", "a time limit of %s", r.TimeLimit.Duration())
	}
	return nil
}

// AdaptProgress is how far an adaptation is.
type AdaptProgress struct {
	// Phase is "reading", which counts documents, or "training", which counts steps.
	Phase string `json:"phase"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// ModelFigures say how well a model finds the second text of a pair by the first,
// among the second texts of all pairs.
type ModelFigures struct {
	// R1 and R10 are the shares of pairs found first, and among the first ten; MRR
	// is the mean of one over the rank.
	R1  float64 `json:"r1"`
	R10 float64 `json:"r10"`
	MRR float64 `json:"mrr"`
}

// Adaptation is the result of training the built-in model further on what is remembered.
type Adaptation struct {
	// Kept says that the adapted model is used from the next start on; Model is its
	// name then. Refused says why it is not.
	Kept    bool   `json:"kept"`
	Model   string `json:"model,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Base is the model that it started from, BaseSum the checksum of its table.
	Base    string    `json:"base"`
	BaseSum string    `json:"base_sum"`
	At      time.Time `json:"at"`
	Took    Millis    `json:"took_ms"`
	// Pairs counts the pairs of texts that were learned from, Judged those that were kept
	// apart. Each of the Documents is on one side or the other. General pairs come from
	// elsewhere.
	Pairs     int `json:"pairs"`
	Judged    int `json:"judged"`
	Documents int `json:"documents"`
	General   int `json:"general"`
	Steps     int `json:"steps"`
	// OutOfTime says that the time limit ended it.
	OutOfTime bool `json:"out_of_time,omitempty"`
	// Share is how far of the way to what was learned the model goes.
	Share float64 `json:"share"`
	// Before and After are on the judged pairs, by the base and by the adapted model.
	Before        ModelFigures `json:"before"`
	After         ModelFigures `json:"after"`
	GeneralBefore ModelFigures `json:"general_before"`
	GeneralAfter  ModelFigures `json:"general_after"`
	// Gain is by how much the MRR of judged pairs rose, Error its standard error.
	Gain  float64 `json:"gain"`
	Error float64 `json:"error"`
}

// BuiltinModel is the model inside the program, or the one that was adapted from it.
type BuiltinModel struct {
	// InUse embeds now, Next from the next start of the daemon on.
	InUse string `json:"in_use"`
	Next  string `json:"next"`
	// Shipped is the program's own.
	Shipped string `json:"shipped"`
	// Adapted is how the adapted model came about, if there is one.
	Adapted *Adaptation `json:"adapted,omitempty"`
	// Trouble says why there is an adapted model and it is not used.
	Trouble string `json:"trouble,omitempty"`
	// Running is the adaptation under way.
	Running *AdaptProgress `json:"running,omitempty"`
}

// CollectionState is how far the vectors of one model are.
type CollectionState struct {
	Name      string `json:"name"`
	Model     string `json:"model"`
	Dim       int    `json:"dim,omitempty"`
	Documents int    `json:"documents"`
	Embedded  int    `json:"embedded"`
	// State is one of those below.
	State string `json:"state"`
	// ReplacedBy is the model whose space takes the place of a replaced one.
	ReplacedBy string `json:"replaced_by,omitempty"`
	Error      string `json:"error,omitempty"`
}

// The states of a space.
const (
	CollectionReady       = "ready"
	CollectionBackfilling = "filling"
	// CollectionUnavailable is one whose model cannot be reached.
	CollectionUnavailable = "unavailable"
	CollectionLoading     = "loading"
	// CollectionReplaced is one of a model that another took the place of. It answers
	// nothing, and goes when the other's is filled. Embedded is as of the start.
	CollectionReplaced = "replaced"
	// CollectionUnused is one of a model that is switched off: it answers nothing, and
	// stays.
	CollectionUnused = "unused"
)

// Text is the state in words: "filling 40 %", "replaced by builtin/b".
func (s *CollectionState) Text() string {
	switch {
	case s.State == CollectionBackfilling:
		return s.State + " " + Percent(s.Embedded, s.Documents)
	case s.ReplacedBy != "":
		return s.State + " by " + s.ReplacedBy
	}
	return s.State
}

// ModelState is a model that can embed, or could.
type ModelState struct {
	Name string `json:"name"`
	Dim  int    `json:"dim,omitempty"`
	// State is active, available or missing.
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

// PullProgress is one message of a model's download.
type PullProgress struct {
	Status    string `json:"status"`
	Completed int64  `json:"completed,omitempty"`
	Total     int64  `json:"total,omitempty"`
}
