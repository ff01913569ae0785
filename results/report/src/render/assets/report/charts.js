// Charts: a box has the data of its charts beside them. The mark nearest to the pointer, or selected
// with the arrow keys, shows its runs; a click or Enter opens them.
const NEAR = 16;
const tip = make("div", { className: "tip", role: "status", hidden: true });
const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
ring.setAttribute("class", "ring");
ring.setAttribute("r", "7");
document.body.append(tip);

const chartOf = new WeakMap();
const round = number => Math.round(number * 10) / 10;

// The pixel of a value on the vertical axis; values beyond the axis are at its end.
const upOf = (chart, value) => {
  const { low, high, log, top, base } = chart, at = Math.max(low, Math.min(high, value));
  const share = log ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low);
  return round(base + share * (top - base));
};

// The marks of each series, in the order of the chart: { x, y, tip, run or cells }.
const marksOf = svg => {
  const chart = chartOf.get(svg), hidden = svg.closest("section").hiddenStyles;
  chart.marks ??= chart.series.map(series => ({ style: String(series.s), marks: series.points.filter(point => point.t || "n" in point)
    .map(point => ({ x: point.x, y: point.y === null ? chart.top - 7.5 : upOf(chart, point.y), tip: point.t ?? "", run: point.n, cells: point.c })) }));
  return chart.marks.filter(one => one.marks.length && !hidden?.has(one.style)).map(one => one.marks);
};

const show = (svg, mark) => {
  const data = runsOf(svg), rows = rowsOf(data, mark);
  tip.replaceChildren();
  if (mark.tip) tip.append(make("strong", { textContent: mark.tip }));
  if (rows.length) tip.append(make("span", { textContent: inWords(data, rows) }), make("em", { textContent: "Click or press Enter for the command" }));
  tip.hidden = false;
  ring.setAttribute("cx", mark.x);
  ring.setAttribute("cy", mark.y);
  svg.append(ring);
  const at = new DOMPoint(mark.x, mark.y).matrixTransform(svg.getScreenCTM());
  tip.style.left = `${Math.max(4, Math.min(at.x + 12, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${at.y + 14 + tip.offsetHeight > innerHeight ? Math.max(4, at.y - tip.offsetHeight - 12) : at.y + 14}px`;
  svg.mark = mark;
};

const hide = svg => {
  tip.hidden = true;
  ring.remove();
  svg.mark = undefined;
};

const open = svg => {
  const data = runsOf(svg), rows = svg.mark ? rowsOf(data, svg.mark) : [];
  if (rows.length) showRuns(data, svg.mark.tip || `Run ${svg.mark.run}`, rows);
};

const nearest = (svg, event) => {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let best, least = NEAR * NEAR;
  for (const marks of marksOf(svg)) for (const mark of marks) {
    const away = (mark.x - point.x) ** 2 + (mark.y - point.y) ** 2;
    if (away < least) [best, least] = [mark, away];
  }
  return best;
};

// The mark after a key. Left and right stay in a series; up and down change it.
const moved = (svg, key) => {
  const all = marksOf(svg);
  if (!all.length) return undefined;
  let series = all.findIndex(marks => marks.includes(svg.mark));
  if (series < 0) return all[0][0];
  const at = all[series].indexOf(svg.mark), last = all[series].length - 1;
  const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[key];
  if (step !== undefined) return all[series][Math.max(0, Math.min(last, step))];
  series = (series + (key === "ArrowDown" ? 1 : all.length - 1)) % all.length;
  return all[series].reduce((a, b) => Math.abs(b.x - svg.mark.x) < Math.abs(a.x - svg.mark.x) ? b : a);
};

const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];

const enliven = (svg, chart) => {
  chartOf.set(svg, { ...chart, drawn: chart.log });
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "chart");
  svg.setAttribute("aria-label", `${svg.querySelector("title").textContent}. Arrow keys move between marks, Enter shows the runs and the command.`);
  // The browser's own tip would cover the page's.
  svg.addEventListener("pointerenter", () => svg.querySelector(":scope > title")?.remove());
  svg.addEventListener("pointermove", event => {
    const mark = nearest(svg, event);
    if (mark && mark !== svg.mark) show(svg, mark);
    else if (!mark) hide(svg);
  });
  svg.addEventListener("pointerleave", () => hide(svg));
  svg.addEventListener("blur", () => hide(svg));
  svg.addEventListener("click", event => { const mark = nearest(svg, event); if (mark) { show(svg, mark); open(svg); } });
  svg.addEventListener("keydown", event => {
    if (MOVES.includes(event.key)) { const mark = moved(svg, event.key); if (mark) show(svg, mark); }
    else if (event.key === "Enter" || event.key === " ") open(svg);
    else if (event.key === "Escape") hide(svg);
    else return;
    event.preventDefault();
  });
};

const allCharts = [...document.querySelectorAll(".charts > script")].flatMap(script => {
  const all = JSON.parse(script.textContent), drawn = [...script.parentElement.querySelectorAll("svg.chart")];
  drawn.forEach((svg, at) => enliven(svg, all[at]));
  return drawn;
});
addEventListener("scroll", () => { if (!tip.hidden) { tip.hidden = true; ring.remove(); } }, { passive: true });

