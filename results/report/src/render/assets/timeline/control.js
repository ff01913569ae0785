// The view, the selection and their figures; keys, pointer and buttons.
let pointer, drawn = false;
const NARROWEST = Math.min(log.length, Math.max(200, 16 * log.step));

// Draws once before the next frame.
let due = { all: true, overlay: true };
function draw(all = true) {
  due.all = due.all || all;
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    if (due.all) drawAll();
    due.all = false;
    drawOverlay(pointer);
  });
}

function show(from, to) {
  const span = Math.min(log.length, Math.max(NARROWEST, to - from));
  view.from = Math.min(Math.max(0, from), log.length - span);
  view.to = view.from + span;
  remember();
  draw();
}
const middle = () => pointer !== undefined && pointer >= LEFT && pointer <= LEFT + plotWidth() ? momentAt(pointer) : (view.from + view.to) / 2;
function zoom(factor, around = middle()) {
  const span = Math.min(log.length, Math.max(NARROWEST, spanOf() * factor)), share = (around - view.from) / spanOf();
  show(around - share * span, around + (1 - share) * span);
}
const pan = share => show(view.from + share * spanOf(), view.to + share * spanOf());

function select(from, to, quiet) {
  [selection.from, selection.to] = [toStep(Math.min(from, to)), toStep(Math.max(from, to))];
  remember();
  draw(false);
  tell(quiet);
}
const clear = () => select(0, 0);
// Everything without a name means the whole run.
const interval = () => hasSelection() ? [selection.from, selection.to] : [0, log.length];

function fit() {
  if (!hasSelection()) return;
  const margin = (selection.to - selection.from) * .05;
  show(selection.from - margin, selection.to + margin);
}

// Selects the next pause, or the one before, and brings it into view.
function pauseFrom(direction) {
  const at = hasSelection() ? selection.from : direction > 0 ? view.from - 1 : view.to;
  const begin = pause => Math.floor(pause.from / log.step) * log.step;
  const fitting = pauses.filter(pause => direction > 0 ? begin(pause) > at : begin(pause) < at);
  const found = direction > 0 ? fitting[0] : fitting[fitting.length - 1];
  if (found) goTo(found);
}
function goTo(pause) {
  select(pause.from - log.step / 2 + .5, pause.to + log.step / 2 - .5);
  if (selection.from < view.from || selection.to > view.to) {
    const half = spanOf() / 2, centre = (pause.from + pause.to) / 2;
    show(centre - half, centre + half);
  }
}

const actions = {
  in: () => zoom(1 / 1.6), out: () => zoom(1.6), left: () => pan(-.2), right: () => pan(.2),
  all: () => show(0, log.length), fit, clear, next: () => pauseFrom(1), before: () => pauseFrom(-1),
  begin: () => show(0, spanOf()), end: () => show(log.length - spanOf(), log.length),
  from: () => select(middle(), hasSelection() && selection.to > middle() ? selection.to : view.to),
  to: () => select(hasSelection() && selection.from < middle() ? selection.from : view.from, middle()),
};
const KEYS = { w: "in", "+": "in", "=": "in", s: "out", "-": "out", "−": "out", a: "left", ArrowLeft: "left", d: "right", ArrowRight: "right",
  Home: "begin", End: "end", 0: "all", f: "fit", Escape: "clear", n: "next", p: "before", "[": "from", "]": "to" };

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.shiftKey && event.key.startsWith("Arrow") && /Left|Right/.test(event.key)) {
    const step = Math.max(log.step, spanOf() / 50) * (event.key === "ArrowLeft" ? -1 : 1);
    const from = hasSelection() ? selection.from : middle();
    select(from, Math.max(from, (hasSelection() ? selection.to : from) + step));
    event.preventDefault();
    return;
  }
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  actions[action]();
});
document.querySelector(".tools").addEventListener("click", event => {
  const action = event.target.dataset.do;
  pointer = undefined;
  if (action) actions[action]();
});

