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
	{"dream", "data/train.json", `[[["M: I adopted a dog from the shelter last May.","W: What a good thing to do for him!"],[{"question":"What does the man have?","choice":[],"answer":"A dog from a shelter."}],"1"]]`, []want{
		{scan.Recall, "When did Simon adopt a dog from the shelter?", []string{"Simon: I adopted a dog"}},
		{scan.Turn, "I adopted a dog from the shelter last May.", []string{"What a good thing"}},
		{scan.Recall, "What does Simon have?", []string{"shelter"}},
	}},
	{"dialogsum", "DialogSum_Data/dialogsum.dev.jsonl", `{"dialogue":"#Person1#: I lost my keys.\n#Person2#: Look under the chair.","summary":"#Person1# looks for the keys.","topic":"lost keys"}`, []want{
		{scan.Summary, "Hugo looks for the keys.", []string{"lost my keys", "under the chair"}},
		{scan.Heading, "lost keys", []string{"under the chair"}},
	}},
	{"qmsum", "data/ALL/train/a.json", `{"topic_list":[{"topic":"Batteries","relevant_text_span":[["0","1"]]}],"specific_query_list":[{"query":"What about the price?","answer":"It is to be low.","relevant_text_span":[["1","1"]]}],
		"meeting_transcripts":[{"speaker":"A","content":"We need {vocalsound} batteries that last long ."},{"speaker":"B","content":"They must not cost too much ."}]}`, []want{
		{scan.Heading, "Batteries", []string{"A: We need batteries that last long.", "B: They"}},
		{scan.Recall, "What about the price?", []string{"B: They must not cost", "!batteries"}},
	}},
	{"schema", "train/dialogues_001.json", `[{"turns":[{"speaker":"USER","utterance":"I want to find a cheap restaurant in Oakland.","frames":[{"service":"Restaurants_1","actions":[{"act":"INFORM_INTENT","slot":"intent","values":["FindRestaurants"]}]}]}]}]`, []want{
		{scan.Recall, "Oscar wants to find restaurants", []string{"Oscar: I want to find"}},
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
	{"squad", "dataset/train-v2.0.json", `{"data":[{"paragraphs":[{"context":"The tower was built in two years.","qas":[{"question":"How long did it take?"}]}]}]}`, []want{
		{scan.Question, "How long did it take?", []string{"two years"}},
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
	{"reccon", "data/original_annotation/dailydialog_train.json", `{"tr_1":[[{"speaker":"A","utterance":"I would like to rent a small car."},{"speaker":"B","utterance":"We have one left for the week."}]]}`, []want{
		{scan.Turn, "I would like to rent a small car.", []string{"one left"}},
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
