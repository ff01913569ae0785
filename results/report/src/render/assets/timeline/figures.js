// The figures beside the picture, the tables below it, and the start of the page.
const row = (cells, tag = "td") => {
  const line = document.createElement("tr");
  for (const [place, cell] of cells.entries()) {
    const element = document.createElement(place === 0 && tag === "td" ? "th" : tag);
    if (element.tagName === "TH") element.scope = tag === "th" ? "col" : "row";
    if (place > 0) element.className = "n";
    element.append(cell);
    line.append(element);
  }
  return line;
};
const small = words => Object.assign(document.createElement("small"), { textContent: words });
function swatch(name) {
  const square = document.createElement("i");
  square.style.background = name.startsWith("#") ? name : `var(${name})`;
  return square;
}
function named(name, words) {
  const span = document.createElement("span");
  span.append(swatch(name), words);
  return span;
}

// Name, text and share of each figure.
function rowsOf(figures) {
  const total = figures.Total_elapsed_ns, rows = [];
  // For a damaged log, sums and maxima are lower bounds; shares and the mutator's time are approximate.
  const [least, near] = log.salvage ? ["> ", "~ "] : ["", ""];
  const add = (name, figure, text, share, kind, mark = least) => {
    if (figure !== undefined) rows.push([name, mark + text(figure), share ? near + shareText(figure, total) : "", kind]);
  };
  const number = count => count.toLocaleString("en");
  add(hasSelection() ? "length" : "length of the run", total, lengthText, false, undefined, hasSelection() ? "" : least);
  add("mutator", figures.MUT_elapsed_ns, lengthText, true, undefined, near);
  add("GC", figures.GC_elapsed_ns, lengthText, true);
  add("censuses and other looks at the heap", figures.looks_elapsed_ns, lengthText, true);
  add("collections", figures.num_GCs, number);
  add("longest pause", figures["pause.max_ns"], lengthText);
  add("allocated", figures.allocated_bytes, bytesText);
  if (figures.MUT_elapsed_ns > 0) add("allocated in a second of mutator time", figures.allocated_bytes / (figures.MUT_elapsed_ns / 1e9), bytesText, false, undefined, near);
  add("copied", figures.copied_bytes, bytesText);
  add("largest heap", figures.max_mem_in_use_bytes, bytesText);
  add("most live data", figures.max_live_bytes, bytesText);
  GENERATIONS.forEach((name, generation) => {
    const of = what => figures[`gen_${generation}.${what}`];
    if (!of("collections")) return;
    rows.push([name, "", "", "head"]);
    add("collections", of("collections"), number, false, "part");
    add("time", of("elapsed_ns"), lengthText, true, "part");
    add("longest pause", of("max_pause_ns"), lengthText, false, "part");
  });
  return rows;
}

// Shows the figures of the selection, or of the whole run.
function tell(quiet) {
  const [from, to] = interval(), figures = figuresOf(from, to);
  byId("what").textContent = hasSelection() ? "Selection" : "Whole run";
  const unit = log.length >= 1e9 ? [1e9, "s"] : log.length >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  for (const [id, moment] of [["from", from], ["to", to]]) byId(id).value = `${moment / unit[0]}${unit[1]}`;
  byId("wrong").textContent = "";
  // As in -s, the run may end before the last events of its log. The log's length is a nanosecond more than its last time.
  byId("extent").textContent = hasSelection() || log.end >= log.length - 1 ? ""
    : `The log goes on to ${momentText(log.length, 1)}. The run is as long as Total elapsed of -s: ${momentText(log.end, 1)}.`;
  byId("figures").tBodies[0].replaceChildren(...rowsOf(figures).map(([name, figure, share, kind]) => {
    const line = row([name, figure]);
    if (share) line.lastChild.append(small(share));
    if (kind) line.className = kind;
    return line;
  }));
  byId("figures").dataset.figures = JSON.stringify(figures);
  const path = log.path || "", file = /^[\w.\/-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  const bounds = hasSelection() ? ` --from ${from}ns` + (to < log.length ? ` --to ${to}ns` : "") : "";
  byId("command").textContent = log.path === null ? "" : `gclab events summary ${file}${log.salvage ? " --salvage" : ""}${bounds}`;
  tellCaps(from, to, figures);
  // During a drag, the rest can wait.
  if (quiet) return;
  tellLongest(from, to);
  const gc = figures.GC_elapsed_ns === undefined ? "" : `: ${figures.num_GCs} collections, GC ${lengthText(figures.GC_elapsed_ns)}, ${shareText(figures.GC_elapsed_ns, figures.Total_elapsed_ns)}`;
  byId("status").textContent = `${byId("what").textContent} from ${momentText(from, 1000)} to ${momentText(to, 1000)}${gc}`;
}

function tellLongest(from, to) {
  const longest = pause => pause.generations.reduce((most, some) => Math.max(most, some.max), 0);
  const found = pauses.filter(pause => pause.from >= from && pause.from < to).sort((a, b) => longest(b) - longest(a)).slice(0, 5);
  const list = document.createElement("ol");
  for (const pause of found) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: lengthText(longest(pause)) });
    button.title = `at ${momentText(pause.from, 1000)}`;
    button.addEventListener("click", () => {
      const span = Math.max(8 * (pause.to - pause.from), 64 * log.step), centre = (pause.from + pause.to) / 2;
      show(centre - span / 2, centre + span / 2);
    });
    list.append(document.createElement("li"));
    list.lastChild.append(button);
  }
  const heading = Object.assign(document.createElement("h3"), { textContent: "Longest pauses" });
  byId("longest").replaceChildren(...(found.length ? [heading, list] : []));
}

