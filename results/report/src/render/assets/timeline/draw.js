// Pictures of the view: the whole run on top, then the lanes, the heap, and the heap profile.
const LEFT = 76, RIGHT = 12, AXIS = 22, MARKS = marks.length ? 20 : 2;
const byId = id => document.getElementById(id);
const panes = byId("panes");
const view = { from: 0, to: log.length };
const selection = { from: 0, to: 0 };
const hasSelection = () => selection.to > selection.from;

const STATE_COLOURS = ["--idle", "--mutator", "--waiting", "--gc-idle", "--gen0", "--gen1", "--older", "--unknown", "--finishing"];
// Without thread events the mutator cannot be told from idle time.
const SHORT = [log.threads ? "idle" : "not in a collection", "mutator", log.caps.length > 1 ? "waiting" : "stopping", "GC idle", "gen 0", "gen 1", "gen 2+", "GC", log.profile ? "census" : "finishing"];
// States from the bottom of a lane to its top, where it is drawn as shares. Idle time is the ground.
const STACK = [MUTATOR, GEN0, GEN1, OLDER, UNKNOWN, GC_IDLE, FINISHING, WAITING];
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let colours = {};
function readColours() {
  const all = ["--ink", "--soft", "--line", "--paper", "--size", "--live", "--select", ...SPARK_COLOURS, ...STATE_COLOURS, ...bandColours()];
  colours = Object.fromEntries(all.map(name => [name, name.startsWith("#") ? name : colour(name)]));
}

// As in gclab's other pictures of heap profiles: full colours, light ones, dark ones, grey for the rest.
function bandColours() {
  const list = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--t0", "--t1", "--t2", "--t3", "--t4", "--t5", "#4d3b78", "#6b6b00", "#803b1a"];
  return (log.profile ? log.profile.bands : []).map((_, band) =>
    log.profile.others > 0 && band === log.profile.bands.length - 1 ? "--s6" : list[band % list.length]);
}

const spanOf = () => view.to - view.from;
const plotWidth = () => Math.max(50, panes.clientWidth - LEFT - RIGHT);
const xOf = moment => LEFT + (moment - view.from) / spanOf() * plotWidth();
const momentAt = x => view.from + (x - LEFT) / plotWidth() * spanOf();

// A canvas of the panes' width and a height in CSS pixels, cleared.
function prepare(canvas, height) {
  const ratio = devicePixelRatio || 1, width = panes.clientWidth;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    [canvas.width, canvas.height] = [wide, high];
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, 'Segoe UI', Roboto, sans-serif";
  pen.textBaseline = "middle";
  return pen;
}

function text(pen, words, x, y, align = "left", shade = "--soft") {
  pen.fillStyle = colours[shade];
  pen.textAlign = align;
  pen.fillText(words, x, y);
}

function rule(pen, x0, y0, x1, y1, shade = "--line") {
  pen.strokeStyle = colours[shade];
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(Math.round(x0) + .5, Math.round(y0) + .5);
  pen.lineTo(Math.round(x1) + .5, Math.round(y1) + .5);
  pen.stroke();
}

// A step of 1, 2 or 5 times a power of ten (or of two, for bytes), at least `least`.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map(times => times * power).find(step => step >= least);
}

function ticks(wide) {
  const step = roundStep(spanOf() / plotWidth() * wide), first = Math.ceil(view.from / step) * step, all = [];
  for (let at = first; at <= view.to && all.length < 1000; at += step) all.push(at);
  return { step, all };
}

const rgb = name => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  probe.fillStyle = colours[name];
  probe.fillRect(0, 0, 1, 1);
  return new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0];
};
let pixels = [];

// Some lanes as one, a column of device pixels at a time: the mean shares of their states in the column's time.
function lanesImage(some, start, span, wide, high) {
  const image = new ImageData(wide, high), data = new Uint32Array(image.data.buffer);
  const before = new Float64Array(STATES), after = new Float64Array(STATES), single = new Float64Array(STATES);
  const last = largest(some.map(lane => lane.ends[lane.ends.length - 1]));
  const sum = (moment, times) => {
    times.fill(0);
    for (const lane of some) {
      timesBefore(lane, moment, single);
      single.forEach((time, state) => times[state] += time);
    }
  };
  sum(start, before);
  for (let x = 0; x < wide; x++) {
    const from = start + span * x / wide, to = start + span * (x + 1) / wide;
    sum(to, after);
    if (from < last) {
      const scale = high / (to - from) / some.length;
      let row = high;
      for (const state of STACK) {
        const exact = (after[state] - before[state]) * scale;
        // A short collection gets a separate row, so that it can be seen in a long run.
        const least = state >= GEN0 && state <= UNKNOWN && exact > 0 ? 1 : 0;
        const rows = Math.min(row, Math.max(least, Math.round(exact)));
        for (const end = row - rows; row > end; row--) data[(row - 1) * wide + x] = pixels[state];
      }
      while (row > 0) data[--row * wide + x] = pixels[IDLE];
    }
    before.set(after);
  }
  return image;
}

