// The map: all memories as points on a canvas. Points are put into one picture by their
// pixels, so that 100,000 of them take some milliseconds a frame.

const box = document.getElementById("map"), canvas = document.getElementById("map-canvas"), words = document.getElementById("map-text");
const form = document.getElementById("map-chosen"), legend = document.getElementById("map-legend"), colour = document.getElementById("map-colour");
const kinds = box.dataset.kinds.split(","), number = box.dataset.map;
const projects = [...document.querySelectorAll("#map-projects li")].map((li) => li.textContent);
const answer = await fetch("/ui/map/points?map=" + number);
if (!answer.ok) {
  box.hidden = false;
  words.textContent = (await answer.text()) + ": load the page again.";
} else {
  const data = await answer.arrayBuffer(), count = new DataView(data).getUint32(0, true);
  const [x, y, kind, project, success, age] = [0, 1, 2, 3, 4, 5].map((i) => new Uint16Array(data, 4 + 2 * i * count, count));
  start(count, x, y, kind, project, success, age);
}

function start(count, x, y, kind, project, success, age) {
  box.hidden = false;
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const colours = () => [1, 2, 3, 4, 5, 6, 7, 8].map((i) => style.getPropertyValue("--k" + i).trim());
  let palette = colours();
  const kindColours = { lesson: 0, step: 1, task: 2, blocker: 3, rule: 4, reference: 5, tool: 6, chunk: 7 };
  const ways = {
    kind: { of: (i) => kind[i], names: kinds, colour: (n) => palette[kindColours[kinds[n]] ?? 7] },
    project: { of: (i) => Math.min(project[i], 7), names: projects.slice(0, 7).concat(projects.length > 7 ? ["others"] : []), colour: (n) => palette[n % 8] },
    success: { of: (i) => (success[i] === 65535 ? 0 : success[i] >= 67 ? 1 : success[i] >= 34 ? 2 : 3), names: ["not known", "mostly worked", "half and half", "mostly failed"], colour: (n) => palette[[1, 2, 5, 3][n]] },
    age: { of: (i) => (age[i] < 7 ? 0 : age[i] < 30 ? 1 : age[i] < 90 ? 2 : 3), names: ["last 7 days", "last 30 days", "last 90 days", "older"], colour: (n) => palette[[0, 7, 1, 5][n]] },
  };
  let left = 0, top = 0, span = 65536, lasso = null, chosen = new Set(), wanted = false, picture = null;

  const words32 = (hex) => { const n = parseInt(hex.slice(1), 16); return 0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16); };
  const px = (i) => ((x[i] - left) / span) * canvas.width, py = (i) => canvas.height - ((y[i] - top) / span) * canvas.height;

  function draw() {
    wanted = false;
    const began = performance.now(), width = canvas.width, height = canvas.height, way = ways[colour.value];
    if (!picture || picture.width !== width || picture.height !== height) picture = pen.createImageData(width, height);
    const pixels = new Uint32Array(picture.data.buffer), size = Math.max(2, Math.round((devicePixelRatio || 1) * (count > 20000 ? 1.5 : count > 2000 ? 3 : 6) * Math.min(3, Math.sqrt(65536 / span))));
    pixels.fill(0);
    const tones = way.names.map((_, n) => words32(way.colour(n))), mark = words32(style.getPropertyValue("--text").trim());
    const sx = width / span, sy = height / span;
    for (let i = 0; i < count; i++) {
      const cx = ((x[i] - left) * sx) | 0, cy = (height - (y[i] - top) * sy) | 0;
      if (cx < 0 || cy < 0 || cx >= width - size || cy >= height - size) continue;
      const tone = chosen.size && chosen.has(i) ? mark : tones[way.of(i)];
      for (let dy = 0; dy < size; dy++) pixels.fill(tone, (cy + dy) * width + cx, (cy + dy) * width + cx + size);
    }
    pen.putImageData(picture, 0, 0);
    if (lasso) {
      pen.beginPath();
      lasso.forEach(([a, b], n) => (n ? pen.lineTo(a, b) : pen.moveTo(a, b)));
      pen.closePath();
      pen.strokeStyle = style.getPropertyValue("--accent");
      pen.lineWidth = 2;
      pen.stroke();
    }
    canvas.dataset.frame = (performance.now() - began).toFixed(1); // milliseconds
    canvas.dataset.points = count;
  }
  const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

  function explain() {
    const way = ways[colour.value];
    legend.replaceChildren(...way.names.map((name, n) => {
      const key = document.createElement("span"), dot = document.createElement("i");
      dot.style.background = way.colour(n);
      key.append(dot, name);
      return key;
    }));
    redraw();
  }
  colour.addEventListener("change", explain);

  function fit() {
    const size = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
    canvas.width = Math.round(size.width * scale);
    canvas.height = Math.round(size.height * scale);
    redraw();
  }
  new ResizeObserver(fit).observe(canvas);

  const at = (e) => { const size = canvas.getBoundingClientRect(); return [((e.clientX - size.left) / size.width) * canvas.width, ((e.clientY - size.top) / size.height) * canvas.height]; };
  const clamp = () => { span = Math.min(Math.max(span, 256), 65536); left = Math.min(Math.max(left, 0), 65536 - span); top = Math.min(Math.max(top, 0), 65536 - span); redraw(); };
  function zoom(by, a = canvas.width / 2, b = canvas.height / 2) {
    const u = left + (a / canvas.width) * span, v = top + (1 - b / canvas.height) * span;
    span = Math.min(Math.max(span * by, 256), 65536);
    left = u - (a / canvas.width) * span;
    top = v - (1 - b / canvas.height) * span;
    clamp();
  }
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, ...at(e)); }, { passive: false });
  canvas.addEventListener("keydown", (e) => {
    const act = { "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), ArrowLeft: () => (left -= span / 10), ArrowRight: () => (left += span / 10), ArrowUp: () => (top += span / 10), ArrowDown: () => (top -= span / 10) }[e.key];
    if (act) { e.preventDefault(); act(); clamp(); }
  });
  document.getElementById("map-all").addEventListener("click", () => { left = top = 0; span = 65536; chosen.clear(); form.hidden = true; redraw(); });

  // A drag draws a lasso.
  canvas.addEventListener("pointerdown", (e) => { lasso = [at(e)]; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => { if (lasso) { lasso.push(at(e)); redraw(); } else hover(e); });
  canvas.addEventListener("pointerup", () => { if (lasso && lasso.length > 3) choose(lasso); lasso = null; redraw(); });
  canvas.addEventListener("pointercancel", () => { lasso = null; redraw(); });

  function choose(line) {
    chosen = new Set();
    const lesson = kinds.indexOf("lesson"), lessons = [];
    for (let i = 0; i < count; i++) if (inside(px(i), py(i), line)) { chosen.add(i); if (kind[i] === lesson) lessons.push(i); }
    form.hidden = lessons.length === 0;
    form.elements.places.value = lessons.slice(0, 1000).join(",");
    const text = `${chosen.size} memories are chosen, ${lessons.length} of them lessons.`;
    document.getElementById("map-count").textContent = text;
    words.textContent = text;
  }

  // inside counts how often a ray to the right crosses the line: odd is inside.
  function inside(a, b, line) {
    let is = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
      const [xi, yi] = line[i], [xj, yj] = line[j];
      if (yi > b !== yj > b && a < ((xj - xi) * (b - yi)) / (yj - yi) + xi) is = !is;
    }
    return is;
  }

  let rest = 0, shown = -1;
  const known = new Map();
  function hover(e) {
    clearTimeout(rest);
    const [a, b] = at(e);
    rest = setTimeout(async () => {
      let best = -1, near = (12 * (devicePixelRatio || 1)) ** 2;
      for (let i = 0; i < count; i++) {
        const d = (px(i) - a) ** 2 + (py(i) - b) ** 2;
        if (d < near) { near = d; best = i; }
      }
      if (best < 0 || best === shown) return;
      shown = best;
      if (!known.has(best)) {
        const got = await fetch(`/ui/map/point?map=${number}&i=${best}`);
        known.set(best, got.ok ? await got.json() : { kind: "gone", text: "it is not there any more" });
      }
      const it = known.get(best);
      if (shown === best) words.textContent = `${it.kind}: ${it.text.slice(0, 400)}`;
    }, 120);
  }

  explain();
  fit();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { palette = colours(); explain(); });
}
