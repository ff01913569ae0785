// Long tables. Their data is beside them as compact JSON (render/html.rs); rows are made for one part
// at a time, so that a page with thousands of runs has few elements.
const PART = 100;

const columnOf = data => {
  const split = text => text === "" ? [] : text.split(" ");
  if ("figures" in data) {
    const texts = split(data.figures), number = row => parseFloat(texts[row]);
    return { ...data, text: row => texts[row], more: () => "", failed: () => false, folded: () => "",
      key: row => Number.isFinite(number(row)) ? number(row) : texts[row] };
  }
  const words = data.words.map(word => Array.isArray(word) ? word : [word, "", null, 0, ""]), at = split(data.at).map(Number);
  return { ...data, text: row => words[at[row]][0], more: row => words[at[row]][1], failed: row => words[at[row]][3] === 1, folded: row => words[at[row]][4],
    key: row => words[at[row]][2] ?? words[at[row]][0] };
};

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

class LongTable {
  constructor(box) {
    this.box = box;
    this.table = box.querySelector("table");
    this.isRuns = box.classList.contains("runs");
    this.from = 0;
    this.part = PART;
    this.table.querySelectorAll("th button").forEach(button => button.addEventListener("click", () => this.sort(button)));
    const details = box.closest("details");
    if (!details || details.open) this.draw();
    else details.addEventListener("toggle", () => this.bar || this.draw(), { once: true });
  }

  // The columns, and for the table of all runs the cells and commands. They are read at first use.
  get data() {
    if (!this.read) {
      const json = JSON.parse(this.box.querySelector("script").textContent);
      this.read = { rows: json.rows, columns: json.columns.map(columnOf) };
      for (const name of ["cells", "commands"]) if (json[name]) this.read[name] = columnOf(json[name]);
      this.order = Array.from({ length: json.rows }, (_, row) => row);
    }
    return this.read;
  }

  get found() {
    const words = (this.search?.value ?? "").toLowerCase().split(" ").filter(word => word);
    const { columns } = this.data;
    if (words.length === 0) return this.order;
    const named = columns.filter(column => !("figures" in column));
    this.texts ??= this.order.map(() => null);
    const textOf = row => this.texts[row] ??= named.map(column => `${column.text(row)} ${column.more(row)}`).join(" ").toLowerCase();
    return this.order.filter(row => words.every(word => textOf(row).includes(word)));
  }

  tools() {
    const button = (text, act) => make("button", { type: "button", textContent: text, onclick: act });
    this.search = make("input", { type: "search", oninput: () => { this.from = 0; this.draw(); } });
    this.back = button("Previous", () => { this.from -= this.part; this.draw(); });
    this.forth = button("Next", () => { this.from += this.part; this.draw(); });
    this.where = make("span", { role: "status" });
    this.bar = make("div", { className: "bar" }, make("label", {}, "Find ", this.search), this.back, this.forth, this.where);
    this.box.before(this.bar);
    this.bar.hidden = this.data.rows <= PART;
  }

  draw() {
    const { columns, rows } = this.data;
    if (!this.bar) this.tools();
    const found = this.found, end = Math.min(found.length, this.from + this.part);
    const body = make("tbody");
    for (const row of found.slice(this.from, end)) {
      const line = body.insertRow();
      columns.forEach((column, at) => this.fill(line.insertCell(), column, row, at));
    }
    this.table.tBodies[0].replaceWith(body);
    this.table.setAttribute("aria-rowcount", found.length + 1);
    this.back.disabled = this.from === 0;
    this.forth.disabled = end === found.length;
    const of = found.length < rows ? `${found.length} found of ${rows}` : `${rows}`;
    this.where.textContent = found.length ? `rows ${this.from + 1}–${end} of ${of}` : `none found of ${rows}`;
  }

  fill(cell, column, row, at) {
    const text = column.text(row), more = column.more(row);
    if (column.right) cell.className = "n";
    if (column.failed(row)) cell.dataset.failed = "";
    if (column.folded(row)) {
      cell.append(make("details", {}, make("summary", { textContent: text }), make("pre", { textContent: column.folded(row) })));
      return;
    }
    if (this.isRuns && at === 0) {
      cell.append(make("button", { type: "button", className: "run", textContent: text, title: "Show this run and its command",
        onclick: () => showRuns(this.data, `Run ${text}`, [row]) }));
      return;
    }
    cell.append(text);
    if (more) cell.append(make("small", { textContent: more }));
  }

  sort(button) {
    const th = button.closest("th"), up = th.getAttribute("aria-sort") !== "ascending", column = this.data.columns[th.cellIndex];
    this.table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
    this.order.sort((a, b) => compare(column.key(a), column.key(b)) * (up ? 1 : -1));
    this.from = 0;
    this.draw();
  }

  // Print all rows.
  all(yes) {
    [this.part, this.from] = [yes ? Infinity : PART, 0];
    this.draw();
  }
}

const longTables = [...document.querySelectorAll(".long")].map(box => box.longTable = new LongTable(box));
addEventListener("beforeprint", () => longTables.forEach(table => table.all(true)));
addEventListener("afterprint", () => longTables.forEach(table => table.all(false)));
