package scan

import (
	"strings"
)

// ask turns the description of a function into a search query: "Returns the number of
// days." is "how to return the number of days in go". It returns nothing for comments that
// do not begin with a verb.
func ask(sentence, language string) (question string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimRight(sentence, ". "), " ")
	verb, ok := verbOf(strings.ToLower(first))
	if !ok || wordCount(rest) < 2 || wordCount(rest) > 14 {
		return "", false
	}
	return "how to " + verb + " " + strings.ToLower(rest[:1]) + rest[1:] + " in " + strings.ToLower(language), true
}

// askHeading turns a heading that begins with a verb into a question: "Configuring the
// proxy" is "How do I configure the proxy?".
func askHeading(heading string) (question string, ok bool) {
	first, rest, _ := strings.Cut(heading, " ")
	verb, ok := verbOf(strings.ToLower(first))
	if !ok || rest == "" || strings.HasSuffix(first, "s") {
		return "", false
	}
	return "How do I " + verb + " " + rest + "?", true
}

// verbOf returns the infinitive of a verb in the third person ("returns"), as a gerund
// ("configuring") or as it is. It knows only the verbs in verbs.
func verbOf(word string) (verb string, ok bool) {
	candidates := []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")}
	if stem, ok := strings.CutSuffix(word, "ies"); ok {
		candidates = append(candidates, stem+"y")
	}
	if stem, ok := strings.CutSuffix(word, "ing"); ok && len(stem) > 1 {
		candidates = append(candidates, stem, stem+"e", stem[:len(stem)-1])
	}
	for _, c := range candidates {
		if verbs[c] {
			return c, true
		}
	}
	return "", false
}

// verbs are the actions of programs and people in comments and headings.
var verbs = func() map[string]bool {
	set := map[string]bool{}
	for _, verb := range strings.Fields(`access add adjust allocate allow append apply assert assign attach authenticate automate avoid back backup begin bind block
		browse build bundle cache calculate call cancel capture change check choose clean clear clone close collect combine commit compare compile complete compress
		compute concatenate configure connect construct control convert copy count create customize cut debug declare decode decompress decrypt define delete deploy
		describe deserialize destroy detach detect determine disable discard disconnect display divide download draw drop dump edit emit enable encode encrypt
		enforce ensure escape evaluate examine exclude execute expand export extend extract fetch fill filter find fix flatten flush fold follow force fork format free
		generate get grant group handle hide highlight identify ignore implement import improve include increase indent index initialize insert inspect install
		integrate interpolate intersect invert invoke iterate join jump kill launch limit link list listen load locate lock log look lookup make manage map mark match
		measure merge migrate modify monitor mount move multiply navigate normalize notify obtain open optimize order override pack pad parse partition pass paste patch
		perform pick pipe plot poll pop prepare prepend prevent print process profile protect provide publish pull push put query queue quit quote raise randomize read
		receive record recover redirect reduce refresh register release reload remove rename render repair repeat replace report request reset resize resolve restart
		restore restrict retrieve return reuse reverse revert revoke roll rotate round run sample save scale scan schedule scroll search secure select send separate
		serialize serve set share shift show shuffle shut sign skip slice sort specify split start stop store stream strip submit subscribe subtract sum suppress swap
		switch synchronize tag take terminate test throw toggle trace track transfer transform translate transpose trigger trim truncate turn uninstall unlock unpack
		unregister unset unsubscribe unwrap unzip update upgrade upload use validate verify view visualize wait walk watch wrap write yield zip`) {
		set[verb] = true
	}
	return set
}()
