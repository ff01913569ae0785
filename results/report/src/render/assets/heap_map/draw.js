// The picture: tiles in rows, on a sheet that can be moved and zoomed.
const byId = id => document.getElementById(id);
const pane = byId("pane");
// A row is a megablock or part of one, so that addresses are easy to find.
const PER_ROW = Math.max(8, Math.min(64, 2 ** Math.ceil(Math.log2(Math.sqrt(tileCount * 1.6)))));
const ROWS = Math.ceil(tileCount / PER_ROW);
const LABEL = 9;
const view = { x: 0, y: 0, scale: 1 };
let current = data.open, shown = "use", hovered, held, allMoves = false;
const frame = () => frames[current];

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const NAMES = ["--ink", "--soft", "--line", "--paper", "--tint", "--free", "--returned", "--nursery", "--aged", "--gen1", "--older", "--oldest", "--large", "--select"];
let colours = {};
function readColours() { colours = Object.fromEntries(NAMES.map(name => [name, colour(name)])); }

function useColour(use) {
  if (!isAllocated(use)) return use === 0 ? "--returned" : "--free";
  if (isLarge(use)) return "--large";
  return ["--nursery", "--aged", "--gen1", "--older"][stepOf(use)] || "--oldest";
}
// The opacity of a tile's colour: from 0.15 to 1.
function depth(tiles, tile) {
  const most = { age: 10, holes: 8 };
  const share = shown === "occupancy" ? occupancy(tiles, tile) : shown === "age" ? tiles.age[tile] / 10 / most.age : shown === "holes" ? tiles.holes[tile] / most.holes : 1;
  return .15 + .85 * Math.min(1, share);
}

function prepare(canvas) {
  const ratio = devicePixelRatio || 1, [width, height] = [pane.clientWidth, pane.clientHeight];
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px ui-monospace, monospace";
  pen.textBaseline = "middle";
  return pen;
}

// The size of a tile without zoom: all rows fit.
const LEFT = 108;
// A small heap needs no large pane.
pane.style.height = `${Math.max(160, Math.min(ROWS * 26 + 10, Math.round(innerHeight * .66)))}px`;
const unit = () => Math.max(2, Math.min(26, (pane.clientWidth - LEFT - 8) / PER_ROW, (pane.clientHeight - 8) / Math.min(ROWS, 60)));
const side = () => unit() * view.scale;
const xOf = tile => LEFT + (tile % PER_ROW) * side() - view.x;
const yOf = tile => 4 + Math.floor(tile / PER_ROW) * side() - view.y;
function tileAt(x, y) {
  const column = Math.floor((x + view.x - LEFT) / side()), row = Math.floor((y + view.y - 4) / side());
  if (x < LEFT || column < 0 || column >= PER_ROW || row < 0) return undefined;
  const tile = row * PER_ROW + column;
  return tile < tileCount ? tile : undefined;
}

function drawMap() {
  const pen = prepare(byId("map")), { tiles } = frame(), size = side(), gap = size > 6 ? 1 : 0;
  const first = Math.max(0, Math.floor(view.y / size)), last = Math.min(ROWS - 1, Math.ceil((view.y + pane.clientHeight) / size));
  for (let row = first; row <= last; row++) {
    for (let column = 0; column < PER_ROW; column++) {
      const tile = row * PER_ROW + column;
      if (tile >= tileCount) break;
      const x = xOf(tile), y = yOf(tile), use = tiles.use[tile];
      if (x + size < LEFT || x > pane.clientWidth) continue;
      if (use === undefined || use === 0) {
        pen.strokeStyle = colours["--line"];
        if (gap && use === 0) pen.strokeRect(x + .5, y + .5, size - 2, size - 2);
        continue;
      }
      pen.fillStyle = colours[useColour(use)];
      pen.globalAlpha = isAllocated(use) ? depth(tiles, tile) : 1;
      pen.fillRect(x, y, size - gap, size - gap);
      pen.globalAlpha = 1;
      if (size >= 34 && isAllocated(use)) words(pen, tiles, tile, x, y, size);
    }
  }
  pen.fillStyle = colours["--paper"];
  pen.fillRect(0, 0, LEFT - 4, pane.clientHeight);
  pen.fillStyle = colours["--soft"];
  pen.textAlign = "right";
  const every = Math.ceil(14 / size);
  for (let row = first; row <= last; row++) if (row % every === 0) pen.fillText(addressOf(row * PER_ROW), LEFT - LABEL, yOf(row * PER_ROW) + Math.min(size / 2, 8));
}

// The figures that fit into a tile.
function words(pen, tiles, tile, x, y, size) {
  pen.fillStyle = colours["--ink"];
  pen.textAlign = "left";
  pen.save();
  pen.beginPath();
  pen.rect(x, y, size - 2, size - 2);
  pen.clip();
  [`${Math.round(100 * occupancy(tiles, tile))} %`, `${count(tiles.closures[tile])} c`, tiles.holes[tile] ? `${count(tiles.holes[tile])} h` : ""]
    .slice(0, Math.floor(size / 14)).forEach((line, place) => pen.fillText(line, x + 3, y + 9 + 12 * place));
  pen.restore();
}

// The moves to draw: those of the current tile, or all.
function movesShown() {
  const tile = held ?? hovered;
  return frame().moves.filter(move => allMoves || move.from === tile || move.to === tile);
}

function drawOverlay() {
  const pen = prepare(byId("overlay")), size = side();
  pen.save();
  pen.beginPath();
  pen.rect(LEFT - 2, 0, pane.clientWidth, pane.clientHeight);
  pen.clip();
  const most = frame().moves.length ? frame().moves[0].words : 1;
  for (const move of movesShown()) {
    const [x0, y0, x1, y1] = [xOf(move.from) + size / 2, yOf(move.from) + size / 2, xOf(move.to) + size / 2, yOf(move.to) + size / 2];
    pen.strokeStyle = pen.fillStyle = colours["--ink"];
    pen.globalAlpha = allMoves ? .25 : .75;
    pen.lineWidth = .6 + 2.5 * move.words / most;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.quadraticCurveTo((x0 + x1) / 2 + (y1 - y0) * .12, (y0 + y1) / 2 - (x1 - x0) * .12, x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.arc(x1, y1, 2 + pen.lineWidth / 2, 0, 7);
    pen.fill();
  }
  pen.globalAlpha = 1;
  for (const [tile, width] of [[hovered, 1.5], [held, 2.5]]) {
    if (tile === undefined) continue;
    pen.strokeStyle = colours["--select"];
    pen.lineWidth = width;
    pen.strokeRect(xOf(tile) - 1, yOf(tile) - 1, size + 1, size + 1);
  }
  pen.restore();
}
