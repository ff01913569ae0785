// Drives the page of `gclab inspect --html` and puts its findings into the title. `expected` is a
// map of the same run by `gclab inspect --json`.
addEventListener("load", () => {
  const wrong = [];
  const check = (holds, words) => { if (!holds) wrong.push(words); };
  const press = (key, more) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  const box = () => pane.getBoundingClientRect();
  const point = (type, x, y) => pane.dispatchEvent(new PointerEvent(type, { clientX: box().left + x, clientY: box().top + y, bubbles: true, button: 0, pointerId: 1 }));
  pane.setPointerCapture = () => {};

  check(document.documentElement.scrollWidth <= innerWidth, `${document.documentElement.scrollWidth - innerWidth} px too wide`);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  check(new Set(ids).size === ids.length, "an id stands twice");
  // The tables beside the picture do not need scroll bars.
  const tables = () => [...document.querySelectorAll("aside .wide")];
  if (innerWidth >= 1400) {
    frames.forEach(({ moment }, at) => {
      go(at);
      check(tables().every(table => table.scrollWidth <= table.clientWidth), `map ${moment.collection}: a table is cut off`);
    });
  }

  // In every map, tiles add up to the numbers beside the picture.
  const sum = column => column.reduce((a, b) => a + b, 0);
  for (const { tiles, rows, allocated, moment } of frames) {
    const at = `map ${moment.collection}`;
    check(sum(tiles.allocated) === allocated, `${at}: tiles have ${sum(tiles.allocated)} blocks in use, not ${allocated}`);
    check(sum(tiles.words) === sum(rows.map(row => row[5])), `${at}: the words of tiles and rows differ`);
    check(sum(tiles.closures) === sum(rows.map(row => row[4])), `${at}: the closures of tiles and rows differ`);
  }
  // One map equals the other command's.
  const place = frames.findIndex(frame => frame.moment.collection === expected.moment.collection);
  check(place >= 0, `no map of collection ${expected.moment.collection}`);
  go(place);
  check(frame().live === expected.totals.live && frame().slop === expected.totals.slop, "live data and slop are not those of --json");
  check(frame().moved[1] === expected.totals.moved, "the moved words are not those of --json");
  check(byId("title").textContent.match(`^Collection ${expected.moment.collection}, .* s after the start: generation .*, caused by allocation$`), byId("title").textContent);
  check(byId("rows").rows.length === expected.totals.rows.length + 1, "the table has other rows");

  // The page's address names the collection, and opens its map.
  check(fragment().startsWith(`#map=${expected.moment.collection}&`), fragment());
  location.hash = `#map=${expected.moment.collection}`;
  go(0);
  recall();
  check(current === place, `the address of collection ${expected.moment.collection} opens map ${current + 1}`);
  check(placeOf("no such marker") < 0 && placeOf("1000000") === frames.length - 1, "a map that is not there has a place");

  // Keys and the slider go from map to map.
  press("Home");
  check(current === 0, "Home is not the first map");
  press("n");
  check(current === 1 && byId("slider").value === "1", "N is not the next map");
  press("p");
  check(current === 0, "P is not the map before");
  press("p");
  check(current === 0, "before the first map there is one");
  press("End");
  check(current === frames.length - 1, "End is not the last map");
  byId("slider").value = place;
  byId("slider").dispatchEvent(new Event("input"));
  check(current === place, "the slider does not go to its map");
  press(" ");
  check(playing !== undefined && byId("play").textContent === "Stop", "Space does not play");
  press(" ");
  check(playing === undefined, "Space does not stop");
  go(place);

  // Keys and the wheel zoom, a drag moves the view.
  press("w");
  check(view.scale > 1, "W does not zoom in");
  press("0");
  check(view.scale === 1 && view.x === 0 && view.y === 0, "0 does not show the whole heap");
  pane.dispatchEvent(new WheelEvent("wheel", { deltaY: -900, clientX: box().left + LEFT + 100, clientY: box().top + 60, bubbles: true, cancelable: true }));
  check(view.scale > 2, "the wheel does not zoom");
  const before = view.x;
  press("ArrowRight");
  check(view.x > before, "the right arrow does not move the view");
  const moved = view.x;
  point("pointerdown", 300, 100);
  point("pointermove", 340, 100);
  point("pointerup", 340, 100);
  check(view.x < moved && held === undefined, "a drag does not move the view");
  press("0");

  // The pointer describes a tile; a click keeps it; keys move on.
  const tile = frame().tiles.allocated.findIndex(blocks => blocks > 0);
  point("pointermove", xOf(tile) + side() / 2, yOf(tile) + side() / 2);
  check(hovered === tile, `the pointer is on tile ${hovered}, not ${tile}`);
  check(byId("readout").textContent.includes(addressOf(tile)) && byId("readout").textContent.match(/closures? begins? here/), byId("readout").textContent);
  point("pointerdown", xOf(tile) + 1, yOf(tile) + 1);
  point("pointerup", xOf(tile) + 1, yOf(tile) + 1);
  check(held === tile, "a click does not hold the tile");
  press("ArrowRight", { shiftKey: true });
  check(held === tile + 1, "Shift and an arrow do not go along");
  press("Escape");
  check(held === undefined, "Escape holds a tile");
  // The moves of a tile, and all.
  const target = frame().moves[0];
  check(target !== undefined, "the collection moved nothing");
  hold(target.to);
  check(movesShown().includes(target) && movesShown().every(move => move.to === target.to || move.from === target.to), "other moves are drawn");
  check(byId("readout").textContent.includes("came from"), byId("readout").textContent);
  press("m");
  check(movesShown().length === frame().moves.length, "M does not show all moves");
  press("m");
  press("Escape");
  for (const [key, what] of [["2", "occupancy"], ["3", "age"], ["4", "holes"], ["1", "use"]]) {
    press(key);
    check(shown === what && byId("shown").value === what, `${key} does not show ${what}`);
  }
  drawMap();
  const pixels = byId("map").getContext("2d").getImageData(0, 0, byId("map").width, byId("map").height).data;
  check(new Set(new Uint32Array(pixels.buffer)).size > 4, "the picture is empty");
  document.title = wrong.length ? `WRONG: ${wrong.join("; ")}` : "RIGHT";
});