// States that occur at all.
const used = STACK.concat(IDLE).filter(state => lanes.some(lane => lane.sums[state][lane.ends.length] > 0)).sort((a, b) => a - b);

// The share of each state in the time of each capability.
function tellCaps(from, to, figures) {
  const table = byId("by-cap").querySelector("table"), before = new Float64Array(STATES), after = new Float64Array(STATES);
  table.tHead.replaceChildren(row(["capability", "allocated", ...used.map(state => named(STATE_COLOURS[state], SHORT[state]))], "th"));
  table.tBodies[0].replaceChildren(...lanes.map((lane, place) => {
    timesBefore(lane, from, before);
    timesBefore(lane, to, after);
    const bytes = figures[`cap_${log.caps[place]}.allocated_bytes`];
    const cells = used.map(state => {
      const time = Math.round(after[state] - before[state]), cell = document.createElement("span");
      cell.append(lengthText(time), " ", small(shareText(time, to - from)));
      return cell;
    });
    return row([`cap ${log.caps[place]}`, bytes === undefined ? "–" : (log.salvage ? "> " : "") + bytesText(bytes), ...cells]);
  }));
}

function tellBands() {
  const { bands, bytes, others, breakdown } = log.profile, colours = bandColours();
  const peak = censusSums.indexOf(largest(censusSums)), table = byId("bands").querySelector("table");
  byId("bands").querySelector("summary").textContent = `Heap profile${breakdown ? ` by ${breakdown}` : ""}: ${bytes.length} censuses`;
  table.tHead.replaceChildren(row(["band", "at most", "at", "in the largest census", "share"], "th"));
  table.tBodies[0].replaceChildren(...bands.map((band, place) => {
    const rest = others > 0 && place === bands.length - 1;
    const of = bytes.map(census => census[place]), most = of.indexOf(largest(of));
    const line = row([named(colours[place], rest ? `OTHER (${others} more bands)` : band), bytesText(of[most]), momentText(log.profile.at[most], 1000), bytesText(bytes[peak][place]), shareText(bytes[peak][place], censusSums[peak])]);
    line.firstChild.className = "full";
    return line;
  }));
}

function tellMarks() {
  const table = byId("marks").querySelector("table");
  byId("marks").querySelector("summary").textContent = `Markers and messages (${marks.reduce((sum, mark) => sum + mark.count, 0)})`;
  table.tHead.replaceChildren(row(["time", "text"], "th"));
  table.tBodies[0].replaceChildren(...marks.slice(0, 500).map(mark => row([momentText(mark.at, 1000), `${mark.isMarker ? "marker" : "message"}: ${mark.text}`])));
  table.querySelectorAll(".n").forEach(cell => cell.className = "full");
}

for (const id of ["from", "to"]) byId(id).addEventListener("change", () => {
  const [from, to] = ["from", "to"].map(id => momentOf(byId(id).value));
  const wrong = Number.isNaN(from) || Number.isNaN(to) ? "Expected a time of the run: 1.5s, 200ms, 30us or 1000ns"
    : to <= from ? "The end must be later than the begin" : from >= log.length ? `The log ends at ${momentText(log.length, 1)}` : "";
  if (wrong) { byId("wrong").textContent = wrong; return; }
  select(from, to);
  if (!hasSelection()) byId("wrong").textContent = `The shortest selection of this log is ${lengthText(log.step)}`;
});

// The legend has the states and lines that occur in the log.
function tellLegend() {
  const line = name => Object.assign(document.createElement("i"), { className: "line", style: `color: var(${name})` });
  const parts = used.map(state => named(STATE_COLOURS[state], NAMES[state]));
  CONCURRENT.forEach((shade, which) => { if (concurrent[which].length) parts.push(named(...shade)); });
  const lines = [[size.at.length, "--size", "heap size"], [live.at.length, "--live", "live data after major collections"],
    ...["created", "converted", "fizzled", "in pools"].map((name, which) => [hasSparks, SPARK_COLOURS[which], `sparks ${name}`])];
  for (const [has, shade, words] of lines) {
    if (!has) continue;
    const span = document.createElement("span");
    span.append(line(shade), words);
    parts.push(span);
  }
  byId("legend").replaceChildren(...parts);
}

function start() {
  byId("lanes").hidden = !lanes.length;
  byId("heap").hidden = !size.at.length && !live.at.length;
  byId("sparks").hidden = byId("pools").hidden = !hasSparks;
  byId("profile").hidden = byId("bands").hidden = !log.profile;
  byId("by-cap").hidden = !lanes.length;
  byId("marks").hidden = !marks.length;
  panes.setAttribute("aria-label", `Timeline of ${lanes.length} capabilities over ${lengthText(log.length)}. The figures are in the table beside it.`);
  readAllColours();
  tellLegend();
  if (log.profile) tellBands();
  if (marks.length) tellMarks();
  tell();
  recall();
  draw();
}
new ResizeObserver(() => draw()).observe(panes);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readAllColours(); draw(); });
addEventListener("hashchange", recall);
start();
