package scan

import (
	"encoding/json"
	"strings"
)

// scanSchema reads the dialogues of the schema-guided data set, or one of its schemas. It
// pairs what the system needs to know with the user's turn that says it.
func scanSchema(text string, emit Emit) {
	var dialogues []struct {
		Turns []struct {
			Speaker, Utterance string
			Frames             []struct {
				Service string
				State   struct {
					Intent string `json:"active_intent"`
				}
				Actions []struct {
					Act, Slot string
					Values    []string
				}
			}
		}
		// Field of a schema.
		Description string
		Intents     []struct{ Name, Description string }
		Slots       []struct{ Name, Description string }
	}
	if json.Unmarshal([]byte(text), &dialogues) != nil {
		return
	}
	for _, d := range dialogues {
		for _, i := range d.Intents {
			emit(Pair{Gloss, d.Description + ": " + nameWords(i.Name), i.Description})
		}
		turns := make([]turn, 0, len(d.Turns))
		for _, t := range d.Turns {
			turns = append(turns, turn{t.Speaker, t.Utterance})
		}
		if len(turns) == 0 {
			continue
		}
		names := namesOf(turns)
		dialogue(turns, emit)
		for i, t := range d.Turns {
			said := names[t.Speaker].name + ": " + t.Utterance
			for _, f := range t.Frames {
				service := strings.ToLower(strings.TrimRight(f.Service, "_0123456789"))
				for _, a := range f.Actions {
					switch {
					case a.Act == "INFORM_INTENT" && len(a.Values) > 0:
						emit(Pair{Recall, names[t.Speaker].name + " wants to " + nameWords(a.Values[0]), said})
					case a.Act == "INFORM" && t.Speaker == "USER" && i%3 == 0:
						emit(Pair{Recall, "Which " + nameWords(a.Slot) + " does " + names[t.Speaker].name + " want, " + service, said})
					case a.Act == "OFFER" && t.Speaker == "SYSTEM" && i%3 == 0:
						emit(Pair{Recall, "Which " + nameWords(a.Slot) + " of " + service + " was offered to " + names["USER"].name, said})
					}
				}
			}
		}
		if len(turns) > 1 && len(turns) <= window {
			emit(Pair{Recall, turns[0].text, clip(transcript(turns[1:], names))})
		}
	}
}

func scanTaskmaster(text string, emit Emit) {
	var dialogues []struct {
		Vertical, Scenario string
		Utterances         []struct{ Speaker, Text string }
	}
	if json.Unmarshal([]byte(text), &dialogues) != nil {
		return
	}
	for _, d := range dialogues {
		turns := make([]turn, 0, len(d.Utterances))
		for _, u := range d.Utterances {
			turns = append(turns, turn{u.Speaker, u.Text})
		}
		dialogue(turns, emit)
		emit(Pair{Summary, strings.TrimLeft(strings.TrimPrefix(d.Scenario, "Auto template "), "0123456789 "), clip(transcript(turns, namesOf(turns)))})
	}
}

func scanTopicalChat(text string, emit Emit) {
	var conversations map[string]struct {
		Content []struct{ Message, Agent string }
	}
	if json.Unmarshal([]byte(text), &conversations) != nil {
		return
	}
	for _, id := range sortedKeys(conversations) {
		var turns []turn
		for _, m := range conversations[id].Content {
			turns = append(turns, turn{m.Agent, m.Message})
		}
		dialogue(turns, emit)
	}
}
