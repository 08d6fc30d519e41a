package agentctx

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkTaskWindow asks for the window of a folder's project, among 100 projects
// of 100 tasks and 50 blockers each. Contract 3 allows 5 ms.
func BenchmarkTaskWindow(b *testing.B) {
	r := newTaskRig(b)
	const projects, tasks, blockers = 100, memory.MaxTasks, 50
	report := json.RawMessage(`{"valid":false,"errors":["TestLogin: timed out after 30s","lint: unused variable"],"checks":{"build":true,"unit":false}}`)
	for i := range projects {
		p := memory.Project{ID: fmt.Sprintf("p-%d", i), Name: fmt.Sprintf("project %d", i)}
		if i == 0 {
			own, _, err := r.tasks.opts.Projects.Resolve(b.Context(), "", r.caller)
			if err != nil {
				b.Fatal(err)
			}
			p = own
		}
		var batch memory.Batch
		for n := range tasks {
			batch.Records = append(batch.Records, taskRecord(p, memory.CompletedTask{
				TaskID: fmt.Sprintf("task-%d", n), CompletedAt: taskTime.Add(time.Duration(n) * time.Minute), RequiresContext: n%2 == 0,
				Intent: "Implement the user authentication module with mail and password", Summary: "Done with names and ids", ValidationReport: report,
			}, nil))
		}
		for n := range blockers {
			batch.Records = append(batch.Records, blockerRecord(p, memory.BlockedTask{
				TaskID: fmt.Sprintf("task-%d", n), Reason: "The staging database cannot be reached from the build", BlockedAt: taskTime.Add(time.Duration(n) * time.Second),
			}, nil))
		}
		if _, err := r.ingest.Write(b.Context(), p, batch); err != nil {
			b.Fatal(err)
		}
	}
	req := memory.TaskWindowRequest{Caller: r.caller}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		w, err := r.tasks.TaskWindow(b.Context(), req)
		if err != nil || len(w.Tasks) != memory.DefaultWindow || len(w.Blockers) != blockers {
			b.Fatalf("%d tasks and %d blockers, %v", len(w.Tasks), len(w.Blockers), err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
}

// BenchmarkCompleteTask reports tasks to a project whose state is full by its bytes.
func BenchmarkCompleteTask(b *testing.B) {
	r := newTaskRig(b)
	report := json.RawMessage(fmt.Sprintf(`{"valid":true,"log":%q}`, slices.Repeat([]byte("word "), 1000)))
	n := 0
	for b.Loop() {
		n++
		r.complete(memory.CompleteTaskRequest{TaskID: fmt.Sprintf("task-%d", n), ValidationReport: report})
	}
}
