// Charts: the mark that is nearest to the pointer, or that the arrow keys chose, shows its runs; a
// click or Enter opens them. A mark is { element, x, y, tip, run or cells }.
const NEAR = 16;
const tip = make("div", { className: "tip", role: "status", hidden: true });
const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
ring.setAttribute("class", "ring");
ring.setAttribute("r", "7");
document.body.append(tip);

const marksOfChart = new WeakMap();

// The marks of each series, in the order of the chart.
const marksOf = svg => {
  if (!marksOfChart.has(svg)) {
    const series = [...svg.querySelectorAll(":scope > g[data-s]")].map(group => ({ style: group.dataset.s, marks: marksOfSeries(group) }));
    marksOfChart.set(svg, series.filter(one => one.marks.length));
  }
  const section = svg.closest("section");
  return marksOfChart.get(svg).filter(one => !section.hiddenStyles?.has(one.style)).map(one => one.marks);
};

const marksOfSeries = group => {
  const legend = group.closest("section").querySelector(`.legend [data-s="${group.dataset.s}"]`)?.textContent ?? "";
  const marks = [...group.querySelectorAll(":scope > g")].map(element => {
    const box = element.lastElementChild.getBBox();
    return { element, x: box.x + box.width / 2, y: box.y + box.height / 2, tip: element.querySelector("title")?.textContent ?? "", run: element.dataset.run, cells: element.dataset.cells };
  });
  for (const cloud of group.querySelectorAll("path[data-runs]")) {
    const places = cloud.getAttribute("d").split("M").slice(1), runs = cloud.dataset.runs.split(" ");
    places.forEach((place, at) => {
      const [x, y] = place.split(/[ h]/).map(Number);
      marks.push({ element: cloud, x, y, tip: "", run: runs[at] });
    });
  }
  for (const line of group.querySelectorAll("polyline[data-tips], :scope[data-run] > polyline")) {
    const tips = line.dataset.tips?.split("|") ?? [];
    if (!tips.length) continue;
    line.getAttribute("points").split(" ").forEach((place, at) => {
      const [x, y] = place.split(",").map(Number);
      marks.push({ element: line, x, y, tip: `${legend} ${tips[at]}`, run: group.dataset.run, cells: group.dataset.cells });
    });
  }
  return marks;
};

const show = (svg, mark) => {
  const rows = rowsOf(mark), data = runsOf(svg);
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
  const rows = svg.mark ? rowsOf(svg.mark) : [];
  if (rows.length) showRuns(runsOf(svg), svg.mark.tip || `Run ${svg.mark.run}`, rows);
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

const enliven = svg => {
  if (!svg.querySelector(":scope > g[data-s]")) return;
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "chart");
  svg.setAttribute("aria-label", `${svg.querySelector("title").textContent}. Arrow keys move between marks, Enter shows the runs and the command.`);
  // The browser's own tips would cover those of the page.
  svg.addEventListener("pointerenter", () => { marksOf(svg); svg.querySelectorAll("g > title").forEach(title => title.remove()); svg.querySelector(":scope > title")?.remove(); });
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
document.querySelectorAll("article svg.chart").forEach(enliven);
addEventListener("scroll", () => { if (!tip.hidden) { tip.hidden = true; ring.remove(); } }, { passive: true });
