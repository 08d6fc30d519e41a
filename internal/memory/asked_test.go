package memory

import "testing"

func TestAsked(t *testing.T) {
	for want, r := range map[string]RecallRequest{
		"npm error":        {Query: "npm error"},
		"ids: l-1, s-2":    {IDs: []string{"l-1", "s-2"}},
		"why (with an id)": {Query: "why (with an id)", IDs: []string{"l-1"}},
		"":                 {},
	} {
		if got := r.Asked(); got != want {
			t.Errorf("%+v asks %q, want %q", r, got, want)
		}
	}
}