// The height of a lane, and the top of each one.
const laneHeight = () => lanes.length <= 4 ? 34 : lanes.length <= 16 ? 24 : lanes.length <= 64 ? 16 : 9;
const laneTop = place => AXIS + MARKS + place * (laneHeight() + 4);
// Below them, what the collector does concurrently: marking, and sweeping.
const CONCURRENT = [["--older", "concurrent marking"], ["--finishing", "concurrent sweep"]];
const lanesHeight = () => laneTop(lanes.length) + 2 + (isConcurrent ? 14 : 0);

function drawLanes() {
  const pen = prepare(byId("lanes"), lanesHeight()), ratio = devicePixelRatio || 1, high = laneHeight();
  const { step, all } = ticks(95);
  for (const at of all) {
    rule(pen, xOf(at), AXIS - 5, xOf(at), lanesHeight());
    const label = momentText(at, step), half = pen.measureText(label).width / 2;
    text(pen, label, Math.min(Math.max(xOf(at), LEFT + half), panes.clientWidth - half), 9, "center");
  }
  drawMarks(pen);
  const every = high < 12 ? 4 : 1;
  lanes.forEach((lane, place) => {
    const y = laneTop(place);
    if (place % every === 0) text(pen, `cap ${log.caps[place]}`, LEFT - 8, y + high / 2, "right", "--ink");
    const image = lanesImage([lane], view.from, spanOf(), Math.round(plotWidth() * ratio), Math.round(high * ratio));
    pen.putImageData(image, Math.round(LEFT * ratio), Math.round(y * ratio));
    nameStates(pen, lane, y, high);
  });
  if (isConcurrent) drawConcurrent(pen, laneTop(lanes.length));
}

function drawConcurrent(pen, y) {
  text(pen, "concurrent", LEFT - 8, y + 5, "right", "--ink");
  concurrent.forEach((all, which) => {
    pen.fillStyle = colours[CONCURRENT[which][0]];
    for (const { from, to } of all) {
      if (to < view.from || from > view.to) continue;
      const left = xOf(Math.max(from, view.from));
      pen.fillRect(left, y, Math.max(1, xOf(Math.min(to, view.to)) - left), 10);
    }
  });
}

// The names of the states where they fit.
function nameStates(pen, lane, y, high) {
  if (high < 16) return;
  const first = upTo(lane.ends, view.from);
  pen.save();
  for (let place = first, named = 0; place < lane.ends.length && named < 300; place++, named++) {
    const from = place > 0 ? lane.ends[place - 1] : 0, to = lane.ends[place];
    if (from >= view.to) break;
    const left = Math.max(xOf(from), LEFT), right = Math.min(xOf(to), LEFT + plotWidth()), room = right - left - 10;
    if (room < 24) continue;
    const state = onlyState(lane, place);
    if (state === undefined || state === IDLE) continue;
    const name = SHORT[state];
    const label = [`${name} ${lengthText(to - from)}`, name].find(label => pen.measureText(label).width < room) || "";
    pen.fillStyle = inkOn(STATE_COLOURS[state]);
    pen.textAlign = "center";
    pen.fillText(label, (left + right) / 2, y + high / 2);
  }
  pen.restore();
}

// The state of a piece, if it has only one.
function onlyState(lane, place) {
  const states = STACK.concat(IDLE).filter(state => lane.sums[state][place + 1] > lane.sums[state][place]);
  return states.length === 1 ? states[0] : undefined;
}

// Black or white, whichever stands out from a colour.
function inkOn(name) {
  const [red, green, blue] = [0, 8, 16].map(shift => (rgbOf[name] >> shift & 255) / 255);
  return .21 * red ** 2.2 + .72 * green ** 2.2 + .07 * blue ** 2.2 > .18 ? "#000" : "#fff";
}
let rgbOf = {};

