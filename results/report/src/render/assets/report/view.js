// The view: which series are shown, the vertical scales, and the colours of the page.
const styleSheet = document.head.appendChild(make("style"));
const ruled = new Set();

// Legend entries become buttons that hide and show a series in all sections at once.
document.querySelectorAll(".legend [data-s]").forEach(entry => {
  const button = make("button", { type: "button", title: "Hide or show" }, ...entry.childNodes);
  button.dataset.s = entry.dataset.s;
  button.setAttribute("aria-pressed", "true");
  button.addEventListener("click", () => toggle(button));
  entry.replaceWith(button);
});

const toggle = button => {
  const pressed = button.getAttribute("aria-pressed") === "true", article = button.closest("article");
  for (const other of article.querySelectorAll(".legend button")) {
    if (other.textContent !== button.textContent) continue;
    other.setAttribute("aria-pressed", String(!pressed));
    const section = other.closest("section"), style = other.dataset.s;
    section.hiddenStyles ??= new Set();
    section.hiddenStyles[pressed ? "add" : "delete"](style);
    section.classList.toggle(`hide-${style}`, pressed);
    if (!ruled.has(style)) {
      ruled.add(style);
      styleSheet.sheet.insertRule(`.hide-${style} svg.chart > g[data-s="${style}"] { display: none; }`);
    }
  }
};

const rescale = wanted => allCharts.forEach(svg => redraw(svg, wanted === "drawn" ? chartOf.get(svg).drawn : wanted === "log"));

const choice = (label, name, options, act) => {
  const select = make("select", { name, onchange: () => act(select.value) }, ...options.map(([value, textContent]) => make("option", { value, textContent })));
  return make("label", {}, `${label} `, select);
};

const recolour = theme => {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // Pages from files may not have storage.
  try { localStorage.setItem("gclab-theme", theme); } catch { /* The choice lasts for this visit. */ }
};

const scales = choice("Vertical scale", "scale", [["drawn", "as drawn"], ["linear", "linear"], ["log", "logarithmic"]], rescale);
const themes = choice("Colours", "theme", [["system", "of the system"], ["light", "light"], ["dark", "dark"]], recolour);
const view = make("div", { className: "view" }, themes);
view.setAttribute("role", "group");
view.setAttribute("aria-label", "View");
if (allCharts.some(svg => chartOf.get(svg).both)) view.prepend(scales);
document.querySelector("footer").before(view);

// A link to a folded section opens it.
const unfold = () => document.getElementById(location.hash.slice(1))?.querySelector(":scope > details")?.setAttribute("open", "");
addEventListener("hashchange", unfold);
unfold();
try {
  const theme = localStorage.getItem("gclab-theme");
  if (["light", "dark"].includes(theme)) { themes.querySelector("select").value = theme; recolour(theme); }
} catch { /* As above. */ }

// Paper is white.
let theme;
addEventListener("beforeprint", () => { theme = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "light"; });
addEventListener("afterprint", () => { if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme; });
