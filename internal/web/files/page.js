// Keys: / goes to the search, g and a letter to a page. The page works without them.
let gone = false;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  const pages = { o: "", s: "search", l: "lessons", e: "sessions", c: "code" };
  if (e.key === "/") {
    const field = document.querySelector("[data-search]");
    e.preventDefault();
    if (field) field.focus();
    else location.href = "/ui/search" + location.search;
  } else if (gone && e.key in pages) {
    location.href = "/ui/" + pages[e.key];
  }
  gone = e.key === "g";
});