// If not all texts fit, markers' take precedence over messages'.
function drawMarks(pen) {
  const y = AXIS + MARKS / 2, taken = [], shown = marks.filter(({ at }) => at >= view.from && at <= view.to);
  for (const { at, isMarker, text: words } of shown.filter(mark => mark.isMarker).concat(shown.filter(mark => !mark.isMarker))) {
    const x = xOf(at);
    rule(pen, x, isMarker ? AXIS : y + 4, x, isMarker ? lanesHeight() : AXIS + MARKS, isMarker ? "--ink" : "--soft");
    const label = words.length > 40 ? `${words.slice(0, 39)}…` : words, end = x + 10 + pen.measureText(label).width;
    if (end > panes.clientWidth || taken.some(([from, to]) => from < end && x < to)) continue;
    text(pen, label, x + 4, y, "left", isMarker ? "--ink" : "--soft");
    taken.push([x, end]);
  }
}

// Lines of markers through a pane.
function markerLines(pen, high) {
  pen.setLineDash([3, 3]);
  for (const { at, isMarker } of marks) if (isMarker && at >= view.from && at <= view.to) rule(pen, xOf(at), 0, xOf(at), high, "--soft");
  pen.setLineDash([]);
}

// The background of a pane with a vertical scale, in bytes by default. Returns the height of a number.
function ground(pen, high, most, base = 1024, names = BYTES) {
  const power = powerOf(most, base, names), unit = base ** power;
  const step = unit * roundStepOf(most / unit / 4);
  const y = number => high - 8 - number / most * (high - 34);
  for (let number = 0; number <= most * 1.001; number += step) {
    rule(pen, LEFT, y(number), LEFT + plotWidth(), y(number));
    text(pen, number ? `${number / unit} ${names[power]}`.trim() : "0", LEFT - 8, y(number), "right");
  }
  return y;
}

// The title of a pane, above the lines that cross it.
function paneTitle(pen, words) {
  pen.fillStyle = colours["--paper"];
  pen.fillRect(LEFT, 4, pen.measureText(words).width + 6, 16);
  text(pen, words, LEFT, 12);
}
const roundStepOf = least => [.5, 1, 2, 5, 10, 20, 50, 100, 200].find(step => step >= least) || 500;

// A step line through the samples. If a column has several, the largest counts.
function stepLine(pen, series, y, shade, dots) {
  const first = Math.max(0, upTo(series.at, view.from) - 1), behind = upTo(series.at, view.to);
  if (behind <= first) return;
  pen.strokeStyle = pen.fillStyle = colours[shade];
  pen.lineWidth = 1.8;
  pen.beginPath();
  let [column, top, height] = [-Infinity, 0, y(series.last[first])];
  for (let place = first; place < behind; place++) {
    const x = Math.max(LEFT, xOf(series.at[place]));
    if (x > column + .5 || place === first) {
      if (place === first) pen.moveTo(x, y(series.last[place])); else pen.lineTo(x, height);
      [column, top] = [x, series.max[place]];
    }
    top = Math.max(top, series.max[place]);
    pen.lineTo(x, y(top));
    height = y(series.last[place]);
    pen.lineTo(x, height);
  }
  pen.lineTo(Math.min(LEFT + plotWidth(), xOf(log.length)), height);
  pen.stroke();
  if (!dots || behind - first > 150) return;
  for (let place = first; place < behind; place++) {
    const x = xOf(series.at[place]);
    if (x < LEFT) continue;
    pen.beginPath();
    pen.arc(x, y(series.max[place]), 3, 0, 7);
    pen.fill();
  }
}

const mostBytes = Math.max(largest(size.max), largest(live.max)) || 1;
const HEAP = 160, SPARKS = 110, SPARK_COLOURS = ["--s0", "--s1", "--s2", "--s3"], PROFILE = 230;

function drawHeap() {
  const pen = prepare(byId("heap"), HEAP);
  const y = ground(pen, HEAP, mostBytes);
  markerLines(pen, HEAP);
  stepLine(pen, size, y, "--size", false);
  stepLine(pen, live, y, "--live", true);
  paneTitle(pen, "heap size and live data");
}

// Sparks of all capabilities: a line for each of some counts, from the figures of columns of three pixels.
function drawSparks(id, title, whichs, figure) {
  const pen = prepare(byId(id), SPARKS), columns = Math.ceil(plotWidth() / 3), wide = spanOf() / columns;
  const lines = whichs.map(which => Array.from({ length: columns }, (_, column) => figure(which, view.from + column * wide, wide)));
  const y = ground(pen, SPARKS, largest(lines.map(largest)) || 1, 1000, ["", "k", "M", "G"]);
  markerLines(pen, SPARKS);
  lines.forEach((line, place) => {
    pen.strokeStyle = colours[SPARK_COLOURS[whichs[place]]];
    pen.lineWidth = 1.8;
    pen.beginPath();
    line.forEach((number, column) => pen.lineTo(xOf(view.from + (column + .5) * wide), y(number)));
    pen.stroke();
  });
  paneTitle(pen, title);
}

