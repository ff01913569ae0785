// The flame graph: the current place fills the width; the places that hold it are above, and some
// levels of those that it holds are below.
const ROW = 21, LEAST = 1, LEVELS = 32;
const COLOURS = ["--t0", "--t1", "--t2", "--t3", "--t4", "--t5"];
const pane = byId("pane"), canvas = byId("flame");
let top_ = 0, chosen = 0, hovered, wanted = "", bars = [];

const hash = name => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) >>> 0, 7);
const isFound = place => wanted !== "" && place.name.toLowerCase().includes(wanted);

// The visible bars: place, left, width, and level from the top.
function layOut(width) {
  const list = [], above = [];
  for (let at = top_; at !== 0;) above.unshift(at = places[at].above);
  above.forEach((at, level) => list.push({ at, left: 0, width, level }));
  const open = [{ at: top_, left: 0, width, level: above.length }];
  for (let bar; (bar = open.pop());) {
    list.push(bar);
    if (bar.level - above.length >= LEVELS) continue;
    let left = bar.left;
    for (const at of places[bar.at].below) {
      const own = bar.width * places[at].bytes / Math.max(1, places[bar.at].bytes);
      if (own < LEAST) break;
      open.push({ at, left, width: own, level: bar.level + 1 });
      left += own;
    }
  }
  return list;
}

function words(place) {
  if (place.level === 0) return data.growth ? "all that is new" : "the whole heap";
  return `${place.objects > 1 ? `${count(place.objects)} × ` : ""}${place.way === "" ? "" : `${place.way} `}${place.name}`;
}

// As much of a text as there is room for.
function cut(pen, whole, room) {
  const width = pen.measureText(whole).width;
  if (width <= room) return whole;
  let letters = Math.floor(whole.length * room / width);
  while (letters > 0 && pen.measureText(`${whole.slice(0, letters)}…`).width > room) letters--;
  return `${whole.slice(0, letters)}…`;
}

let due = false;
function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; drawNow(); });
}
function drawNow() {
  const width = pane.clientWidth, scale = devicePixelRatio || 1;
  bars = layOut(width);
  const height = ROW * (1 + bars.reduce((most, bar) => Math.max(most, bar.level), 0));
  Object.assign(canvas, { width: width * scale, height: height * scale });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const tint = colour("--tint"), ink = colour("--ink"), soft = colour("--soft"), select = colour("--select");
  for (const bar of bars) {
    const place = places[bar.at], y = bar.level * ROW, isAbove = bar.level < bars.find(one => one.at === top_).level;
    pen.globalAlpha = wanted === "" || isFound(place) ? 1 : 0.35;
    pen.fillStyle = place.level === 0 || isAbove ? tint : colour(COLOURS[hash(place.name) % COLOURS.length]);
    pen.fillRect(bar.left, y, Math.max(LEAST, bar.width - 1), ROW - 1);
    if (bar.at === chosen || bar.at === hovered) {
      pen.strokeStyle = bar.at === chosen ? select : soft;
      pen.lineWidth = 2;
      pen.strokeRect(bar.left + 1, y + 1, Math.max(1, bar.width - 3), ROW - 3);
    }
    const room = bar.width - 8;
    if (room > 20) {
      pen.fillStyle = ink;
      pen.fillText(cut(pen, words(place), room), bar.left + 4, y + ROW / 2);
    }
  }
  pen.globalAlpha = 1;
}
const barAt = event => {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, level = Math.floor((event.clientY - box.top) / ROW);
  return bars.find(bar => bar.level === level && x >= bar.left && x < bar.left + Math.max(LEAST, bar.width))?.at;
};
const barOf = at => bars.find(bar => bar.at === at);
