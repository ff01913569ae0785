// Drives the page of `gclab heap analyse --html` and puts its findings into the title. `expected` is
// the same analysis by `--json`.
addEventListener("load", () => {
  const wrong = [];
  const check = (holds, words) => { if (!holds) wrong.push(words); };
  const press = key => pane.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const cells = table => [...byId(table).tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent));

  check(document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth - innerWidth} px too wide`);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  check(new Set(ids).size === ids.length, "an id stands twice");

  // The numbers are the other command's.
  check(data.bytes === expected.reached_size && places[0].bytes === data.bytes, "the whole heap");
  check(cells("suspects").length === expected.suspects.length, "other suspects");
  const named = new Map(data.classes.map(line => [line[data.largest], line]));
  for (const { type, retained_size, shallow_size, count } of expected.classes.filter(({ type }) => type !== "synthetic").slice(0, 20)) {
    check([...named.values()].some(line => line[1] === retained_size && line[2] === shallow_size && line[3] === count), `no class ${type} of ${retained_size} bytes`);
  }
  for (const { id, name, type, self_size, retained_size } of expected.retained) {
    const object = objects.get(id);
    if (type !== "synthetic") check(object?.bytes === self_size && object?.retained === retained_size, `object ${name} @${id}`);
  }
  // Everything below a place fits into it, and is where it should be.
  places.forEach((place, at) => check(place.bytes >= place.below.reduce((sum, one) => sum + places[one].bytes, 0) && place.above <= at, `place ${at}`));

  // Keys select and zoom; a selected place shows its largest object, whose path starts at the root.
  drawNow();
  check(bars.length > 1 && canvas.height > ROW, "nothing is drawn");
  pane.focus();
  press("ArrowDown");
  check(chosen === places[0].below[0], "arrow down");
  check(objects.get(places[chosen].largest)?.path.at(-1).id === places[chosen].largest, "the path does not end at the object");
  // An object without details does not show those of another.
  show(1e15, "Other");
  check(byId("object").textContent === "Other @1000000000000000" && byId("path").closest(".wide").hidden, "details of another object");
  press("ArrowDown");
  press("ArrowUp");
  check(byId("object").textContent.includes(`@${places[chosen].largest}`) && !byId("path").closest(".wide").hidden, "no details");
  // Elsewhere, keys scroll.
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  check(chosen === places[0].below[0], "keys outside of the picture");
  press("Enter");
  check(top_ === chosen && chosen !== 0, "enter zooms");
  press("Escape");
  check(top_ === 0, "escape zooms out");
  const box = canvas.getBoundingClientRect(), bar = bars.find(one => one.level === 1);
  canvas.dispatchEvent(new MouseEvent("click", { clientX: box.left + bar.left + 1, clientY: box.top + 1.5 * ROW, bubbles: true }));
  check(chosen === bar.at, "a click chooses a bar");

  // Every object behind a button opens.
  byId("suspects").querySelector("button")?.click();
  check(byId("object").textContent.includes(`@${expected.suspects[0]?.id ?? ""}`), byId("object").textContent);
  check(cells("path").length > 0, "no path");

  // Search and sorting.
  const first = text(data.classes[0][0]);
  byId("search").value = first;
  byId("search").dispatchEvent(new Event("input"));
  check(cells("classes").every(([name]) => name.toLowerCase().includes(first.toLowerCase())) && cells("classes").length > 0, "the search finds other classes");
  byId("search").value = "";
  byId("search").dispatchEvent(new Event("input"));
  const heads = [...byId("classes").tHead.querySelectorAll("button")];
  heads.forEach((button, at) => {
    button.click();
    const order = byId("classes").tHead.rows[0].cells[at].getAttribute("aria-sort");
    check(order === (at > 0 ? "descending" : "ascending") || at === 1, `column ${at} says ${order}`);
  });
  heads[1].click();
  document.title = wrong.length ? `WRONG: ${wrong.slice(0, 5).join("; ")}` : "RIGHT";
});
