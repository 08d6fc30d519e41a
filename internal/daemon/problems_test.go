package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestProblemsTellNoSecrets that a line has where something else belongs.
func TestProblemsTellNoSecrets(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	const token = "ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m"
	log := filepath.Join(t.TempDir(), "shop.jsonl")
	place(t, filepath.Dir(log), "shop.jsonl", `{"lesson":"x","success_rate":"`+token+`"}`+"\n"+
		`{"lesson":"x","success_rate":"`+strings.Repeat("long ", 500)+`"}`+"\n")
	out, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: log, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if len(out.Problems) != 2 || !strings.Contains(out.Problems[0].Message, "[redacted:github-token]") {
		t.Fatalf("the problems are %+v, want two, the first without its token", out.Problems)
	}
	for _, p := range out.Problems {
		if strings.Contains(p.Message, token) || len(p.Message) > 200 {
			t.Errorf("the problem %q tells a secret or all of a text", p.Message)
		}
	}
}
