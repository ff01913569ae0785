// The runs behind a mark or a row: their figures, positions, outcomes and commands.
const NO_RUNS = { rows: 0, columns: [] };
const runsOf = element => element.closest("article").querySelector(".runs")?.longTable.data ?? NO_RUNS;
const columnNamed = (data, title) => data.columns.find(column => column.title === title);

// The rows of the runs behind a mark; empty if there are none.
const rowsOf = (data, mark) => {
  if (!data.byCell) {
    data.byCell = new Map();
    data.byPlace = new Map();
    for (let row = 0; row < data.rows; row++) {
      const cell = data.cells.text(row);
      if (!data.byCell.has(cell)) data.byCell.set(cell, []);
      data.byCell.get(cell).push(row);
      data.byPlace.set(Number(data.columns[0].text(row)), row);
    }
  }
  if (mark.run !== undefined) return data.byPlace.has(mark.run) ? [data.byPlace.get(mark.run)] : [];
  return (mark.cells ?? "").split(" ").flatMap(cell => data.byCell.get(cell) ?? []);
};

// The runs in a few words: the figures of a single run, or the number and outcomes of several.
const inWords = (data, rows) => {
  if (rows.length === 1) {
    const [row] = rows;
    return data.columns.slice(0, 14).map(column => column.right ? `${column.title}: ${column.text(row)}` : `${column.title} ${column.text(row)}`).join(" · ");
  }
  const outcomes = new Map(), outcome = columnNamed(data, "outcome");
  rows.forEach(row => outcomes.set(outcome.text(row), (outcomes.get(outcome.text(row)) ?? 0) + 1));
  const places = rows.map(row => Number(data.columns[0].text(row))), least = places.reduce((a, b) => Math.min(a, b)), most = places.reduce((a, b) => Math.max(a, b));
  return `${rows.length} runs: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(", ")}; places ${least} to ${most} in the order of runs`;
};

const dialog = make("dialog", { className: "of-runs" });
document.body.append(dialog);
dialog.addEventListener("click", event => event.target === dialog && dialog.close());

const copy = async (pre, button) => {
  try {
    await navigator.clipboard.writeText(pre.textContent);
  } catch {
    // A page from a file may not use the clipboard, but the text is selected.
    getSelection().selectAllChildren(pre);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
};

// Opens the runs: the command, the values that all share, and a table of the others.
const showRuns = (data, title, rows) => {
  const commands = [...new Set(rows.map(data.commands.text))].filter(command => command);
  const same = data.columns.filter(column => rows.every(row => column.text(row) === column.text(rows[0])));
  const other = data.columns.filter(column => !same.includes(column));
  const facts = make("dl", {}, ...same.flatMap(column => [make("div", {}, make("dt", { textContent: column.title }), make("dd", { textContent: column.text(rows[0]) }))]));
  const close = make("button", { type: "button", textContent: "Close", onclick: () => dialog.close() });
  const blocks = commands.slice(0, 12).flatMap(command => {
    const pre = make("pre", { textContent: command, tabIndex: 0 }), button = make("button", { type: "button", textContent: "Copy", className: "copy" });
    button.addEventListener("click", () => copy(pre, button));
    return [make("div", { className: "command" }, pre, button)];
  });
  dialog.replaceChildren(make("h2", { id: "of-runs", textContent: title }), make("p", { className: "note", textContent: rows.length > 1 ? inWords(data, rows) : "" }),
    make("h3", { textContent: commands.length > 1 ? "Commands" : "Command" }), ...blocks, facts);
  dialog.setAttribute("aria-labelledby", "of-runs");
  if (other.length && rows.length > 1) {
    const table = make("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    other.forEach(column => head.append(make("th", { scope: "col", className: column.right ? "n" : "", textContent: column.title })));
    for (const row of rows.slice(0, 500)) {
      const line = body.insertRow();
      other.forEach(column => line.append(make("td", { className: column.right ? "n" : "", textContent: column.text(row) })));
    }
    dialog.append(make("div", { className: "wide" }, table));
  }
  dialog.append(close);
  dialog.showModal();
};
