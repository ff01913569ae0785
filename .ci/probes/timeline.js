// Drives the page of `gclab events timeline` and puts its findings into the title. `expected` has
// intervals and their figures by `gclab events summary --json`.
addEventListener("load", () => {
  const wrong = [];
  const check = (holds, words) => { if (!holds) wrong.push(words); };
  const press = (key, more) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  const point = (type, x, more) => panes.dispatchEvent(new PointerEvent(type, { clientX: panes.getBoundingClientRect().left + x, clientY: panes.getBoundingClientRect().top + 60, bubbles: true, button: 0, pointerId: 1, ...more }));
  panes.setPointerCapture = () => {};

  check(document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth - innerWidth} px too wide`);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  check(new Set(ids).size === ids.length, "an id stands twice");

  // The numbers for the whole run and for typed intervals are the summary's.
  let compared = 0;
  for (const { from, to, figures } of expected) {
    if (from !== undefined) {
      byId("from").value = `${from}ns`;
      byId("to").value = `${to}ns`;
      byId("to").dispatchEvent(new Event("change"));
      check(selection.from === from && selection.to === to, `selected ${selection.from}-${selection.to}, not ${from}-${to}`);
    }
    const shown = JSON.parse(byId("figures").dataset.figures);
    for (const [name, figure] of Object.entries(shown)) {
      const rounded = name === "productivity_wall_percent" ? Number(figure.toFixed(6)) : figure;
      check(rounded === Number(figures[name]), `${name} from ${from} to ${to}: ${rounded}, the summary has ${figures[name]}`);
      compared++;
    }
  }
  check(compared > 15, `only ${compared} figures`);
  byId("from").value = "never";
  byId("from").dispatchEvent(new Event("change"));
  check(byId("wrong").textContent.startsWith("Expected a time"), "a wrong time has no message");

  // Keys zoom and move.
  press("Escape");
  check(!hasSelection() && byId("what").textContent === "Whole run", "Escape leaves a selection");
  check((byId("extent").textContent === "") === (log.end >= log.length - 1), "the page does not tell where the run and its log end");
  press("0");
  const whole = spanOf();
  check(whole === log.length, "0 does not show the whole run");
  press("w");
  check(spanOf() < whole && view.from > 0, "W does not zoom in");
  const [from, span] = [view.from, spanOf()];
  press("d");
  check(view.from > from && Math.abs(spanOf() - span) < 1, "D does not go right");
  press("ArrowLeft");
  check(Math.abs(view.from - from) < 2, "the left arrow does not go back");
  press("s");
  check(spanOf() === whole, "S does not zoom out");
  for (let times = 0; times < 80; times++) press("+");
  check(spanOf() >= NARROWEST && spanOf() < 2 * NARROWEST, `+ ends at ${spanOf()} ns`);
  press("End");
  check(view.to === log.length, "End is not the end");
  press("Home");
  check(view.from === 0, "Home is not the begin");
  press("0");

  // The pointer selects, the wheel zooms at the pointer.
  const all = plotWidth();
  point("pointerdown", LEFT + all / 4);
  point("pointermove", LEFT + all / 2);
  point("pointerup", LEFT + all / 2);
  check(Math.abs(selection.from - log.length / 4) <= log.length / all + log.step && Math.abs(selection.to - log.length / 2) <= log.length / all + log.step,
    `a drag selects ${selection.from}-${selection.to}`);
  check(byId("what").textContent === "Selection" && byId("command").textContent.includes(`--from ${selection.from}ns --to ${selection.to}ns`), "the selection is not told");
  press("f");
  check(view.from < selection.from && view.to > selection.to && spanOf() < 1.2 * (selection.to - selection.from), "F does not show the selection");
  press("0");
  panes.dispatchEvent(new WheelEvent("wheel", { deltaY: -300, ctrlKey: true, clientX: panes.getBoundingClientRect().left + LEFT, bubbles: true, cancelable: true }));
  check(spanOf() < whole && view.from === 0, "the wheel does not zoom at the pointer");
  press("0");
  press("Escape");
  press("n");
  check(selection.from <= pauses[0].from && selection.to >= pauses[0].to, "N does not select the first pause");
  check(JSON.parse(byId("figures").dataset.figures).num_GCs >= 1, "a selected pause has no collection");
  press("n");
  press("p");
  check(selection.from <= pauses[0].from, "P does not go back");

  // The picture has each state in the log, at its time.
  press("Escape");
  press("0");
  drawAll();
  const canvas = byId("lanes"), ratio = devicePixelRatio, high = Math.round(laneHeight() * ratio);
  lanes.forEach((lane, place) => {
    const image = canvas.getContext("2d").getImageData(Math.round(LEFT * ratio), Math.round(laneTop(place) * ratio), Math.round(plotWidth() * ratio), high);
    const seen = new Set(new Uint32Array(image.data.buffer));
    for (const state of used) {
      const time = lane.sums[state][lane.ends.length];
      if (time > log.length / 50) check(seen.has(pixels[state]), `cap ${log.caps[place]}: ${NAMES[state]} is not drawn`);
    }
  });

  // Drawing takes less than a frame of a slow screen.
  let slowest = 0;
  for (const share of [1, .3, .01]) {
    show(log.length * .4, log.length * (.4 + share * .6));
    const start = performance.now();
    drawAll();
    slowest = Math.max(slowest, performance.now() - start);
  }
  document.title = wrong.length ? `WRONG: ${wrong.join("; ")}` : `RIGHT: ${compared} figures`;
  console.log(`slowest picture ${slowest.toFixed(1)} ms`);
});
