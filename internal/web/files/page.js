// What scripts add to pages that work without them: keys, parts that follow what changes,
// results while the floor moves, and ticking all rows.

const $ = (selector, of = document) => of.querySelector(selector);
const rows = () => [...document.querySelectorAll("[data-row]")];
const typing = (e) => e.target.closest("input:not([type=checkbox]), textarea, select, canvas, dialog");

// Keys.
let gone = false;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (e.key === "Escape" && typing(e)) return e.target.blur();
  if (typing(e)) return;
  const page = gone && document.querySelector(`nav.pages [data-key="${CSS.escape(e.key)}"]`);
  gone = e.key === "g";
  if (page) return page.click();
  const act = { "/": search, "?": listKeys, ArrowDown: () => move(1), ArrowUp: () => move(-1), j: () => move(1), k: () => move(-1),
    x: tick, ArrowRight: () => turn("next"), ArrowLeft: () => turn("prev") }[e.key];
  if (act && act() !== false) e.preventDefault();
});

function search() {
  const field = $("main [data-search]") || $("[data-search]");
  if (field) { field.focus(); field.select(); } else location.href = "/ui/search" + location.search;
}

// move goes to another row: its link gets the focus, so that Enter opens it.
function move(by) {
  const all = rows();
  if (!all.length) return false;
  const at = all.findIndex((r) => r.classList.contains("here"));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  all.forEach((r) => r.classList.toggle("here", r === next));
  ($("a", next) || $("button", next) || next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function tick() {
  const box = $(".here [type=checkbox]");
  if (!box) return false;
  box.checked = !box.checked;
}

function turn(rel) {
  const link = $(`a[rel=${rel}]`);
  if (!link) return false;
  link.click();
}

function listKeys() {
  let dialog = $("#keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    const title = document.createElement("h2");
    title.id = "keys-title";
    title.textContent = "Keys";
    const list = document.createElement("dl");
    const all = [["/", "search"], ["↓ ↑", "next and previous row"], ["Enter", "open the row"], ["x", "tick the row"], ["→ ←", "next and previous page of a list"]];
    for (const link of document.querySelectorAll("nav.pages [data-key]")) all.push(["g " + link.dataset.key, link.textContent]);
    all.push(["?", "this list"], ["Esc", "close"]);
    for (const [key, what] of all) {
      const row = document.createElement("div"), name = document.createElement("dt"), meaning = document.createElement("dd"), cap = document.createElement("kbd");
      cap.textContent = key;
      name.append(cap);
      meaning.textContent = what;
      row.append(name, meaning);
      list.append(row);
    }
    const close = document.createElement("button");
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.append(title, list, close);
    document.body.append(dialog);
  }
  dialog.showModal();
}

// Parts that follow what changes. The text is made on the server, as that of the page is.
const live = $("[data-live]");
if (live) {
  let source = null;
  const follow = () => { // a page that nobody sees follows nothing: a browser has six connections
    source?.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource(`/ui/events?part=${live.dataset.live}&project=${encodeURIComponent(live.dataset.project)}`);
    source.onmessage = (e) => {
      if (live.contains(document.activeElement)) return; // someone is using it
      live.replaceChildren(...new DOMParser().parseFromString(e.data, "text/html").body.childNodes);
      live.dataset.updated = String(Date.now());
    };
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => source?.close());
  follow();
}

// Results while a field changes.
for (const field of document.querySelectorAll("[data-live-field]")) {
  let wait = 0, asked = null;
  field.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(async () => {
      const form = field.form, values = new URLSearchParams(new FormData(form));
      if (!values.get("q") || !form.checkValidity()) return;
      asked?.abort();
      asked = new AbortController();
      try {
        const address = form.action + "?" + values, answer = await fetch(address, { signal: asked.signal });
        const text = new DOMParser().parseFromString(await answer.text(), "text/html");
        const results = $("#" + form.dataset.results), made = text.querySelector("#" + form.dataset.results) || text.querySelector(".error");
        results.replaceChildren(...(made.id ? made.childNodes : [made]));
        history.replaceState(null, "", address);
      } catch (e) {
        if (e.name !== "AbortError") throw e;
      }
    }, 200);
  });
}

for (const all of document.querySelectorAll("[data-all]"))
  all.addEventListener("change", () => all.form.querySelectorAll("[name=id]").forEach((box) => (box.checked = all.checked)));

// Tables that are wider than the page scroll by keys, too.
for (const part of document.querySelectorAll(".scroll")) if (part.scrollWidth > part.clientWidth) { part.tabIndex = 0; part.setAttribute("role", "region"); part.setAttribute("aria-label", "Table, scrolls sideways"); }

if ($("[data-reload]")) setTimeout(() => location.replace("/ui/map" + (new URLSearchParams(location.search).get("project") ? "?project=" + encodeURIComponent(new URLSearchParams(location.search).get("project")) : "")), 1500);
if ($("#map")) import("/ui/files/map.js");
