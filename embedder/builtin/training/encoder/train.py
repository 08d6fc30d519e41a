"""Trains a small contextual encoder over the tokens of the built-in table.

It reads what `train pack` wrote and trains for a number of minutes, so that a long run is several
short ones, each beginning with what the one before saved:

    python3 train.py --packed packed --out state --minutes 9
    python3 train.py --packed packed --from state --out state2 --minutes 9 --seed 2

A text's vector is the table's own plus what a transformer adds, which is nothing at first. With
--questions only the first text of a pair is read in context; the second has the vector of the
table, so that nothing that is stored would be embedded again. README.md has what was tried.
"""

import argparse, json, math, os, time, zlib
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH = 256
PART = 15 << 20  # bytes of a file of the state


def packed(folder):
    raw = np.fromfile(os.path.join(folder, "rows.bin"), dtype=np.uint8).reshape(-1, 8 + WIDTH)
    weight, step = raw[:, :8].copy().view(np.float32).T
    rows = raw[:, 8:].view(np.int8).astype(np.float32) * step[:, None]
    data = zlib.decompress(open(os.path.join(folder, "pairs.bin"), "rb").read())
    kinds, sources, texts, at = [], [], [], 0
    while at < len(data):
        kind, source = data[at], int.from_bytes(data[at + 1 : at + 5], "little")
        a, b, at = data[at + 5], data[at + 6], at + 7
        tokens = np.frombuffer(data, dtype="<u2", count=a + b, offset=at).astype(np.int64)
        at += 2 * (a + b)
        kinds.append(kind), sources.append(source), texts.append((tokens[:a], tokens[a:]))
    return torch.from_numpy(rows), torch.from_numpy(weight.copy()), np.array(kinds), np.array(sources), texts


class Encoder(nn.Module):
    def __init__(self, rows, weight, layers, heads, inner, longest):
        super().__init__()
        self.rows, self.weight = nn.Parameter(rows), nn.Parameter(weight)
        self.place = nn.Parameter(torch.zeros(longest, WIDTH))
        self.enter, self.leave = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, heads, inner, dropout=0.0, batch_first=True, norm_first=True, activation="gelu")
            for _ in range(layers)
        )
        self.add = nn.Linear(WIDTH, WIDTH)
        nn.init.zeros_(self.add.weight), nn.init.zeros_(self.add.bias)
        self.length = float(rows.norm(dim=1).mean())  # of a row: what is added has the same scale

    def forward(self, tokens, factor, in_context=True):
        rows, absent = self.rows[tokens], factor == 0
        if in_context:
            x = self.enter(rows) + self.place[: tokens.shape[1]]
            for layer in self.layers:
                x = layer(x, src_key_padding_mask=absent)
            rows = rows + self.length * self.add(self.leave(x))
        return F.normalize(((self.weight[tokens] * factor)[..., None] * rows).sum(1), dim=-1)


def batch_of(texts, device, drop=0.0):
    """Tokens, and for each 1 + ln(count), shared among its repeats; 0 is padding."""
    width = max(len(t) for t in texts)
    tokens, factor = np.zeros((len(texts), width), np.int64), np.zeros((len(texts), width), np.float32)
    for i, t in enumerate(texts):
        if drop and len(t) > 3:
            kept = t[np.random.rand(len(t)) >= drop]
            t = kept if len(kept) else t
        _, at, count = np.unique(t, return_inverse=True, return_counts=True)
        tokens[i, : len(t)], factor[i, : len(t)] = t, ((1 + np.log(count)) / count)[at]
    return torch.from_numpy(tokens).to(device), torch.from_numpy(factor).to(device)


def save(model, folder):
    os.makedirs(folder, exist_ok=True)
    state = {k: v.detach().half().cpu() for k, v in model.state_dict().items()}
    shapes = {k: list(v.shape) for k, v in state.items()}
    data = b"".join(v.numpy().tobytes() for v in state.values())
    for i, at in enumerate(range(0, len(data), PART)):
        open(os.path.join(folder, f"part{i}.bin"), "wb").write(data[at : at + PART])
    json.dump(shapes, open(os.path.join(folder, "shapes.json"), "w"))


