// The maps: columns of tiles, one number for each tile.
const data = JSON.parse(document.getElementById("data").textContent);
const WORD = 8, TILE_WORDS = data.tileBlocks * data.block / WORD;

// A negative number -k repeats the number before it k times.
function decode(column) {
  const numbers = [];
  for (const number of column) {
    if (number >= 0) numbers.push(number);
    else for (let times = -number, last = numbers[numbers.length - 1]; times > 0; times--) numbers.push(last);
  }
  return numbers;
}

function decodeMoves(flat) {
  const moves = [];
  for (let at = 0; at < flat.length; at += 4) moves.push({ from: flat[at], to: flat[at + 1], closures: flat[at + 2], words: flat[at + 3] });
  return moves;
}

const frames = data.frames.map(frame => ({ ...frame,
  tiles: Object.fromEntries(Object.entries(frame.tiles).map(([name, column]) => [name, decode(column)])),
  moves: decodeMoves(frame.moves) }));
const tileCount = frames.reduce((most, frame) => Math.max(most, frame.tiles.use.length), 1);

const isAllocated = use => use >= 2;
const stepOf = use => use - 2 >> 1;
const isLarge = use => use >= 2 && use % 2 === 1;
const useName = use => data.useNames[use];

// The share of closures in the blocks of a tile that are in use.
const occupancy = (tiles, tile) => tiles.allocated[tile] ? tiles.words[tile] / (tiles.allocated[tile] * data.block / WORD) : 0;

const UNITS = ["B", "kB", "MB", "GB", "TB"];
function bytesText(bytes) {
  let unit = 0;
  while (bytes >= 999.5 && unit + 1 < UNITS.length) { bytes /= 1000; unit++; }
  return `${unit === 0 ? bytes : bytes < 9.995 ? bytes.toFixed(2) : bytes < 99.95 ? bytes.toFixed(1) : bytes.toFixed(0)} ${UNITS[unit]}`;
}
const wordsText = words => bytesText(words * WORD);
const count = number => number.toLocaleString("en");
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const addressOf = tile => `0x${(data.base + tile * data.tileBlocks * data.block).toString(16)}`;
