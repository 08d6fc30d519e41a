package scan

import (
	"archive/zip"
	"encoding/csv"
	"io"
	"strings"
)

// maxEntry is how much of one file of an archive is read, in bytes.
const maxEntry = 4 << 20

// scanNLTK reads the archives of plain English in NLTK's data.
func scanNLTK(text string, emit Emit) {
	archive, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		return
	}
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, ".txt") {
			continue
		}
		if content, ok := readEntry(f); ok {
			passages(content, emit)
		}
	}
}

func readEntry(f *zip.File) (content string, ok bool) {
	r, err := f.Open()
	if err != nil {
		return "", false
	}
	defer r.Close()
	read, err := io.ReadAll(io.LimitReader(r, maxEntry))
	return string(read), err == nil
}

// passages emits a passage of each paragraph; long paragraphs are split into parts of some
// lines.
func passages(text string, emit Emit) {
	const most = 8 // lines
	var lines []string
	flush := func() {
		passage(strings.Join(lines, "\n"), emit)
		lines = nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, sentenceCase(line))
		}
		if line == "" || len(lines) == most {
			flush()
		}
	}
	flush()
}

// sentenceCase begins a line with a capital letter and joins marks to words, for tokenized
// texts: "it works , mostly ." is "It works, mostly."
func sentenceCase(line string) string {
	line = strings.NewReplacer(" .", ".", " ,", ",", " ?", "?", " !", "!", " ;", ";", " :", ":", "( ", "(", " )", ")", " '", "'").Replace(line)
	return strings.ToUpper(line[:1]) + line[1:]
}

// scanMELD reads the turns of a television series, in the order of its scenes.
func scanMELD(text string, emit Emit) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	speaker, ok := column["Speaker"]
	said, ok2 := column["Utterance"]
	scene, ok3 := column["Dialogue_ID"]
	if !ok || !ok2 || !ok3 {
		return
	}
	var turns []turn
	for i, row := range rows[1:] {
		if i > 0 && row[scene] != rows[i][scene] {
			dialogue(turns, emit)
			turns = nil
		}
		turns = append(turns, turn{row[speaker], row[said]})
	}
	dialogue(turns, emit)
}

// scanChatterBot reads questions and answers from lists of lists in YAML.
func scanChatterBot(text string, emit Emit) {
	question := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if q, ok := strings.CutPrefix(line, "- - "); ok {
			question = strings.Trim(q, `'"`)
		} else if a, ok := strings.CutPrefix(line, "- "); ok && question != "" {
			emit(Pair{Question, question, strings.Trim(a, `'"`)})
		}
	}
}
