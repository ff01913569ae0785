// Tables, the current object, search, keys and pointer.
const PART = 100;
function cell(name, content, className = "") {
  const element = document.createElement(name);
  element.className = className;
  element.append(...[content].flat());
  return element;
}
function row(...cells) {
  const line = document.createElement("tr");
  line.append(...cells);
  return line;
}
const figure = (bytes, words = size(bytes)) => cell("td", words, "n");
// The name of an object, which links to its details if there are any.
function link(id, words) {
  if (!objects.has(id)) return words;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: words });
  button.addEventListener("click", () => go(id));
  return button;
}

function list(table, ends) {
  byId(table).tBodies[0].replaceChildren(...ends.map(({ way, id, name, retained }) =>
    way === "…" ? row(cell("td", "…"), cell("td", ""), cell("td", "")) : row(cell("td", way), cell("td", link(id, `${name} @${id}`), "full"), figure(retained))));
}
const title = (words, shown, all) => `${words}: ${count(all)}${shown < all ? `, the first ${count(shown)}` : ""}`;

// Shows an object, of which only the name may be known.
function show(id, name) {
  const object = objects.get(id) ?? { name, path: [], referrers: [], allReferrers: 0, fields: [], allFields: 0 }, isKnown = objects.has(id);
  for (const element of document.querySelectorAll("aside h3, aside .wide")) element.hidden = !isKnown;
  byId("object").textContent = `${object.name} @${id}${object.label ? ` "${object.label}"` : ""}`;
  byId("about").textContent = !isKnown ? `This page has no more about it: gclab heap analyse FILE --about ${id}` : `itself ${size(object.bytes)}, retains ${size(object.retained)} (${percent(object.retained)} of the heap)`;
  list("path", object.path);
  list("referrers", object.referrers);
  list("fields", object.fields);
  byId("referrers-title").textContent = title("Referrers", object.referrers.length, object.allReferrers);
  byId("fields-title").textContent = title("Fields", object.fields.length, object.allFields);
  history.replaceState(null, "", `#object=${id}`);
}
// Shows an object on a click elsewhere on the page. Its tables come next for the keyboard.
function go(id) {
  show(id);
  byId("object").focus({ preventScroll: true });
  byId("object").scrollIntoView({ block: "nearest" });
}

function tell() {
  const place = places[hovered ?? chosen];
  byId("readout").textContent = `${words(place)}: ${size(place.bytes)}, ${(100 * place.bytes / Math.max(1, places[0].bytes)).toFixed(1)} %${place.objects > 1 ? `, ${size(place.bytes / place.objects)} each` : ""}`;
}
// Selects a place of the tree.
function choose(at) {
  chosen = at;
  show(places[at].largest, places[at].name);
  tell();
  draw();
  requestAnimationFrame(() => {
    const top = ROW * (barOf(at)?.level ?? 0);
    pane.scrollTop = Math.min(Math.max(pane.scrollTop, top + ROW - pane.clientHeight), top);
  });
}
function zoom(at) {
  top_ = at;
  choose(at);
}

// The largest places whose names match, without those below another match.
function outermost() {
  let bytes = 0;
  const open = [0];
  for (let at; (at = open.pop()) !== undefined;) {
    if (at !== 0 && isFound(places[at])) bytes += places[at].bytes;
    else open.push(...places[at].below);
  }
  return bytes;
}

// The table of classes: the first rows of the matches, sorted by the current column.
let column = data.first, down = true, shown = PART;
function classes() {
  const key = line => line[column], named = typeof data.classes[0]?.[column] === "number" && column > 0;
  const found = data.classes.filter(line => wanted === "" || text(line[0]).toLowerCase().includes(wanted));
  found.sort((a, b) => (named ? key(a) - key(b) : text(a[0]).localeCompare(text(b[0]))) * (down ? -1 : 1));
  byId("classes").tBodies[0].replaceChildren(...found.slice(0, shown).map(line => row(
    cell("td", link(line[data.largest], text(line[0])), "full"),
    ...data.columns.slice(1).map(([, kind], at) => figure(line[at + 1], kind === "bytes" ? undefined : count(line[at + 1]))))));
  byId("more").hidden = found.length <= shown;
  byId("found").textContent = `${count(found.length)} of ${count(data.allClasses)} classes${wanted === "" ? "" : `; bars with "${wanted}" hold ${size(outermost())}`}`;
  for (const th of byId("classes").tHead.rows[0].cells) {
    if (th.cellIndex === column) th.setAttribute("aria-sort", down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  }
}
byId("classes").tHead.append(row(...data.columns.map(([name], at) => {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: name });
  button.addEventListener("click", () => { down = column === at ? !down : at > 0; column = at; classes(); });
  const th = cell("th", button, at > 0 ? "n" : "");
  th.scope = "col";
  return th;
})));
byId("more").addEventListener("click", () => { shown += 10 * PART; classes(); });

byId("suspects").tHead.append(row(...(data.growth ? ["new bytes", "%", "what holds the new objects"] : ["retained", "%", "what holds it"]).map((words, at) =>
  Object.assign(cell("th", words, at < 2 ? "n" : ""), { scope: "col" }))));
byId("suspects").tBodies[0].append(...data.suspects.map(([id, bytes, path, parts]) => row(
  figure(bytes), figure(bytes, percent(bytes)), cell("td", [id === null ? path : link(id, path), ...parts.map(part => cell("small", part))], "full"))));
if (data.suspects.length === 0) byId("suspects").hidden = true;

const actions = {
  in: () => zoom(chosen), out: () => zoom(places[top_].above), all: () => zoom(0),
  up: () => choose(places[chosen].above),
  down() {
    const [next = chosen] = places[chosen].below;
    if (!barOf(next)) top_ = chosen;
    choose(next);
  },
  left: () => beside(-1), right: () => beside(1),
  search: () => byId("search").focus(),
};
function beside(step) {
  const all = places[places[chosen].above].below.filter(barOf), at = all.indexOf(chosen) + step;
  if (all[at] !== undefined && chosen !== 0) choose(all[at]);
}
const KEYS = { Enter: "in", Escape: "out", Backspace: "out", 0: "all", ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", "/": "search" };
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || event.target.closest("input")) return;
  if (event.key !== "/" && !pane.contains(event.target)) return;
  actions[KEYS[event.key]]();
  event.preventDefault();
});
document.querySelectorAll("[data-do]").forEach(button => button.addEventListener("click", () => actions[button.dataset.do]()));
byId("search").addEventListener("input", () => { wanted = byId("search").value.trim().toLowerCase(); shown = PART; classes(); draw(); });
pane.addEventListener("pointermove", event => { hovered = barAt(event); tell(); draw(); });
pane.addEventListener("pointerleave", () => { hovered = undefined; tell(); draw(); });
pane.addEventListener("click", event => { const at = barAt(event); if (at !== undefined) choose(at); });
pane.addEventListener("dblclick", event => { const at = barAt(event); if (at !== undefined) zoom(at); });
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

classes();
const asked = Number(new URLSearchParams(location.hash.slice(1)).get("object"));
choose(0);
show(objects.has(asked) ? asked : data.suspects[0]?.[0] ?? places[0].largest, places[0].name);
