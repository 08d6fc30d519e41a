package scan

import (
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// records reads a table with a row of headings and passes each further row to take, by
// heading; it ends at an unreadable row.
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

// scanSelfDialogue reads conversations that one person wrote for two: alternating turns in
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

// scanPersonaChat reads conversations of two people with profile lines. It pairs a line
// with the turn that says it.
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

// tells emits a profile line of a person with the turn of that person that shares most
// words with it.
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

// spoken reads a conversation, one turn a line: "name: text".
func spoken(talk string) []turn {
	var turns []turn
	for line := range strings.Lines(talk) {
		if speaker, said, ok := strings.Cut(oneLine(line), ": "); ok && wordCount(speaker) <= 3 {
			turns = append(turns, turn{speaker, said})
		}
	}
	return turns
}

// scanMTSDialog reads conversations of doctors and patients with the medical notes on them.
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

// isEpisode says whether a file is the transcript of an episode of a show in which people
// talk about themselves. There are many more of other shows, which are about software,
// where code is the better source.
func isEpisode(name string) bool {
	folder, base, ok := strings.Cut(name, "/")
	return ok && slices.Contains([]string{"afk", "backstage", "brainscience", "founderstalk", "friends", "rfc"}, folder) && strings.HasSuffix(base, ".md")
}

// speakerMark begins a turn of an episode: "**First Last:** ". Sounds are in brackets, and
// some turns begin with their time.
var speakerMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\*\*([^*:]{2,40}):\*\*\s*`) })
var aside = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\?\[[^\]]{0,40}\]`) })

// scanEpisode reads the transcript of a conversation in Markdown, one turn a paragraph; a
// paragraph without a name belongs to the previous speaker.
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
