package scan

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Set is the scanner of a data set. Test splits are never read, and other
// splits than the one for training only where that is not in the mirrors.
type Set struct {
	// Has says whether a file of the set is read.
	Has func(name string) bool
	// Scan emits the pairs of one file.
	Scan func(text string, emit Emit)
}

// Dataset returns the scanner of a data set by its name in the list of sources.
func Dataset(name string) (Set, bool) {
	s, ok := datasets[name]
	return s, ok
}

var datasets = map[string]Set{
	"dream":       {is("data/train.json"), scanDream},
	"dialogsum":   {is("DialogSum_Data/dialogsum.dev.jsonl"), scanDialogSum},
	"qmsum":       {matches("data/ALL/train/*.json"), scanQMSum},
	"schema":      {matches("train/*.json"), scanSchema},
	"taskmaster":  {matches("TM-[124]*/data/*.json"), scanTaskmaster},
	"friendsqa":   {is("dat/friendsqa_dev.json"), scanFriendsQA},
	"squad":       {matches("dataset/train-*.json"), scanSQuAD},
	"medquad":     {matches("*_QA*/*.xml"), scanMedQuAD},
	"scitldr":     {is("SciTLDR-Data/SciTLDR-A/train.jsonl"), scanSciTLDR},
	"topicalchat": {matches("conversations/valid_*.json"), scanTopicalChat},
	"reccon":      {is("data/original_annotation/dailydialog_train.json"), scanRECCON},
	"meld":        {is("data/MELD/train_sent_emo.csv"), scanMELD},
	"chatterbot":  {matches("chatterbot_corpus/data/english/*.yml"), scanChatterBot},
	"nltk":        {is("packages/corpora/movie_reviews.zip", "packages/corpora/state_union.zip", "packages/corpora/inaugural.zip"), scanNLTK},
	"wordnet":     {matches("src/yaml/[anv]*.yaml"), scanWordNet},
	"wordset":     {matches("data/*.json"), scanWordset},
}

func is(names ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

func matches(pattern string) func(string) bool {
	return func(s string) bool {
		ok, err := path.Match(pattern, s)
		return ok && err == nil
	}
}

// window is how many turns of a dialogue answer a question at most.
const window = 24

func scanDream(text string, emit Emit) {
	var entries [][]json.RawMessage // turns, questions, id
	if json.Unmarshal([]byte(text), &entries) != nil {
		return
	}
	for _, entry := range entries {
		if len(entry) < 2 {
			continue
		}
		var lines []string
		var questions []struct{ Question, Answer string }
		if json.Unmarshal(entry[0], &lines) != nil || json.Unmarshal(entry[1], &questions) != nil {
			continue
		}
		turns := make([]turn, 0, len(lines))
		for _, line := range lines {
			speaker, said, _ := strings.Cut(line, ": ")
			turns = append(turns, turn{speaker, said})
		}
		names := namesOf(turns)
		dialogue(turns, emit)
		whole := transcript(turns, names)
		for _, q := range questions {
			ask := named(q.Question, names)
			emit(Pair{Recall, ask, clip(whole)})
			if best := nearest(turns, q.Question+" "+q.Answer); best >= 0 {
				emit(Pair{Recall, ask, transcript(turns[best:best+1], names)})
			}
			if wordCount(q.Answer) >= 4 {
				emit(Pair{Summary, named(q.Answer, names), clip(whole)})
			}
		}
	}
}

// named puts the names of the speakers in place of "the man" and "the woman".
func named(text string, names map[string]person) string {
	for _, p := range []struct{ speaker, words string }{{"M", "man"}, {"W", "woman"}, {"F", "woman"}} {
		if who, ok := names[p.speaker]; ok {
			text = strings.NewReplacer("The "+p.words, who.name, "the "+p.words, who.name).Replace(text)
		}
	}
	return text
}

// nearest returns the turn that shares most long words with a text, or -1 when
// none shares two.
func nearest(turns []turn, text string) int {
	wanted := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if w = strings.Trim(w, ".,?!'\""); len(w) > 3 {
			wanted[w] = true
		}
	}
	best, most := -1, 1
	for i, t := range turns {
		n := 0
		for _, w := range strings.Fields(strings.ToLower(t.text)) {
			if wanted[strings.Trim(w, ".,?!'\"")] {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

func scanDialogSum(text string, emit Emit) {
	for line := range strings.Lines(text) {
		var d struct{ Dialogue, Summary, Topic string }
		if json.Unmarshal([]byte(line), &d) != nil {
			continue
		}
		var turns []turn
		for said := range strings.Lines(d.Dialogue) {
			speaker, words, _ := strings.Cut(strings.TrimSpace(said), ": ")
			turns = append(turns, turn{speaker, words})
		}
		names := namesOf(turns)
		dialogue(turns, emit)
		for speaker, p := range names {
			d.Summary = strings.ReplaceAll(d.Summary, strings.TrimSpace(speaker), p.name)
		}
		emit(Pair{Summary, d.Summary, clip(transcript(turns, names))})
		emit(Pair{Heading, d.Topic, clip(transcript(turns, names))})
	}
}

func scanQMSum(text string, emit Emit) {
	type query struct {
		Query, Answer string
		Spans         [][]string `json:"relevant_text_span"`
	}
	var meeting struct {
		Topics []struct {
			Topic string
			Spans [][]string `json:"relevant_text_span"`
		} `json:"topic_list"`
		Specific []query `json:"specific_query_list"`
		General  []query `json:"general_query_list"`
		Turns    []struct{ Speaker, Content string }
		Named    []struct{ Speaker, Content string } `json:"meeting_transcripts"`
	}
	if json.Unmarshal([]byte(text), &meeting) != nil {
		return
	}
	turns := make([]turn, 0, len(meeting.Named))
	for _, t := range meeting.Named {
		turns = append(turns, turn{t.Speaker, withoutNoises(t.Content)})
	}
	for _, t := range meeting.Topics {
		for _, said := range spans(turns, t.Spans) {
			emit(Pair{Heading, t.Topic, said})
		}
	}
	for _, q := range append(meeting.Specific, meeting.General...) {
		emit(Pair{Recall, q.Query, clip(q.Answer)})
		for _, said := range spans(turns, q.Spans) {
			emit(Pair{Recall, q.Query, said})
			emit(Pair{Summary, firstSentence(q.Answer), said})
		}
	}
}

// withoutNoises takes what is not said from a transcript: "{vocalsound}".
func withoutNoises(text string) string {
	for {
		before, after, ok := strings.Cut(text, "{")
		_, after, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return strings.NewReplacer(" .", ".", " ,", ",", " ?", "?", " '", "'").Replace(oneLine(text))
		}
		text = before + after
	}
}

// spans returns the turns of each span, from its first to its last.
func spans(turns []turn, places [][]string) []string {
	var out []string
	for _, place := range places {
		if len(place) != 2 {
			continue
		}
		first, last := number(place[0]), number(place[1])
		if first < 0 || last < first || last >= len(turns) {
			continue
		}
		var b strings.Builder
		for _, t := range turns[first : last+1] {
			if wordCount(t.text) >= 4 {
				b.WriteString(t.speaker + ": " + t.text + "\n")
			}
		}
		out = append(out, clip(strings.TrimSpace(b.String())))
	}
	return out
}

// number reads a place in a list; it is -1 for what is none.
func number(s string) int {
	if s == "" || len(s) > 6 {
		return -1
	}
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}
