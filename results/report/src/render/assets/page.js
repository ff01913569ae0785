// Sorts a table by the column whose button is pressed: by number if cells have one, otherwise by text.
document.querySelectorAll(":not(.long) > table.sortable th button").forEach(button => button.addEventListener("click", () => {
  const th = button.closest("th"), table = th.closest("table"), column = th.cellIndex;
  const up = th.getAttribute("aria-sort") !== "ascending";
  table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  th.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = row => { const cell = row.cells[column]; return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent; };
  const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  const rows = [...table.tBodies[0].rows].sort((a, b) => compare(key(a), key(b)) * (up ? 1 : -1));
  table.tBodies[0].append(...rows);
}));
// Nobody can click on paper: open everything.
let opened = [];
addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open])")]; opened.forEach(one => one.open = true); });
addEventListener("afterprint", () => opened.forEach(one => one.open = false));
