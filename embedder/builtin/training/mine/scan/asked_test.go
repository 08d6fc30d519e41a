package scan

import (
	"strings"
	"testing"
)

func TestAskedOf(t *testing.T) {
	anna := woman("Anna")
	for question, want := range map[string]string{
		"So, where do you work?":                                      "where does Anna work?",
		"What is your favorite season of the year?":                   "What is Anna's favorite season of the year?",
		"Have you told your sister about my new garden?":              "has Anna told her sister about Tom's new garden?",
		"When did you buy that guitar, and did you sell the old one?": "When did Anna buy that guitar, and did she sell the old one?",
		"Which of the two is better at chess?":                        "", // about no person
		"Do you think so?":                                            "", // tells nothing
		"Really?":                                                     "",
	} {
		got, ok := askedOf(anna, "Tom", question)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is asked as %q (%t), want %q", question, got, ok, want)
		}
	}
}

func TestRecast(t *testing.T) {
	anna := woman("Anna")
	for _, test := range []struct {
		said, ask string
		gone      []string // the words that answer
	}{
		{"My old neighbours planted several apple trees behind the garden last Sunday.", "When did Anna", []string{"Sunday"}},
		{"We have been painting our kitchen for three weeks without any help.", "How long did Anna", []string{"three", "weeks"}},
		{"Our little museum shows paintings from Norway with golden frames.", "Where does Anna", []string{"Norway"}},
		{"My daughter keeps seven colourful parrots inside the small greenhouse.", "How many does Anna", []string{"seven"}},
	} {
		question, ok := recast(anna, test.said, seeded(test.said))
		if !ok || !strings.HasPrefix(question, test.ask) {
			t.Errorf("%q is asked as %q (%t), want %q …", test.said, question, ok, test.ask)
		}
		for _, word := range test.gone {
			if strings.Contains(question, word) {
				t.Errorf("%q tells the answer of %q", question, test.said)
			}
		}
		if again, _ := recast(anna, test.said, seeded(test.said)); again != question {
			t.Errorf("%q was asked as %q and as %q", test.said, question, again)
		}
	}
	for _, said := range []string{"The weather was fine all day long there.", "I do that.", "I think that would be like that, really."} {
		if question, ok := recast(anna, said, seeded(said)); ok {
			t.Errorf("%q is asked as %q", said, question)
		}
	}
}

func TestToldOf(t *testing.T) {
	said := "The harbour festival brings musicians, dancers, painters and several famous jugglers together every summer."
	question, ok := toldOf(man("Tom"), said, seeded(said))
	if !ok || !strings.Contains(question, "Tom") || telling(question) < 4 {
		t.Errorf("%q is asked as %q (%t)", said, question, ok)
	}
	for w := range longWords(question) {
		if w != "mention" && w != "tell" && telling(w) > 0 && !strings.Contains(strings.ToLower(said), w) {
			t.Errorf("%q has %q, which is not in the text", question, w)
		}
	}
}
