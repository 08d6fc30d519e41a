package files

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The naive answers: the documentation of Search and Ask, word by word.

// naiveGlob is a glob as a regular expression.
func naiveGlob(pattern, path string) bool {
	pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
	if !strings.Contains(pattern, "/") {
		path = path[strings.LastIndexByte(path, '/')+1:]
		pattern = strings.ReplaceAll(pattern, "**", "*")
	}
	var b strings.Builder
	b.WriteString("^")
	for i, s := range strings.Split(pattern, "/") {
		if s == "**" {
			b.WriteString("(?:/[^/]*)*")
			continue
		}
		if i >= 0 {
			b.WriteString("/")
		}
		for _, r := range s {
			switch r {
			case '*':
				b.WriteString("[^/]*")
			case '?':
				b.WriteString("[^/]")
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
	}
	return regexp.MustCompile("(?s)" + b.String() + "$").MatchString("/" + path)
}

func naivePlace(word, path, head string) place {
	path, head = strings.ToLower(path), strings.ToLower(head)
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case strings.ContainsAny(word, "*?"):
		if naiveGlob(word, path) {
			return inName
		}
	case strings.Contains(name, word):
		return inName
	case strings.Contains(path, word):
		return inFolder
	case strings.Contains(head, word):
		return inHead
	}
	return nowhere
}

type naiveHit struct {
	path string
	id   uint32
	rank float64
}

// order is the order of results.
func order(hits []naiveHit, limit int) []uint32 {
	slices.SortFunc(hits, func(a, b naiveHit) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path), cmp.Compare(a.id, b.id))
	})
	ids := []uint32{}
	for _, h := range hits[:min(limit, len(hits))] {
		ids = append(ids, h.id)
	}
	return ids
}

func (tr tree) naiveSearch(pattern string, limit int) (ids []uint32, total int) {
	words := slices.Compact(slices.Sorted(slices.Values(strings.FieldsFunc(strings.ToLower(pattern), isGap))))
	var hits []naiveHit
	for id, f := range tr {
		h := naiveHit{path: f[0], id: id}
		for _, w := range words {
			if at := naivePlace(w, f[0], f[1]); at == nowhere {
				h.rank = math.Inf(1)
			} else {
				h.rank += float64(at)
			}
		}
		if !math.IsInf(h.rank, 1) && len(words) > 0 {
			hits = append(hits, h)
		}
	}
	return order(hits, limit), len(hits)
}

func (tr tree) naiveAsk(question string, limit int) []uint32 {
	words := questionWords(question)
	count := map[string]int{}
	for _, w := range words {
		for _, f := range tr {
			if naivePlace(w, f[0], f[1]) != nowhere {
				count[w]++
			}
		}
	}
	var hits []naiveHit
	for id, f := range tr {
		var shares []float64
		for _, w := range words {
			if at := naivePlace(w, f[0], f[1]); at != nowhere {
				n := float64(count[w])
				shares = append(shares, placeWeight[at]*math.Log(1+(float64(len(tr))-n+.5)/(n+.5)))
			}
		}
		if len(shares) > 0 {
			slices.Sort(shares)
			h := naiveHit{path: f[0], id: id}
			for _, s := range shares {
				h.rank -= s
			}
			// Sums in another order differ in their last bits.
			h.rank = math.Round(h.rank*1e9) / 1e9
			hits = append(hits, h)
		}
	}
	return order(hits, limit)
}

func FuzzSearch(f *testing.F) {
	for _, pattern := range []string{"queue", "a b", "*.go", "**/a*", "a/**/b?", "x", "**", "?", "é*", "a**b", "**/**", "*/", "\xff*", "İ"} {
		f.Add("src/queue/a.go|package a\nsrc/B.go|the queue\na/x/y/b1|é\nab|aXXb\n\xff\xfea|\xff", pattern)
	}
	f.Fuzz(func(t *testing.T, files, pattern string) {
		if len(pattern) > 60 || len(files) > 2000 || strings.Contains(files, "\x00") {
			return // the reference would take too long; no path has a NUL
		}
		treeOf(strings.Split(files, "\n")...).index().Search(pattern, nil, 5)
		// What is not UTF-8 has no one reading as a regular expression.
		if strings.ToValidUTF8(pattern, "") != pattern || strings.ToValidUTF8(files, "") != files {
			files, pattern = strings.ToValidUTF8(files, "?"), strings.ToValidUTF8(pattern, "x")
		}
		tr := treeOf(strings.Split(files, "\n")...)
		x := tr.index()
		got, total := x.Search(pattern, nil, 5)
		want, wantTotal := tr.naiveSearch(pattern, 5)
		if !slices.Equal(ids(got), want) || total != wantTotal {
			t.Errorf("search %q = %v of %d, want %v of %d", pattern, ids(got), total, want, wantTotal)
		}
		for id, file := range tr {
			all, _ := tr.naiveSearch(pattern, len(tr))
			if Fits(pattern, file[0], file[1]) != slices.Contains(all, id) {
				t.Errorf("Fits(%q, %q, %q) is not what Search says", pattern, file[0], file[1])
			}
		}
	})
}

func FuzzAsk(f *testing.F) {
	for _, question := range []string{"where is the queue", "a.go", "retryQueue policies?", "src/queue", "the", "é ü"} {
		f.Add("src/queue/a.go|package a\nsrc/B.go|the retry queue\na/x/y/b1|é policy\nretry_queue.go|", question)
	}
	f.Fuzz(func(t *testing.T, files, question string) {
		if len(question) > 200 || len(files) > 2000 || strings.Contains(files, "\x00") {
			return
		}
		tr := treeOf(strings.Split(files, "\n")...)
		got := tr.index().Ask(question, nil, len(tr))
		for i, m := range got {
			if m.Share <= 0 || m.Share > 1+1e-9 {
				t.Errorf("ask %q: file %d has the share %v", question, m.ID, m.Share)
			}
			// Sums that differ in their last bits only are the same to the reference, which orders
			// by path then; a share can lose that difference.
			if i > 0 && math.Abs(got[i-1].Share-m.Share) < 1e-7 && (got[i-1].Share != m.Share || tr[got[i-1].ID][0] > tr[m.ID][0]) {
				return
			}
		}
		if want := tr.naiveAsk(question, len(tr)); !slices.Equal(ids(got), want) {
			t.Errorf("ask %q = %v, want %v", question, got, want)
		}
	})
}

func ids(ms []Match) []uint32 {
	out := []uint32{}
	for _, m := range ms {
		out = append(out, m.ID)
	}
	return out
}