// Ticks that enclose the values of a chart.
const ticksOf = (chart, log) => {
  const values = chart.series.flatMap(series => series.points).flatMap(point => [point.y, ...(point.e ?? [])]).filter(value => value > 0);
  const most = values.reduce((a, b) => Math.max(a, b), 0), least = values.reduce((a, b) => Math.min(a, b), Infinity);
  if (log) {
    const first = Math.floor(Math.log10(least)), last = Math.ceil(Math.log10(most) + 1e-9);
    const all = Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
    const fine = all.flatMap(power => [power, 2 * power, 5 * power]);
    const from = fine.findLastIndex(tick => tick <= least * (1 + 1e-9)), to = fine.findIndex(tick => tick >= most * (1 - 1e-9));
    return to - from < 7 && to >= from ? fine.slice(from, Math.max(to, from + 1) + 1) : all;
  }
  const power = 10 ** Math.floor(Math.log10(most / 5)), step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= most / 5 * (1 - 1e-9));
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
};

// As in style.rs.
const SHAPES = [
  [[-3.1, -3.1], [3.1, -3.1], [3.1, 3.1], [-3.1, 3.1]],
  [[0, -4.2], [4, 3], [-4, 3]],
  [[0, -4.4], [4.4, 0], [0, 4.4], [-4.4, 0]],
  [[-1.4, -4.2], [1.4, -4.2], [1.4, -1.4], [4.2, -1.4], [4.2, 1.4], [1.4, 1.4], [1.4, 4.2], [-1.4, 4.2], [-1.4, 1.4], [-4.2, 1.4], [-4.2, -1.4], [-1.4, -1.4]],
  [[0, 4.2], [4, -3], [-4, -3]],
  [[-4.2, -3.6], [0, -0.8], [4.2, -3.6], [4.2, 3.6], [0, 0.8], [-4.2, 3.6]],
  [[0, -5], [1.2, -1.6], [4.8, -1.5], [1.9, 0.6], [2.9, 4], [0, 2], [-2.9, 4], [-1.9, 0.6], [-4.8, -1.5], [-1.2, -1.6]]];
const markAt = (style, x, y, hollow) => {
  const name = hollow ? "m hollow" : "m", polygon = corners => `<polygon points="${corners.map(([dx, dy]) => `${round(x + dx)},${round(y + dy)}`).join(" ")}" class="${name}"/>`;
  const shape = style % 8, scale = 1.25 - .05 * shape;
  return shape ? polygon(SHAPES[shape - 1].map(([dx, dy]) => [dx * scale, dy * scale])) : `<circle cx="${x}" cy="${y}" r="${round(3.4 * scale)}" class="${name}"/>`;
};

// Redraws the vertical axis and the series with this scale.
const redraw = (svg, log) => {
  const chart = chartOf.get(svg);
  if (!chart.both || chart.log === log) return;
  const ticks = ticksOf(chart, log);
  Object.assign(chart, { log, low: ticks[0], high: ticks.at(-1), marks: undefined });
  const up = value => upOf(chart, value);
  svg.querySelector(":scope > g.y").innerHTML = ticks.map(tick => `<path class="grid" d="M${chart.left} ${up(tick)}H${chart.right}"/><text x="${chart.left - 6}" y="${up(tick) + 3.8}" class="end">${Number(tick.toPrecision(6))}</text>`).join("")
    + (log ? `<text x="${chart.right}" y="${chart.top - 5}" class="end">logarithmic</text>` : "");
  [...svg.querySelectorAll(":scope > g[data-s]")].forEach((group, at) => {
    const { s, points, marks, joined, steps } = chart.series[at], parts = [];
    const dots = points.flatMap(point => (point.r ?? []).map(value => `M${point.x} ${up(value)}h0`)).join("");
    if (dots) parts.push(`<path class="dots" d="${dots}"/>`);
    let stretch = [];
    const line = () => { if (stretch.length > 1) parts.push(`<polyline points="${stretch.join(" ")}" class="line"${s % 8 > 3 ? ` stroke-dasharray="5 3"` : ""}/>`); stretch = []; };
    points.forEach((point, index) => {
      if (point.y === null) return line();
      if (steps && stretch.length) stretch.push(`${point.x},${up(points[index - 1].y)}`);
      stretch.push(`${point.x},${up(point.y)}`);
    });
    if (joined) line();
    for (const { x, y, e, h } of marks ? points : []) {
      if (y === null) { const row = chart.top - 7.5; parts.push(`<path class="cross" d="M${x - 3.5} ${row - 3.5}L${x + 3.5} ${row + 3.5}M${x - 3.5} ${row + 3.5}L${x + 3.5} ${row - 3.5}"/>`); continue; }
      if (e) parts.push(`<path class="bar" d="M${x} ${up(e[0])}V${up(e[1])}"/>`);
      parts.push(markAt(s, x, up(y), h));
    }
    group.innerHTML = parts.join("");
  });
};
