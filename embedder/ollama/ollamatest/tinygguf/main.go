// Command tinygguf writes a small, seeded BERT-type embedding model as a GGUF v3 file.
// Weights are pseudo-random; no download, no training, standard library only.
//
// Token vectors are random unit-ish directions and the encoder layers are nearly the
// identity (small random weights on the residual path), so with mean pooling the result
// behaves like a bag of subwords: texts that share words are near. Words given in one
// synonym group share a base direction, so "car" and "automobile" are near though they
// share no letters.
//
// With -chat it writes a model that chats instead, see chat.go.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strings"
)

const (
	tU32, tF32, tBool, tStr, tArr, tI32 = 4, 6, 7, 8, 9, 5
	align                               = 32
)

var le = binary.LittleEndian

type kv struct {
	key string
	val any
}

type tensor struct {
	name string
	ne   []uint64 // ggml order: ne[0] is the contiguous dimension
	data []float32
}

func putStr(b *bytes.Buffer, s string) {
	binary.Write(b, le, uint64(len(s)))
	b.WriteString(s)
}

func putVal(b *bytes.Buffer, v any) error {
	switch x := v.(type) {
	case uint32:
		binary.Write(b, le, uint32(tU32))
		binary.Write(b, le, x)
	case float32:
		binary.Write(b, le, uint32(tF32))
		binary.Write(b, le, x)
	case bool:
		binary.Write(b, le, uint32(tBool))
		if x {
			b.WriteByte(1)
		} else {
			b.WriteByte(0)
		}
	case string:
		binary.Write(b, le, uint32(tStr))
		putStr(b, x)
	case []string:
		binary.Write(b, le, uint32(tArr))
		binary.Write(b, le, uint32(tStr))
		binary.Write(b, le, uint64(len(x)))
		for _, s := range x {
			putStr(b, s)
		}
	case []float32:
		binary.Write(b, le, uint32(tArr))
		binary.Write(b, le, uint32(tF32))
		binary.Write(b, le, uint64(len(x)))
		binary.Write(b, le, x)
	case []int32:
		binary.Write(b, le, uint32(tArr))
		binary.Write(b, le, uint32(tI32))
		binary.Write(b, le, uint64(len(x)))
		binary.Write(b, le, x)
	default:
		return fmt.Errorf("no GGUF type for %T", v)
	}
	return nil
}

func pad(n, a int) int { return (a - n%a) % a }

