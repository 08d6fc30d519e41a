package agentctx

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// A query may name a server, and abbreviate what tools are called: "sign off the GitLab MR".
// Neither says which tool it is by its weight as a word: every tool of GitLab has the one, and
// none the other. So the server's tools are searched once more without its name, and what an
// abbreviation stands for is added to the query. The figures were chosen with practice.txt and
// own.txt of internal/daemon: among the first three tools are 66 of 100 instead of 61, and 35
// of 48 instead of 32. The share of a tool's name that the query has moved neither up.
const (
	// wideTools is how many tools are ranked.
	wideTools = 100
	// ofNamedServer is added to the scores of a named server's tools, whose best has about 1.
	ofNamedServer = 0.5
	// withinServer weights the scores within the tools of a named server.
	withinServer = 1.5
	// fewTools is how many tools of other servers may have a server's name in their texts.
	// Else it is an ordinary word, such as time or word.
	fewTools = 3
	// leastNamed is how many tools must have the words of an abbreviation in their names.
	leastNamed = 2
	// maxServerWords is how many words of a query are read as one name of a server.
	maxServerWords = 4
)

// matchTools finds the tools that a query may mean, best first: those from files of the
// repository come last. The entries are the enabled tools, by the ids of their
// records.
func (s *Contexts) matchTools(ctx context.Context, query string, sel memory.Selection, entries map[string]*memory.EntryState) (recall.Matches, error) {
	out, err := s.opts.Recall.Match(ctx, spellOut(query, entries), sel, wideTools, recall.AskOptions{MinRelevance: new(foundThreshold)})
	if err != nil {
		return recall.Matches{}, err
	}
	out.Items = slices.DeleteFunc(out.Items, func(m recall.Matched) bool { return entries[m.ID] == nil }) // registered since
	scores := make(map[string]float64, len(out.Items))
	for _, m := range out.Items {
		scores[m.ID] = m.Factors.Score
	}
	named, rest := namedServers(splitName(query), entries)
	if len(named) > 0 && rest != "" {
		within := sel
		within.Only = map[string]bool{}
		for id, e := range entries {
			within.Only[id] = named[e.ServerName]
		}
		found, err := s.opts.Recall.Match(ctx, spellOut(rest, entries), within, memory.MaxToolsFound, recall.AskOptions{MinRelevance: new(0.0)})
		if err != nil {
			return recall.Matches{}, err
		}
		for _, m := range found.Items {
			if _, known := scores[m.ID]; !known {
				m.Relevance = max(m.Relevance, foundThreshold)
				out.Items = append(out.Items, m)
			}
			scores[m.ID] += withinServer * m.Factors.Score
		}
	}
	for id := range scores {
		if named[entries[id].ServerName] {
			scores[id] += ofNamedServer
		}
	}
	slices.SortStableFunc(out.Items, func(a, b recall.Matched) int {
		return cmp.Or(followedLast(entries[a.ID], entries[b.ID]), cmp.Compare(namedBy(query, entries[b.ID]), namedBy(query, entries[a.ID])),
			cmp.Compare(scores[b.ID], scores[a.ID]))
	})
	return out, nil
}

// namedBy says how exactly a query is the name of a tool: 2 with its server, 1 without, else 0.
// send_message and sendMessage have the same words.
func namedBy(query string, e *memory.EntryState) int {
	switch query {
	case toolOf(e).String():
		return 2
	case e.Name:
		return 1
	}
	return 0
}

// namedServers returns the servers that the words of a query name, across case and
// separators, and the other words.
func namedServers(words []string, entries map[string]*memory.EntryState) (named map[string]bool, rest string) {
	servers := map[string][]string{} // by their words, without separators
	seen := map[string]bool{}
	for _, e := range entries {
		if !seen[e.ServerName] {
			seen[e.ServerName] = true
			words := strings.Join(splitName(e.ServerName), "")
			servers[words] = append(servers[words], e.ServerName)
		}
	}
	named = map[string]bool{}
	var others []string
	for i := 0; i < len(words); {
		n := min(maxServerWords, len(words)-i)
		for ; n > 0; n-- {
			found := false
			for _, server := range servers[strings.Join(words[i:i+n], "")] {
				if isDistinct(server, entries) {
					named[server], found = true, true
				}
			}
			if found {
				break
			}
		}
		if n == 0 {
			others = append(others, words[i])
			n = 1
		}
		i += n
	}
	return named, strings.Join(others, " ")
}

// isDistinct says whether a server's name is no word of the texts of other servers' tools.
func isDistinct(server string, entries map[string]*memory.EntryState) bool {
	name := " " + strings.Join(splitName(server), " ") + " "
	n := 0
	for _, e := range entries {
		if e.ServerName != server && strings.Contains(" "+strings.Join(splitName(e.Name+" "+e.Description), " ")+" ", name) {
			n++
		}
	}
	return name != "  " && n <= fewTools
}

// spellOut adds to a query what its abbreviations stand for in the names of tools: PR is
// pull request where several tools are named so, and none has the word pr.
func spellOut(query string, entries map[string]*memory.EntryState) string {
	text := query
	for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !isWord(r) }) {
		if len(word) >= 2 && len(word) <= 4 && strings.ToUpper(word) == word && strings.ToLower(word) != word {
			if long := standsFor(strings.ToLower(word), entries); long != "" {
				text += " " + long
			}
		}
	}
	return firstRunes(text, memory.MaxQuery)
}

// standsFor returns the words with these initials that most tools have in their names, or
// nothing.
func standsFor(initials string, entries map[string]*memory.EntryState) string {
	counts := map[string]int{}
	best := ""
	for _, e := range entries {
		words, firsts := splitName(e.Name), ""
		for _, word := range words {
			firsts += word[:1]
		}
		for i := range words {
			if words[i] == initials {
				return ""
			}
			if strings.HasPrefix(firsts[i:], initials) {
				counts[strings.Join(words[i:i+len(initials)], " ")]++
			}
		}
	}
	for phrase, n := range counts {
		if n >= leastNamed && (n > counts[best] || n == counts[best] && phrase < best) {
			best = phrase
		}
	}
	return best
}
