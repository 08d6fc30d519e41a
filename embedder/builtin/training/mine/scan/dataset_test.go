package scan_test

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/training/mine/scan"
)

// The texts are made up in the form of each set.
var setSamples = []struct {
	set, file, text string
	wants           []want
}{
	{"cnxml", "modules/m1/index.cnxml", cnxml, []want{
		{scan.Heading, "Sleep", []string{"Nearly every animal sleeps"}},
		{scan.Question, "What Is It?", []string{"thalamus", "!Nearly"}},
		{scan.Question, "Describe the areas of the brain involved in sleep", []string{"thalamus"}},
		{scan.Question, "Why do sleepy drivers react slowly in the evening?", []string{"Because attention falls"}},
		{scan.Claim, "Growth hormone is released by the pituitary gland while we sleep.", []string{"releases growth hormone"}},
		{scan.Claim, "Several areas of the brain, such as the thalamus, work together in sleep.", []string{"The thalamus is one of the areas"}},
		{scan.Gloss, "sleep rebound", []string{"longer sleep after a time"}},
	}},
	{"selfdialog", "corpus/movies/movies1.csv", "HITId,Answer.sentence1,Answer.sentence10,Answer.sentence2\n1,Which films have you seen in the cinema?,,I saw the one about the lost island.\n", []want{
		{scan.Turn, "Which films have you seen in the cinema?", []string{"the lost island"}},
		{scan.Recall, "Which films has Ravi seen in the cinema?", []string{"Ravi: I saw the one"}},
	}},
	{"persona", "data/Synthetic-Persona-Chat_valid.csv", "user 1 personas,user 2 personas,Best Generated Conversation\n\"I love to bake cookies.\",\"I am a boy.\",\"User 1: Hello there!\nUser 2: What do you like to do on rainy days?\nUser 1: Most days I bake some cookies.\"\n", []want{
		{scan.Recall, "George love to bake cookies.", []string{"George: Most days I bake"}},
		{scan.Recall, "What does George like to do on rainy days?", []string{"bake some cookies"}},
	}},
	{"mtsdialog", "Main-Dataset/MTS-Dialog-TrainingSet.csv", "ID,section_header,section_text,dialogue\n0,GENHX,She takes medicine against high blood pressure every morning. She does not smoke.,\"Doctor: Do you take any medicine?\nPatient: Every morning, against my high blood pressure.\"\n", []want{
		{scan.Summary, "She takes medicine against high blood pressure every morning.", []string{"Doctor: Do you"}},
		{scan.Claim, "She takes medicine against high blood pressure every morning.", []string{"Patient: Every morning"}},
		{scan.Recall, "does Patient take any medicine?", []string{"Patient: Every morning"}},
	}},
	{"podcasts", "afk/away-1.md", "**Ann Lee:** \\[laughs\\] So where did you grow up?\n\n**Bob Ray:** I grew up on a farm near [Lyon](https://x.org).\n\nWe had forty sheep there.\n", []want{
		{scan.Recall, "where did Bob grow up?", []string{"Bob: I grew up on a farm near Lyon."}},
	}},
	{"pato", "src/ontology/pato-edit.obo", "format-version: 1.2\n\n[Term]\nid: P:1\nname: speed\ndef: \"How fast a \\\"thing\\\" goes.\" [W:1]\nsynonym: \"velocity\" RELATED []\n\n[Term]\nid: P:2\nname: gone\ndef: \"What is no longer in use.\" []\nis_obsolete: true\n", []want{
		{scan.Gloss, "speed, velocity", []string{`How fast a "thing" goes.`}},
	}},
	{"qmsum", "data/ALL/train/a.json", `{"topic_list":[{"topic":"Batteries","relevant_text_span":[["0","1"]]}],"specific_query_list":[{"query":"What about the price?","answer":"It is to be low.","relevant_text_span":[["1","1"]]}],
		"meeting_transcripts":[{"speaker":"A","content":"We need {vocalsound} batteries that last long ."},{"speaker":"B","content":"They must not cost too much ."}]}`, []want{
		{scan.Heading, "Batteries", []string{"A: We need batteries that last long.", "B: They"}},
		{scan.Recall, "What about the price?", []string{"B: They must not cost", "!batteries"}},
	}},
	{"schema", "train/dialogues_001.json", `[{"turns":[{"speaker":"USER","utterance":"I want to find a cheap restaurant in Oakland.","frames":[{"service":"Restaurants_1","actions":[{"act":"INFORM_INTENT","slot":"intent","values":["FindRestaurants"]}]}]}]}]`, []want{
		{scan.Recall, "Erik wants to find restaurants", []string{"Erik: I want to find"}},
	}},
	{"schema", "train/schema.json", `[{"description":"Manage accounts","intents":[{"name":"CheckBalance","description":"Check how much money there is"}]}]`, []want{
		{scan.Gloss, "Manage accounts: check balance", []string{"Check how much"}},
	}},
	{"taskmaster", "TM-4-2024/data/data_00.json", `[{"vertical":"Coffee","scenario":"Auto template 3 Order two drinks","utterances":[{"speaker":"user","text":"Two lattes please, one with oat milk."},{"speaker":"assistant","text":"Is that all for you today?"}]}]`, []want{
		{scan.Turn, "Two lattes please, one with oat milk.", []string{"Is that all"}},
	}},
	{"friendsqa", "dat/friendsqa_dev.json", `{"data":[{"paragraphs":[{"utterances:":[{"speakers":["Ann Lee"],"utterance":"The cake is in the oven ."}],"qas":[{"question":"Where is the cake?","answers":[{"answer_text":"oven","utterance_id":0}]}]}]}]}`, []want{
		{scan.Recall, "Where is the cake?", []string{"Ann: The cake is in the oven"}},
	}},
	{"medquad", "1_Cancer_QA/1.xml", `<Document><QAPairs><QAPair pid="1"><Question qid="1">What is (are) Gout ?</Question><Answer>A disease of the joints.</Answer></QAPair></QAPairs></Document>`, []want{
		{scan.Question, "What is Gout ?", []string{"disease"}},
	}},
	{"scitldr", "SciTLDR-Data/SciTLDR-A/train.jsonl", `{"source":["We show a.","And b."],"target":["A and b."],"title":"On a and b"}`, []want{
		{scan.Summary, "A and b.", []string{"We show a. And b."}}, {scan.Summary, "On a and b", nil},
	}},
	{"topicalchat", "conversations/valid_freq.json", `{"t1":{"content":[{"message":"Do you know who painted this picture?","agent":"agent_1"},{"message":"It was somebody from the north, I think.","agent":"agent_2"}]}}`, []want{
		{scan.Turn, "Do you know who painted this picture?", []string{"from the north"}},
	}},
	{"meld", "data/MELD/train_sent_emo.csv", "Sr No.,Utterance,Speaker,Dialogue_ID\n1,Where did you put the small key?,Ann,0\n2,\"I left it at the door, as always.\",Bob,0\n3,Somebody else is talking here now.,Cid,1\n", []want{
		{scan.Turn, "Where did you put the small key?", []string{"I left it at the door"}},
	}},
	{"chatterbot", "chatterbot_corpus/data/english/a.yml", "conversations:\n- - My screen is black.\n  - Try another cable.\n", []want{
		{scan.Question, "My screen is black.", []string{"Try another cable."}},
	}},
	{"nltk", "packages/corpora/state_union.zip", zipped("a.txt", "we met in the hall .\nmany of us had come from far away .\nit was late , and it was cold .\nnobody wanted to go home ."), []want{
		{scan.Passage, "It was late, and it was cold.", []string{"We met in the hall. Many of us", "Nobody wanted"}},
	}},
	{"wordnet", "src/yaml/noun.animal.yaml", "01-n:\n  definition:\n  - an animal that is kept in\n    a house\n  example:\n  - her pet was a very old cat\n  members:\n  - pet\n  - house animal\n  partOfSpeech: n\n", []want{
		{scan.Gloss, "pet, house animal", []string{"an animal that is kept in a house"}},
		{scan.Gloss, "an animal that is kept in a house", []string{"her pet"}},
	}},
	{"wordset", "data/a.json", `{"agile":{"word":"agile","meanings":[{"def":"moving quickly and lightly","example":"she is as agile as a cat","synonyms":["nimble"]}]}}`, []want{
		{scan.Gloss, "agile, nimble", []string{"moving quickly"}},
	}},
}