func writeGGUF(w io.Writer, kvs []kv, ts []tensor) error {
	var h bytes.Buffer
	h.WriteString("GGUF")
	binary.Write(&h, le, uint32(3))
	binary.Write(&h, le, uint64(len(ts)))
	binary.Write(&h, le, uint64(len(kvs)))
	for _, e := range kvs {
		putStr(&h, e.key)
		if err := putVal(&h, e.val); err != nil {
			return fmt.Errorf("%s: %w", e.key, err)
		}
	}
	off := 0
	for _, t := range ts {
		n := 1
		for _, d := range t.ne {
			n *= int(d)
		}
		if n != len(t.data) {
			return fmt.Errorf("%s: shape %v but %d values", t.name, t.ne, len(t.data))
		}
		putStr(&h, t.name)
		binary.Write(&h, le, uint32(len(t.ne)))
		for _, d := range t.ne {
			binary.Write(&h, le, d)
		}
		binary.Write(&h, le, uint32(0)) // 0 = F32
		binary.Write(&h, le, uint64(off))
		off += 4 * n
		off += pad(off, align)
	}
	h.Write(make([]byte, pad(h.Len(), align)))
	if _, err := w.Write(h.Bytes()); err != nil {
		return err
	}
	for _, t := range ts {
		b := make([]byte, 0, 4*len(t.data)+align)
		for _, f := range t.data {
			b = le.AppendUint32(b, math.Float32bits(f))
		}
		b = append(b, make([]byte, pad(len(b), align))...)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a model to a file.
func writeFile(name string, kvs []kv, ts []tensor) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err := errors.Join(writeGGUF(w, kvs, ts), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func main() {
	out := flag.String("o", "tiny.gguf", "output file")
	dim := flag.Int("dim", 64, "embedding length")
	layers := flag.Int("layers", 2, "encoder layers")
	heads := flag.Int("heads", 4, "attention heads")
	ctx := flag.Int("ctx", 128, "context length (tokens, with [CLS] and [SEP])")
	ngram := flag.Int("ngram", 3, "longest letter piece in the vocabulary: 1, 2 or 3")
	seed := flag.Uint64("seed", 1, "seed of the weights")
	std := flag.Float64("std", 0.02, "standard deviation of the layer weights")
	synFile := flag.String("syn", "", "file with one group of synonyms a line")
	chat := flag.Bool("chat", false, "write the model that chats instead; the flags of the other one mean nothing then")
	flag.Parse()
	if *chat {
		kvs, ts := chatModel()
		if err := writeFile(*out, kvs, ts); err != nil {
			log.Fatal(err)
		}
		return
	}

	d, ff := *dim, 4**dim
	rng := rand.New(rand.NewPCG(*seed, 0x74696e79))
	norm := func(n int, s float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64() * s)
		}
		return v
	}
	fill := func(n int, x float32) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = x
		}
		return v
	}

	// Vocabulary. A word start carries U+2581, a continuation is bare, specials are in [].
	const ws = "\u2581"
	toks := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	types := []int32{3, 2, 3, 3, 3} // 3 control, 2 unknown, 1 normal
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			toks = append(toks, s)
			types = append(types, 1)
		}
	}
	const alnum = "abcdefghijklmnopqrstuvwxyz0123456789"
	for c := rune(33); c < 127; c++ {
		if c < 'A' || c > 'Z' {
			add(ws + string(c))
			add(string(c))
		}
	}
	for _, a := range alnum {
		for _, b := range alnum {
			if *ngram >= 2 {
				add(ws + string(a) + string(b))
				add(string(a) + string(b))
			}
			if *ngram >= 3 && a >= 'a' && b >= 'a' {
				for c := 'a'; c <= 'z'; c++ {
					add(ws + string(a) + string(b) + string(c))
					add(string(a) + string(b) + string(c))
				}
			}
		}
	}
	base := map[string][]float32{}
	if *synFile != "" {
		f, err := os.Open(*synFile)
		if err != nil {
			log.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			words := strings.Fields(strings.ToLower(sc.Text()))
			if len(words) == 0 {
				continue
			}
			g := norm(d, 1)
			for _, w := range words {
				add(ws + w)
				base[ws+w] = g
			}
		}
		f.Close()
	}

	emb := make([]float32, 0, len(toks)*d)
	for i, t := range toks {
		switch g := base[t]; {
		case g != nil:
			n := norm(d, 0.3)
			for k := range n {
				n[k] += g[k]
			}
			emb = append(emb, n...)
		case i < 5: // specials contribute little
			emb = append(emb, norm(d, 0.05)...)
		default:
			emb = append(emb, norm(d, 1)...)
		}
	}

	u := func(n int) uint64 { return uint64(n) }
	ts := []tensor{
		{"token_embd.weight", []uint64{u(d), u(len(toks))}, emb},
		{"token_types.weight", []uint64{u(d), 2}, fill(2*d, 0)},
		{"position_embd.weight", []uint64{u(d), u(*ctx)}, norm(*ctx*d, 0.02)},
		{"token_embd_norm.weight", []uint64{u(d)}, fill(d, 1)},
		{"token_embd_norm.bias", []uint64{u(d)}, fill(d, 0)},
	}
	for i := range *layers {
		lin := func(n string, in, o int) {
			ts = append(ts,
				tensor{fmt.Sprintf("blk.%d.%s.weight", i, n), []uint64{u(in), u(o)}, norm(in*o, *std)},
				tensor{fmt.Sprintf("blk.%d.%s.bias", i, n), []uint64{u(o)}, fill(o, 0)})
		}
		ln := func(n string) {
			ts = append(ts,
				tensor{fmt.Sprintf("blk.%d.%s.weight", i, n), []uint64{u(d)}, fill(d, 1)},
				tensor{fmt.Sprintf("blk.%d.%s.bias", i, n), []uint64{u(d)}, fill(d, 0)})
		}
		lin("attn_q", d, d)
		lin("attn_k", d, d)
		lin("attn_v", d, d)
		lin("attn_output", d, d)
		ln("attn_output_norm")
		lin("ffn_up", d, ff)
		lin("ffn_down", ff, d)
		ln("layer_output_norm")
	}

	kvs := []kv{
		{"general.architecture", "bert"},
		{"general.name", "tiny"},
		{"general.file_type", uint32(0)}, // all F32
		{"bert.block_count", uint32(*layers)},
		{"bert.context_length", uint32(*ctx)},
		{"bert.embedding_length", uint32(d)},
		{"bert.feed_forward_length", uint32(ff)},
		{"bert.attention.head_count", uint32(*heads)},
		{"bert.attention.layer_norm_epsilon", float32(1e-12)},
		{"bert.attention.causal", false},
		{"bert.pooling_type", uint32(1)}, // mean
		{"tokenizer.ggml.model", "bert"},
		{"tokenizer.ggml.token_type_count", uint32(2)},
		{"tokenizer.ggml.tokens", toks},
		{"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.padding_token_id", uint32(0)},
		{"tokenizer.ggml.unknown_token_id", uint32(1)},
		{"tokenizer.ggml.cls_token_id", uint32(2)},
		{"tokenizer.ggml.bos_token_id", uint32(2)},
		{"tokenizer.ggml.separator_token_id", uint32(3)},
		{"tokenizer.ggml.eos_token_id", uint32(3)},
		{"tokenizer.ggml.mask_token_id", uint32(4)},
	}
	if err := writeFile(*out, kvs, ts); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d tokens, dim %d, %d layers, context %d\n", *out, len(toks), d, *layers, *ctx)
}
