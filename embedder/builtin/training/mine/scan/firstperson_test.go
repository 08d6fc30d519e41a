package scan

import (
	"slices"
	"testing"
)

func TestQuestionsAbout(t *testing.T) {
	anna := woman("Anna")
	for _, test := range []struct {
		said string
		want []string
	}{
		{"I adopted a dog from the shelter last May.", []string{"When did Anna adopt a dog from the shelter?"}},
		{"Well, yesterday I visited my aunt.", []string{"What did Anna do yesterday; when did she visit her aunt?"}},
		{"We moved to this town because the rent was low.", []string{"Why did Anna move to this town?"}},
		{"I bought a red guitar for my brother.", []string{"What did Anna buy for her brother?"}},
		{"We went hiking with my sister in Norway.", []string{"Where did Anna go hiking with her sister?"}},
		{"I'm going to start my new job next week.", []string{"When is Anna going to start her new job?"}},
		{"I would like to find a place to eat in Oakland.", []string{"What does Anna want to find in Oakland?"}},
		{"I really love hiking in the mountains.", []string{"How does Anna feel about hiking in the mountains?"}},
		{"My sister works at the hospital.", []string{"What do we know about Anna's sister?"}},
		{"I work as a school teacher.", []string{"What does Anna do for a living?"}},
		{"I sold my car last week. My brother has one now. I bought a bike for my son.",
			[]string{"When did Anna sell her car?", "What do we know about Anna's brother?"}},
		{"Did you see the two of them?", nil},
		{"The weather was fine all day.", nil},
		{"Yes, I do.", nil},
	} {
		if got := questionsAbout(anna, test.said); !slices.Equal(got, test.want) {
			t.Errorf("%q answers %q, want %q", test.said, got, test.want)
		}
	}
}

func TestBaseVerb(t *testing.T) {
	for past, want := range map[string]string{
		"adopted": "adopt", "moved": "move", "tried": "try", "planned": "plan", "used": "", "decided": "decide", "visited": "visit", "created": "create",
		"stayed": "stay", "passed": "pass", "painted": "paint", "joined": "join", "went": "go", "need": "", "red": "", "hired": "hire", "joking": "",
	} {
		if got, ok := baseVerb(past); got != want || ok != (want != "") {
			t.Errorf("%q is the past of %q (%t), want %q", past, got, ok, want)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"parseHTTPRequest_2": "parse http request 2", "close-idle": "close idle", "TestX": "test x", "": "", "ÄrgerUndMehr": "ärger und mehr",
	} {
		if got := nameWords(name); got != want {
			t.Errorf("the words of %q are %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"It does. Then it ends.": "It does.", "Use e.g. This one. Or not.": "Use e.g. This one.", "No end": "No end", "Is it? Yes.": "Is it?", "v1.2 is out. Go": "v1.2 is out.", "": "",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("the first sentence of %q is %q, want %q", text, got, want)
		}
	}
}
