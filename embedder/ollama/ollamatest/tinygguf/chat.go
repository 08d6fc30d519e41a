package main

import "fmt"

// The vocabulary of the chat model. A letter is a token, so that long prompts are easily
// made, and so are a few words.
const (
	chatDim     = 320 // one dimension for each token, so it is also the most tokens
	chatContext = 16384
	eos         = 2
)

// chatModel returns a llama-type model that answers "It works.". To a message that ends
// with a tilde it answers with tildes and carets without end (the server stops an answer
// that repeats one token). Tokens are one-hot vectors and its one layer adds nothing, so
// the output matrix alone determines the next token.
func chatModel() ([]kv, []tensor) {
	const ws = "\u2581"
	toks := []string{"<unk>", "<s>", "</s>"}
	types := []int32{2, 3, 3} // 2 unknown, 3 control, 6 byte, 1 normal
	for b := range 256 {
		toks, types = append(toks, fmt.Sprintf("<0x%02X>", b)), append(types, 6)
	}
	words := len(toks)
	for _, word := range []string{ws + "It", ws + "works", ".", "~", "^", ws} {
		toks, types = append(toks, word), append(types, 1)
	}
	it, works, stop, tilde, caret := words, words+1, words+2, words+3, words+4
	scores := make([]float32, len(toks))
	for i := range scores {
		scores[i] = -float32(i)
	}

	follows := func(token int) int {
		switch token {
		case it:
			return works
		case works:
			return stop
		case stop:
			return eos
		case tilde:
			return caret
		case caret:
			return tilde
		}
		return it
	}
	embed, output := make([]float32, len(toks)*chatDim), make([]float32, len(toks)*chatDim)
	for token := range toks {
		embed[token*chatDim+token] = 1
		output[follows(token)*chatDim+token] = 1
	}
	const d, ff, n = uint64(chatDim), uint64(64), chatDim * chatDim
	ones := make([]float32, chatDim)
	for i := range ones {
		ones[i] = 1
	}
	tensors := []tensor{
		{"token_embd.weight", []uint64{d, uint64(len(toks))}, embed},
		{"output.weight", []uint64{d, uint64(len(toks))}, output},
		{"output_norm.weight", []uint64{d}, ones},
		{"blk.0.attn_norm.weight", []uint64{d}, ones},
		{"blk.0.attn_q.weight", []uint64{d, d}, make([]float32, n)},
		{"blk.0.attn_k.weight", []uint64{d, d}, make([]float32, n)},
		{"blk.0.attn_v.weight", []uint64{d, d}, make([]float32, n)},
		{"blk.0.attn_output.weight", []uint64{d, d}, make([]float32, n)},
		{"blk.0.ffn_norm.weight", []uint64{d}, ones},
		{"blk.0.ffn_gate.weight", []uint64{d, ff}, make([]float32, d*ff)},
		{"blk.0.ffn_up.weight", []uint64{d, ff}, make([]float32, d*ff)},
		{"blk.0.ffn_down.weight", []uint64{ff, d}, make([]float32, ff*d)},
	}
	return []kv{
		{"general.architecture", "llama"},
		{"general.name", "tiny-chat"},
		{"general.file_type", uint32(0)}, // all F32
		{"llama.block_count", uint32(1)},
		{"llama.context_length", uint32(chatContext)},
		{"llama.embedding_length", uint32(chatDim)},
		{"llama.feed_forward_length", uint32(ff)},
		{"llama.vocab_size", uint32(len(toks))},
		{"llama.attention.head_count", uint32(5)},
		{"llama.attention.head_count_kv", uint32(5)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-6)},
		{"llama.rope.dimension_count", uint32(chatDim / 5)},
		{"llama.rope.freq_base", float32(10000)},
		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.pre", "default"},
		{"tokenizer.ggml.tokens", toks},
		{"tokenizer.ggml.scores", scores},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(eos)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_eos_token", false},
	}, tensors
}
