// The current map, view and tile; keys, pointer and buttons; the figures.
let due = false;
function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; drawMap(); drawOverlay(); });
}

// The facts of a tile in words.
function factsOf(tile) {
  const { tiles } = frame(), use = tiles.use[tile];
  const place = `${addressOf(tile)}, ${data.tileBlocks === 1 ? `block ${count(tile)}` : `${data.tileBlocks} blocks from number ${count(tile * data.tileBlocks)}`}`;
  if (use === undefined) return `${place}: not in the heap yet`;
  const parts = [useName(use)];
  if (tiles.allocated[tile]) {
    if (data.tileBlocks > 1) parts.push(`${counted(tiles.allocated[tile], "block")} in use`);
    parts.push(`${wordsText(tiles.words[tile])} of closures (${(100 * occupancy(tiles, tile)).toFixed(1)} %)`, `${counted(tiles.closures[tile], "closure")} ${tiles.closures[tile] === 1 ? "begins" : "begin"} here`);
    if (tiles.holes[tile]) parts.push(`${counted(tiles.holes[tile], "hole")}, the longest ${wordsText(tiles.longest[tile])}`);
    if (tiles.units[tile]) parts.push(`${count(tiles.freeUnits[tile])} of ${count(tiles.units[tile])} ${frame().units} free`);
    if (tiles.oldest[tile]) parts.push(`survived ${count(tiles.youngest[tile])} to ${counted(tiles.oldest[tile], "collection")}, ${(tiles.age[tile] / 10).toFixed(1)} on average`);
  }
  const sum = moves => wordsText(moves.reduce((words, move) => words + move.words, 0));
  const [came, went] = [frame().moves.filter(move => move.to === tile), frame().moves.filter(move => move.from === tile)];
  if (came.length) parts.push(`${sum(came)} came from ${counted(came.length, "tile")}`);
  if (went.length) parts.push(`${sum(went)} went to ${counted(went.length, "tile")}`);
  return `${place}: ${parts.join("; ")}`;
}
function tell() {
  const tile = held ?? hovered;
  byId("readout").textContent = tile === undefined ? "Rest the pointer on a tile." : factsOf(tile);
}

function row(cells, head) {
  const line = document.createElement("tr");
  cells.forEach((cell, place) => {
    const element = document.createElement(head || place === 0 ? "th" : "td");
    if (element.tagName === "TH") element.scope = head ? "col" : "row";
    if (place > 0) element.className = "n";
    element.textContent = cell;
    line.append(element);
  });
  return line;
}

// Shows a map and its figures.
function go(place) {
  current = Math.max(0, Math.min(frames.length - 1, place));
  const now = frame();
  byId("slider").value = current;
  byId("which").textContent = `${current + 1} of ${frames.length}`;
  byId("title").textContent = now.title;
  byId("summary").textContent = `megablocks: ${count(now.megablocks)}; blocks in use: ${count(now.allocated)}; live: ${wordsText(now.live)}, of which large: ${wordsText(now.liveLarge)}; slop: ${wordsText(now.slop)}; large objects: ${count(now.largeObjects)}`;
  byId("rows").tHead.replaceChildren(row(["use", "blocks", "closures", "bytes", "occupied", "holes", "age"], true));
  byId("rows").tBodies[0].replaceChildren(...now.rows.map(([use, name, , blocks, closures, words, holes, , age]) =>
    row(isAllocated(use) ? [name, count(blocks), count(closures), wordsText(words), `${(100 * words * WORD / (blocks * data.block)).toFixed(1)} %`, count(holes), age === null ? "" : age.toFixed(1)] : [name, count(blocks), "", "", "", "", ""])));
  const [closures, words] = now.moved;
  byId("moved").textContent = closures ? `Moved: ${wordsText(words)}, closures: ${count(closures)}${now.allMoves > now.moves.length ? ` (the largest ${count(now.moves.length)} of ${count(now.allMoves)} moves are drawn)` : ""}` : "Nothing moved";
  byId("flows").tBodies[0].replaceChildren(...now.flows.map(([from, to, size]) => row([`${from} → ${to}`, wordsText(size)])));
  byId("large-title").hidden = !now.large.length;
  byId("large").tBodies[0].replaceChildren(...now.large.map(([address, size, name, step, age]) =>
    row([name, `0x${address.toString(16)}`, wordsText(size), useName(3 + 2 * step), age === null ? "" : `age ${age}`])));
  tell();
  draw();
  remember();
}

let playing;
function play() {
  if (playing) stop();
  else {
    if (current === frames.length - 1) go(0);
    playing = setInterval(() => { go(current + 1); if (current === frames.length - 1) stop(); }, Math.max(120, Math.min(700, 20000 / frames.length)));
    byId("play").textContent = "Stop";
  }
}
function stop() { clearInterval(playing); playing = undefined; byId("play").textContent = "Play"; }

function zoom(factor, x = LEFT + (pane.clientWidth - LEFT) / 2, y = pane.clientHeight / 2) {
  const before = view.scale;
  view.scale = Math.max(1, Math.min(80, view.scale * factor));
  const grown = view.scale / before;
  view.x = (x - LEFT + view.x) * grown - (x - LEFT);
  view.y = (y - 4 + view.y) * grown - (y - 4);
  move(0, 0);
}
function move(x, y) {
  const wide = Math.max(0, PER_ROW * side() - (pane.clientWidth - LEFT - 8)), high = Math.max(0, ROWS * side() - (pane.clientHeight - 8));
  view.x = Math.max(0, Math.min(wide, view.x + x));
  view.y = Math.max(0, Math.min(high, view.y + y));
  draw();
}
function hold(tile) {
  held = tile;
  if (tile !== undefined) {
    const [x, y] = [xOf(tile), yOf(tile)];
    if (y < 0 || y + side() > pane.clientHeight || x < LEFT || x + side() > pane.clientWidth) move(x - pane.clientWidth / 2, y - pane.clientHeight / 2);
  }
  tell();
  draw();
  remember();
}
function show(what) { shown = what; byId("shown").value = what; legend(); draw(); remember(); }

