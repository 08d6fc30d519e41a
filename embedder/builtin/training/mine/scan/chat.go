package scan

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// records reads a table with a row of headings and hands each further row to
// take, as what its headings say; it ends at a row that cannot be read.
func records(text string, take func(row map[string]string)) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return
	}
	for {
		fields, err := r.Read()
		if err != nil {
			return
		}
		row := map[string]string{}
		for i, f := range fields[:min(len(fields), len(header))] {
			row[header[i]] = f
		}
		take(row)
	}
}

// scanSelfDialogue reads talks that one person wrote for two: turns in turn, in
// numbered columns.
func scanSelfDialogue(text string, emit Emit) {
	records(text, func(row map[string]string) {
		var turns []turn
		for i := 1; ; i++ {
			said := oneLine(row["Answer.sentence"+strconv.Itoa(i)])
			if said == "" {
				break
			}
			turns = append(turns, turn{[]string{"a", "b"}[i%2], said})
		}
		dialogue(turns, emit)
	})
}

// scanPersonaChat reads talks of two people of whom some lines tell. A line is
// paired with the turn that tells it.
func scanPersonaChat(text string, emit Emit) {
	records(text, func(row map[string]string) {
		turns := spoken(row["Best Generated Conversation"])
		names := namesOf(turns)
		dialogue(turns, emit)
		for _, speaker := range []string{"User 1", "User 2"} {
			p, ok := names[speaker]
			if !ok {
				continue
			}
			for line := range strings.Lines(row[strings.ToLower(speaker)+" personas"]) {
				tells(p, speaker, oneLine(line), turns, names, emit)
			}
		}
	})
}

// tells emits what a line tells of a person with the turn of theirs that has
// most of its words.
func tells(p person, speaker, line string, turns []turn, names map[string]person, emit Emit) {
	wanted := longWords(line)
	best, most := -1, 1
	for i, t := range turns {
		n := 0
		for w := range longWords(t.text) {
			if wanted[w] {
				n++
			}
		}
		if t.speaker == speaker && n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return
	}
	rest, _ := strings.CutPrefix(strings.TrimSpace(p.third(line)), p.subject+" ")
	emit(Pair{Recall, p.name + " " + rest, transcript(turns[best:best+1], names)})
	emit(Pair{Recall, p.name + " " + rest, clip(transcript(turns, names))})
}

// spoken reads a talk, a turn a line: "name: what is said".
func spoken(talk string) []turn {
	var turns []turn
	for line := range strings.Lines(talk) {
		if speaker, said, ok := strings.Cut(oneLine(line), ": "); ok && wordCount(speaker) <= 3 {
			turns = append(turns, turn{speaker, said})
		}
	}
	return turns
}

// scanMTSDialog reads what a doctor and a patient say with the note that is
// made of it.
func scanMTSDialog(text string, emit Emit) {
	records(text, func(row map[string]string) {
		turns := spoken(row["dialogue"])
		dialogue(turns, emit)
		names := namesOf(turns)
		var lines []string
		for i := range turns {
			lines = append(lines, transcript(turns[max(0, i-1):i+1], names))
		}
		note := row["section_text"]
		emit(Pair{Summary, firstSentence(note), clip(transcript(turns, names))})
		claims(note, lines, emit)
	})
}

// isEpisode says whether a file is the transcript of an episode of a show in
// which people tell of themselves. There are many times more of other shows,
// which are about software, and code speaks of that better.
func isEpisode(name string) bool {
	folder, base, ok := strings.Cut(name, "/")
	return ok && slices.Contains([]string{"afk", "backstage", "brainscience", "founderstalk", "friends", "rfc"}, folder) && strings.HasSuffix(base, ".md")
}

// speakerMark is what begins a turn of an episode: "**First Last:** ". Sounds
// stand in brackets, and some turns begin with their time.
var speakerMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\*\*([^*:]{2,40}):\*\*\s*`) })
var aside = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\?\[[^\]]{0,40}\]`) })

// scanEpisode reads the transcript of a talk in Markdown, a paragraph a turn; a
// paragraph without a name is said by the one before.
func scanEpisode(text string, emit Emit) {
	var turns []turn
	speaker := ""
	for line := range strings.Lines(text) {
		if m := speakerMark().FindStringSubmatch(line); m != nil {
			speaker, line = m[1], line[len(m[0]):]
		}
		said := oneLine(aside().ReplaceAllString(plainMarkdown(line), ""))
		if speaker == "" || speaker == "Break" || wordCount(said) < 2 {
			continue
		}
		turns = append(turns, turn{speaker, said})
	}
	dialogue(turns, emit)
	for _, t := range turns {
		if wordCount(t.text) >= 60 {
			passage(t.text, emit)
		}
	}
}