// The pointer: a drag selects, with Shift it moves the view; in the overview it moves the view there.
let drag;
const xOfEvent = event => event.clientX - panes.getBoundingClientRect().left;
const inOverview = event => event.target === byId("overview");
const centreOn = x => {
  const centre = (x - LEFT) / plotWidth() * log.length;
  show(centre - spanOf() / 2, centre + spanOf() / 2);
};
panes.addEventListener("pointerdown", event => {
  if (event.button > 1) return;
  const x = xOfEvent(event);
  drag = { x, from: view.from, moment: momentAt(x), kind: inOverview(event) ? "overview" : event.shiftKey || event.button === 1 ? "pan" : "select" };
  panes.setPointerCapture(event.pointerId);
  if (drag.kind === "overview") centreOn(x);
});
panes.addEventListener("pointermove", event => {
  const x = pointer = xOfEvent(event);
  if (!drag) {
    read(event);
    draw(false);
  } else if (drag.kind === "overview") centreOn(x);
  else if (drag.kind === "pan") {
    const from = drag.from - (x - drag.x) / plotWidth() * spanOf();
    show(from, from + spanOf());
  } else if (Math.abs(x - drag.x) > 3) {
    drag.moved = true;
    select(drag.moment, momentAt(Math.min(Math.max(x, LEFT), LEFT + plotWidth())), true);
  }
});
panes.addEventListener("pointerup", () => {
  if (drag && drag.kind === "select") drag.moved ? tell() : clear();
  drag = undefined;
});
panes.addEventListener("pointercancel", () => drag = undefined);
panes.addEventListener("pointerleave", () => { pointer = undefined; byId("readout").textContent = "\u00a0"; draw(false); });
panes.addEventListener("dblclick", event => {
  if (inOverview(event)) return actions.all();
  const at = momentAt(xOfEvent(event)), near = spanOf() / plotWidth() * 3;
  const found = pauses.find(pause => pause.from - near <= at && at <= pause.to + near);
  if (found) goTo(found);
});
panes.addEventListener("wheel", event => {
  const [along, down] = [event.deltaX || (event.shiftKey ? event.deltaY : 0), event.deltaY];
  if (event.ctrlKey) zoom(1.0025 ** down, momentAt(xOfEvent(event)));
  else if (along) pan(along / plotWidth());
  else return;
  event.preventDefault();
}, { passive: false });

// The line about what is under the pointer.
function read(event) {
  const x = xOfEvent(event), at = Math.floor(momentAt(x));
  if (x < LEFT || x > LEFT + plotWidth() || at >= log.length) return;
  const words = [momentText(at, spanOf() / plotWidth())], y = event.clientY - byId("lanes").getBoundingClientRect().top;
  lanes.forEach((lane, place) => {
    if (lanes.length > 4 && !(y >= laneTop(place) && y < laneTop(place + 1))) return;
    const piece = upTo(lane.ends, at), state = onlyState(lane, piece), from = piece > 0 ? lane.ends[piece - 1] : 0;
    const length = lengthText(lane.ends[piece] - from);
    words.push(`cap ${log.caps[place]}: ${state === undefined ? "several states in" : NAMES[state]} ${length}`);
  });
  concurrent.forEach((all, which) => {
    const one = all.find(({ from, to }) => from <= at && at < to);
    if (one) words.push(`${CONCURRENT[which][1]} ${lengthText(one.total)}`);
  });
  for (const [series, name] of [[size, "heap"], [live, "live"]]) {
    const place = upTo(series.at, at) - 1;
    if (place >= 0) words.push(`${name} ${bytesText(series.last[place])}`);
  }
  const near = spanOf() / plotWidth() * 4;
  const mark = marks.find(mark => Math.abs(mark.at - at) <= near);
  if (mark) words.push(`${mark.isMarker ? "marker" : "message"}: ${mark.text}`);
  byId("readout").textContent = words.join(" · ");
}

// The view in the page's address, so that it can be bookmarked and sent. Not while it moves.
let remembered;
function remember() {
  clearTimeout(remembered);
  remembered = setTimeout(() => {
    const parts = [`view=${Math.round(view.from)}-${Math.round(view.to)}`];
    if (hasSelection()) parts.push(`select=${selection.from}-${selection.to}`);
    history.replaceState(null, "", `#${parts.join("&")}`);
  }, 300);
}
function recall() {
  const part = name => (new RegExp(`${name}=(\\d+)-(\\d+)`).exec(location.hash) || []).slice(1).map(Number);
  const [from, to] = part("view"), [first, last] = part("select");
  if (to > from) show(from, to);
  if (last > first) select(first, last);
}