// cnxml is a module of a textbook.
const cnxml = `<document xmlns="http://cnx.rice.edu/cnxml"><title>Sleep</title>
<metadata xmlns:md="http://cnx.rice.edu/mdml"><md:abstract><list><item>Describe the areas of the brain involved in sleep</item></list></md:abstract></metadata>
<content><para id="a">Nearly every animal sleeps, and those that are kept from it fall ill before long, be they large or small.</para>
<section><title>What Is It?</title><para>The <term>thalamus</term> is one of the areas of the brain that are involved in sleep<link target-id="x"/>, as the figure shows.<figure><caption>Not this.</caption></figure></para>
<para>During sleep the pituitary gland releases growth hormone, which children need, into the blood.</para></section>
<section class="summary"><title>Summary</title><para>Several areas of the brain, such as the thalamus, work together in sleep.</para></section>
<section class="review-questions"><exercise><problem><para>Growth hormone is released by the ________ while we sleep.</para><list><item>thyroid</item><item>pituitary gland</item></list></problem><solution><para>B</para></solution></exercise>
<exercise><problem><para>Why do sleepy drivers react slowly in the evening?</para></problem><solution><para>Because attention falls with every hour that one has been awake.</para></solution></exercise></section></content>
<glossary><definition><term>sleep rebound</term><meaning>longer sleep after a time without any</meaning></definition></glossary></document>`

// zipped returns an archive that holds one file.
func zipped(name, text string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err != nil {
		panic(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func TestDatasets(t *testing.T) {
	for _, test := range setSamples {
		t.Run(test.set, func(t *testing.T) {
			set, ok := scan.Dataset(test.set)
			if !ok || !set.Has(test.file) {
				t.Fatalf("%s does not read %s", test.set, test.file)
			}
			var pairs []scan.Pair
			set.Scan(test.text, func(p scan.Pair) { pairs = append(pairs, p) })
			check(t, pairs, test.wants)
		})
	}
}

func FuzzDataset(f *testing.F) {
	for i, sample := range setSamples {
		f.Add(uint8(i), sample.text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		sample := setSamples[int(which)%len(setSamples)]
		set, ok := scan.Dataset(sample.set)
		if !ok {
			t.Fatalf("there is no set %s", sample.set)
		}
		set.Scan(text, func(p scan.Pair) {
			if p.Kind == "" {
				t.Errorf("a pair of %q has no kind", text)
			}
		})
	})
}
