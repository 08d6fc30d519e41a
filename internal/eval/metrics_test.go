package eval

import (
	"math"
	"testing"
)

// hits ranks documents in this order.
func hits(documents ...string) []Hit {
	list := make([]Hit, len(documents))
	for i, d := range documents {
		list[i] = Hit{Document: d, Score: float64(len(documents) - i)}
	}
	return list
}

// TestMetricsOfOneQuestion has figures worked out by hand from the formulas,
// with log2(2)=1, log2(3)=1.585, log2(4)=2, log2(12)=3.585.
func TestMetricsOfOneQuestion(t *testing.T) {
	for _, test := range []struct {
		name   string
		ranked []Hit
		grades Grades
		want   Metrics
	}{
		{"first", hits("a", "b"), Grades{"a": 1}, Metrics{1, 1, 1, 1, 1}},
		{"third", hits("x", "y", "a"), Grades{"a": 1}, Metrics{1, 1, 1, 1. / 3, 0.5}},
		{"sixth", hits("1", "2", "3", "4", "5", "a"), Grades{"a": 1}, Metrics{1, 0, 1, 1. / 6, 1 / math.Log2(7)}},
		{"eleventh", hits("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"), Grades{"a": 1}, Metrics{1, 0, 0, 0, 0}},
		{"nothing found", nil, Grades{"a": 1}, Metrics{1, 0, 0, 0, 0}},
		{"half of two", hits("a", "x"), Grades{"a": 1, "b": 1}, Metrics{1, 0.5, 0.5, 1, 1 / (1 + 1/math.Log2(3))}},
		{"grades in the wrong order", hits("b", "a"), Grades{"a": 2, "b": 1}, Metrics{1, 1, 1, 1, (1 + 2/math.Log2(3)) / (2 + 1/math.Log2(3))}},
		{"grade 0 is not relevant", hits("z", "a"), Grades{"a": 1, "z": 0}, Metrics{1, 1, 1, 0.5, 1 / math.Log2(3)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m Metrics
			m.add(test.ranked, test.grades)
			checkMetrics(t, m.mean(), test.want)
		})
	}
}

// TestMetricsAreMeansOverQuestions: 12 relevant documents, of which 10 fit.
func TestMetricsAreMeansOverQuestions(t *testing.T) {
	many := Grades{}
	var all []string
	for _, d := range "abcdefghijkl" {
		many[string(d)] = 1
		all = append(all, string(d))
	}
	var m Metrics
	m.add(hits(all...), many)
	m.add(hits("x"), Grades{"a": 1})
	checkMetrics(t, m.mean(), Metrics{2, 5. / 24, 10. / 24, 0.5, 0.5})
}

func checkMetrics(t *testing.T, got, want Metrics) {
	t.Helper()
	if got.Queries != want.Queries {
		t.Errorf("%d queries, want %d", got.Queries, want.Queries)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{{"R@5", got.R5, want.R5}, {"R@10", got.R10, want.R10}, {"MRR@10", got.MRR10, want.MRR10}, {"nDCG@10", got.NDCG10, want.NDCG10}} {
		if math.Abs(f.got-f.want) > 1e-9 {
			t.Errorf("%s is %.6f, want %.6f", f.name, f.got, f.want)
		}
	}
}