function drawAllSparks() {
  drawSparks("sparks", "sparks a second", [0, 1, 2], (which, from, wide) => (sparksAt(from + wide, which) - sparksAt(from, which)) / wide * 1e9);
  drawSparks("pools", "sparks in the pools", [3], (which, from, wide) => sparksAt(from + wide / 2, which));
}

const censusSums = log.profile ? log.profile.bytes.map(census => census.reduce((a, b) => a + b, 0)) : [];
function drawProfile() {
  const { at, bytes, bands } = log.profile, pen = prepare(byId("profile"), PROFILE);
  const y = ground(pen, PROFILE, largest(censusSums) || 1);
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, plotWidth(), PROFILE);
  pen.clip();
  const first = Math.max(0, upTo(at, view.from) - 1), last = Math.min(at.length - 1, upTo(at, view.to));
  // The largest band is on top, as hp2ps draws it.
  const base = at.map(() => 0);
  bandColours().map((shade, band) => [shade, band]).reverse().forEach(([shade, band]) => {
    pen.beginPath();
    for (let place = first; place <= last; place++) pen.lineTo(xOf(at[place]), y(base[place] + bytes[place][band]));
    for (let place = last; place >= first; place--) pen.lineTo(xOf(at[place]), y(base[place]));
    pen.fillStyle = colours[shade];
    pen.fill();
    for (let place = first; place <= last; place++) base[place] += bytes[place][band];
  });
  pen.restore();
  markerLines(pen, PROFILE);
  paneTitle(pen, "heap profile");
}

const OVERVIEW = 30;
// The picture of the whole run.
let wholeRun;

// All capabilities as one in the whole run, and the view in it.
function drawOverview() {
  const pen = prepare(byId("overview"), OVERVIEW), wide = plotWidth(), high = OVERVIEW - 8, ratio = devicePixelRatio || 1;
  const across = Math.round(wide * ratio);
  if (wholeRun?.width !== across) wholeRun = lanesImage(lanes, 0, log.length, across, Math.round(high * ratio));
  pen.putImageData(wholeRun, Math.round(LEFT * ratio), 0);
  const [left, right] = [view.from, view.to].map(moment => LEFT + moment / log.length * wide);
  pen.fillStyle = colours["--paper"];
  pen.globalAlpha = .6;
  pen.fillRect(LEFT, 0, left - LEFT, high);
  pen.fillRect(right, 0, LEFT + wide - right, high);
  pen.globalAlpha = 1;
  pen.strokeStyle = colours["--ink"];
  pen.strokeRect(left + .5, .5, Math.max(2, right - left - 1), high - 1);
  text(pen, "whole run", LEFT - 8, high / 2, "right");
}

// The selection and the pointer, above everything.
function drawOverlay(pointer) {
  const high = panes.clientHeight, pen = prepare(byId("overlay"), high);
  byId("overlay").style.height = "100%";
  if (hasSelection()) {
    const left = Math.max(LEFT, xOf(selection.from)), right = Math.min(LEFT + plotWidth(), xOf(selection.to));
    if (right >= LEFT && left <= LEFT + plotWidth()) {
      pen.fillStyle = colours["--select"];
      pen.globalAlpha = .16;
      pen.fillRect(left, OVERVIEW, Math.max(1, right - left), high - OVERVIEW);
      pen.globalAlpha = 1;
      for (const x of [left, Math.max(left + 1, right)]) rule(pen, x, OVERVIEW, x, high, "--select");
    }
  }
  if (pointer !== undefined && pointer >= LEFT && pointer <= LEFT + plotWidth()) rule(pen, pointer, OVERVIEW, pointer, high, "--ink");
}

function drawAll() {
  drawOverview();
  if (lanes.length) drawLanes();
  if (size.at.length || live.at.length) drawHeap();
  if (hasSparks) drawAllSparks();
  if (log.profile) drawProfile();
}

function readAllColours() {
  readColours();
  pixels = STATE_COLOURS.map(rgb);
  wholeRun = undefined;
  rgbOf = Object.fromEntries(STATE_COLOURS.map((name, state) => [name, pixels[state]]));
}