def load(model, folder):
    parts = sorted((p for p in os.listdir(folder) if p.startswith("part")), key=lambda p: int(p[4:-4]))
    data = np.frombuffer(b"".join(open(os.path.join(folder, p), "rb").read() for p in parts), np.float16)
    state, at = {}, 0
    for k, shape in json.load(open(os.path.join(folder, "shapes.json"))).items():
        n = math.prod(shape)
        state[k], at = torch.from_numpy(data[at : at + n].astype(np.float32)).reshape(shape), at + n
    model.load_state_dict(state)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--packed", default="packed"), p.add_argument("--from", dest="start"), p.add_argument("--out", default="state")
    p.add_argument("--minutes", type=float, default=9), p.add_argument("--steps", type=int, default=1 << 30)
    p.add_argument("--batch", type=int, default=4096), p.add_argument("--alike", type=int, default=32)
    p.add_argument("--layers", type=int, default=4), p.add_argument("--heads", type=int, default=4), p.add_argument("--inner", type=int, default=1024)
    p.add_argument("--rate", type=float, default=3e-4), p.add_argument("--drop", type=float, default=0.1)
    p.add_argument("--temperature", type=float, default=0.05), p.add_argument("--seed", type=int, default=1)
    p.add_argument("--questions", action="store_true", help="read only the first text of a pair in context")
    o = p.parse_args()
    torch.manual_seed(o.seed), np.random.seed(o.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows, weight, kinds, sources, texts = packed(o.packed)
    longest = max(max(len(a), len(b)) for a, b in texts)
    model = Encoder(rows, weight, o.layers, o.heads, o.inner, longest)
    if o.start:
        load(model, o.start)
    model.to(device)
    if o.questions:
        model.rows.requires_grad_(False), model.weight.requires_grad_(False)  # documents keep their vectors

    # A tenth of the sources is held out whole. Batches are made of pairs of one kind and source.
    held = np.isin(sources, [s for s in np.unique(sources) if s % 10 == 7])
    groups = {}
    for i in np.flatnonzero(~held):
        groups.setdefault((kinds[i], sources[i]), []).append(i)
    groups = [np.array(g) for g in groups.values() if len(g) >= o.alike]
    chance = np.sqrt([len(g) for g in groups])
    chance /= chance.sum()
    check = np.random.default_rng(1).choice(np.flatnonzero(held), min(10_000, int(held.sum())), replace=False)

    def vectors(i, side, in_context=True, drop=0.0):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            return model(*batch_of([texts[j][side] for j in i], device, drop), in_context=in_context).float()

    def found(in_context):
        """Mean over kinds of recall at 1 and at 10 among the pairs that are held out."""
        model.eval()
        with torch.no_grad():
            parts = [check[j : j + 500] for j in range(0, len(check), 500)]
            a, b = (torch.cat([vectors(j, side, in_context and (side == 0 or not o.questions)) for j in parts]) for side in (0, 1))
            rank = torch.cat([(x @ b.T > (x * y).sum(1)[:, None]).sum(1) for x, y in zip(a.split(500), b.split(500))]).cpu().numpy()
        model.train()
        by_kind = [rank[kinds[check] == k] for k in np.unique(kinds[check])]
        return float(np.mean([((r < 1).mean() + (r < 10).mean()) / 2 for r in by_kind]))

    print(f"{len(texts)} pairs, {len(check)} held out ones are asked, on {device}; the table finds {found(False):.4f}, this {found(True):.4f}", flush=True)
    optimizer = torch.optim.AdamW([w for w in model.parameters() if w.requires_grad], lr=o.rate, weight_decay=0.01)
    began, step = time.time(), 0
    while step < o.steps and time.time() - began < 60 * o.minutes:
        done = max(step / o.steps, (time.time() - began) / (60 * o.minutes))
        for g in optimizer.param_groups:
            g["lr"] = o.rate * min(1, (step + 1) / 100) * (0.5 * (1 + math.cos(math.pi * done)) + 0.02)
        i = np.concatenate([np.random.choice(groups[g], o.alike, replace=False) for g in np.random.choice(len(groups), o.batch // o.alike, p=chance)])
        scores = vectors(i, 0, drop=o.drop) @ vectors(i, 1, not o.questions, o.drop).T / o.temperature
        right = torch.arange(len(i), device=device)
        loss = (F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)) / 2
        optimizer.zero_grad(), loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 200 == 0:
            print(f"step {step}, {time.time() - began:.0f} s, loss {loss.item():.3f}, held out {found(True):.4f}", flush=True)
    save(model, o.out)
    print(f"{step} steps in {time.time() - began:.0f} s; held out {found(True):.4f}; seed {o.seed}")


main()