const actions = {
  next: () => { stop(); go(current + 1); }, before: () => { stop(); go(current - 1); }, first: () => { stop(); go(0); }, last: () => { stop(); go(frames.length - 1); },
  play, in: () => zoom(1.5), out: () => zoom(1 / 1.5), all: () => { Object.assign(view, { x: 0, y: 0, scale: 1 }); draw(); },
  left: () => move(-60, 0), right: () => move(60, 0), up: () => move(0, -60), down: () => move(0, 60),
  hold: () => hold(held ?? hovered ?? 0), clear: () => hold(undefined),
  moves: () => { byId("all-moves").checked = allMoves = !allMoves; draw(); },
  use: () => show("use"), occupancy: () => show("occupancy"), age: () => show("age"), holes: () => show("holes"),
};
const KEYS = { n: "next", ".": "next", p: "before", ",": "before", Home: "first", End: "last", " ": "play", w: "in", "+": "in", "=": "in", s: "out", "-": "out", "−": "out",
  0: "all", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Enter: "hold", Escape: "clear", m: "moves", 1: "use", 2: "occupancy", 3: "age", 4: "holes" };
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input[type=text]")) return;
  if (event.target.closest("button, input, summary") && [" ", "Enter", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
  if (event.shiftKey && held !== undefined && event.key.startsWith("Arrow")) {
    const to = held + { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -PER_ROW, ArrowDown: PER_ROW }[event.key];
    if (to >= 0 && to < tileCount) hold(to);
    event.preventDefault();
    return;
  }
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  actions[action]();
});
document.querySelector(".tools").addEventListener("click", event => { const action = event.target.dataset.do; if (action) actions[action](); });
byId("slider").addEventListener("input", event => { stop(); go(Number(event.target.value)); });
byId("shown").addEventListener("change", event => show(event.target.value));
byId("all-moves").addEventListener("change", event => { allMoves = event.target.checked; draw(); });

let drag;
const place = event => { const box = pane.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
pane.addEventListener("pointerdown", event => {
  drag = { at: place(event), moved: false };
  pane.setPointerCapture(event.pointerId);
});
pane.addEventListener("pointermove", event => {
  const [x, y] = place(event);
  if (drag) {
    const [dx, dy] = [drag.at[0] - x, drag.at[1] - y];
    if (drag.moved || Math.abs(dx) + Math.abs(dy) > 4) { drag = { at: [x, y], moved: true }; move(dx, dy); }
  } else {
    hovered = tileAt(x, y);
    tell();
    draw();
  }
});
pane.addEventListener("pointerup", event => {
  const tile = tileAt(...place(event));
  if (drag && !drag.moved) hold(tile === held ? undefined : tile);
  drag = undefined;
});
pane.addEventListener("pointercancel", () => drag = undefined);
pane.addEventListener("pointerleave", () => { hovered = undefined; tell(); draw(); });
pane.addEventListener("dblclick", actions.all);
pane.addEventListener("wheel", event => { zoom(1.0018 ** -event.deltaY, ...place(event)); event.preventDefault(); }, { passive: false });

function legend() {
  const uses = [...new Set(frames.flatMap(frame => frame.rows.map(([use]) => isLarge(use) ? 3 : use)))].sort((a, b) => a - b);
  const parts = uses.map(use => {
    const item = document.createElement("span"), square = document.createElement("i");
    square.style.background = `var(${useColour(use)})`;
    item.append(square, use === 3 ? "large object" : useName(use));
    return item;
  });
  const note = { use: "", occupancy: "deeper: more closures in the blocks", age: "deeper: older, to ten collections", holes: "deeper: more holes, to eight" }[shown];
  byId("legend").replaceChildren(...parts, ...(note ? [note] : []));
}

// The current map and tile in the page's address, so that they can be bookmarked and sent. A map is
// named as for --at: the number of its collection, or its marker.
const nameOf = ({ moment }) => moment.marker ?? String(moment.collection);
function placeOf(name) {
  // A number means a collection, as for --at.
  const isNumber = /^\d+$/.test(name);
  const place = frames.findIndex(({ moment }) =>
    isNumber ? moment.marker === null && moment.collection === Number(name) : moment.marker === name);
  if (place >= 0 || !isNumber) return place;
  // In a long run not every collection has a map: take the next one that has.
  const next = frames.findIndex(({ moment }) => moment.marker === null && moment.collection > Number(name));
  return next < 0 ? frames.length - 1 : next;
}
const fragment = () => `#map=${encodeURIComponent(nameOf(frame()))}&show=${shown}${held === undefined ? "" : `&tile=${held}`}`;
let remembered;
function remember() {
  clearTimeout(remembered);
  remembered = setTimeout(() => history.replaceState(null, "", fragment()), 300);
}
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
function recall() {
  const part = name => (new RegExp(`[#&]${name}=([^&]*)`).exec(location.hash) || [])[1];
  if (["use", "occupancy", "age", "holes"].includes(part("show"))) shown = part("show");
  byId("shown").value = shown;
  if (Number(part("tile")) < tileCount) held = Number(part("tile"));
  const place = part("map") === undefined ? -1 : placeOf(decoded(part("map")));
  go(place < 0 ? data.open : place);
}

byId("slider").max = frames.length - 1;
readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
addEventListener("resize", draw);
legend();
recall();
