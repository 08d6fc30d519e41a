package scan

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Set is the scanner of a data set. Test splits are never read, and other splits than the
// training split only if that is not in the mirrors.
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
	"qmsum":       {matches("data/ALL/train/*.json"), scanQMSum},
	"schema":      {matches("train/*.json"), scanSchema},
	"taskmaster":  {matches("TM-[124]*/data/*.json"), scanTaskmaster},
	"cnxml":       {matches("modules/*/index.cnxml"), scanCNXML},
	"selfdialog":  {matches("corpus/*/*.csv"), scanSelfDialogue},
	"persona":     {is("data/Synthetic-Persona-Chat_valid.csv"), scanPersonaChat},
	"mtsdialog":   {is("Main-Dataset/MTS-Dialog-TrainingSet.csv"), scanMTSDialog},
	"podcasts":    {isEpisode, scanEpisode},
	"pato":        {is("src/ontology/pato-edit.obo"), scanOBO},
	"plants":      {is("po.obo"), scanOBO},
	"symptoms":    {is("src/ontology/symp.obo"), scanOBO},
	"envo":        {is("src/envo/envo.obo"), scanOBO},
	"diseases":    {is("src/ontology/subsets/DO_rare_slim.obo"), scanOBO},
	"friendsqa":   {is("dat/friendsqa_dev.json"), scanFriendsQA},
	"medquad":     {matches("*_QA*/*.xml"), scanMedQuAD},
	"scitldr":     {is("SciTLDR-Data/SciTLDR-A/train.jsonl"), scanSciTLDR},
	"topicalchat": {matches("conversations/valid_*.json"), scanTopicalChat},
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

// window is the most turns of a dialogue that answer one question.
const window = 24

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

// withoutNoises removes sounds from a transcript: "{vocalsound}".
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

// number reads an index; it is -1 if the text is not a number.
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
