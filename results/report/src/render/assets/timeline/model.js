"use strict";
// The data of the log, and the figures of an interval. Times are in nanoseconds.
const log = JSON.parse(document.getElementById("timeline").textContent);
const STATES = 9, SEVERAL_STATES = STATES, SEVERAL_PAUSES = 3;
const [IDLE, MUTATOR, WAITING, GC_IDLE, GEN0, GEN1, OLDER, UNKNOWN, FINISHING] = Array(STATES).keys();

const oldest = log.generations > 3 || log.generations === null ? "generation 2 and older" : "generation 2";
const GENERATIONS = ["generation 0", "generation 1", oldest];
const NAMES = [log.threads ? "idle" : "not in a collection", "mutator",
  log.caps.length > 1 ? "waiting for the other capabilities" : "stopping for a collection", "GC thread without work",
  ...GENERATIONS.map(name => `GC of ${name}`), "GC, generation not in the log",
  log.profile ? "after the GC threads: heap census" : "after the GC threads"];

// The number of entries of a sorted list that are at most `limit`.
function upTo(list, limit) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= limit) low = middle + 1; else high = middle;
  }
  return low;
}

// A lane: the ends of its pieces, and for each state the time in it before the end of each piece.
function decodeLane(numbers) {
  const ends = [], sums = Array.from({ length: STATES }, () => [0]);
  for (let at = 0, end = 0; at < numbers.length;) {
    const code = numbers[at++], place = ends.length;
    for (let state = 0; state < STATES; state++) {
      const has = code < SEVERAL_STATES ? code === state : (code - SEVERAL_STATES) >> state & 1;
      const time = has ? numbers[at++] : 0;
      end += time;
      sums[state].push(sums[state][place] + time);
    }
    ends.push(end);
  }
  return { ends: Float64Array.from(ends), sums: sums.map(list => Float64Array.from(list)) };
}

// The time in each state before a moment, into `times`. Returns the place of the piece.
function timesBefore(lane, moment, times) {
  const { ends, sums } = lane, last = ends.length - 1;
  const place = Math.min(upTo(ends, moment), last), from = place > 0 ? ends[place - 1] : 0;
  const share = Math.min(1, Math.max(0, (moment - from) / (ends[place] - from)));
  for (let state = 0; state < STATES; state++) {
    const before = sums[state][place];
    times[state] = before + share * (sums[state][place + 1] - before);
  }
  return place;
}

function decodePauses(numbers) {
  const pauses = [];
  for (let at = 0, end = 0; at < numbers.length;) {
    const from = end + numbers[at++], length = numbers[at++], code = numbers[at++];
    end = from + length;
    const generations = [];
    if (code < SEVERAL_PAUSES) {
      generations.push({ generation: code, count: 1, total: length, max: length, copied: numbers[at++] });
    } else {
      for (let generation = 0; generation < GENERATIONS.length; generation++) {
        if (!((code - SEVERAL_PAUSES) >> generation & 1)) continue;
        generations.push({ generation, count: numbers[at++], total: numbers[at++], max: numbers[at++], copied: numbers[at++] });
      }
    }
    const total = generations.reduce((sum, some) => sum + some.total, 0);
    pauses.push({ from, to: end, single: code < SEVERAL_PAUSES, generations, total });
  }
  return pauses;
}

// Looks at the heap, or concurrent work.
function decodeStretches(numbers) {
  const all = [];
  for (let at = 0, end = 0; at < numbers.length; at += 3) {
    const from = end + numbers[at], total = numbers[at + 2];
    end = from + numbers[at + 1];
    all.push({ from, to: end, single: end - from === total, total });
  }
  return all;
}

// A series: times, last and largest figures, and numbers.
function decodeSamples({ at, last, max, count }) {
  let time = 0;
  return { at: Float64Array.from(at, step => time += step), last, max: max || last, count };
}

// The sparks of a capability: times, and the numbers created, converted and fizzled so far, and in the pool.
function decodeSparks(numbers) {
  const at = [], counts = [[], [], [], []];
  for (let place = 0, time = 0; place < numbers.length; place += 5) {
    at.push(time += numbers[place]);
    counts.forEach((list, which) => list.push(numbers[place + 1 + which]));
  }
  return { at, counts };
}

// The sparks of all capabilities at a moment. Between two counters they change evenly.
function sparksAt(moment, which) {
  return sparks.reduce((sum, { at, counts }) => {
    const list = counts[which], place = upTo(at, moment);
    const [from, before] = place > 0 ? [at[place - 1], list[place - 1]] : [0, 0];
    const more = place < at.length ? (list[place] - before) * (moment - from) / Math.max(1, at[place] - from) : 0;
    return sum + before + more;
  }, 0);
}

const largest = list => list.reduce((a, b) => Math.max(a, b), 0);
const lanes = log.lanes.map(decodeLane);
const pauses = decodePauses(log.pauses), looks = decodeStretches(log.looks);
const concurrent = log.concurrent.map(decodeStretches), isConcurrent = concurrent.some(all => all.length);
const allocated = log.allocated.map(decodeSamples);
const size = decodeSamples(log.size), live = decodeSamples(log.live);
const sparks = log.sparks.map(decodeSparks), hasSparks = sparks.some(({ counts }) => largest(counts[0]) > 0);
const marks = log.marks.map(([at, isMarker, count, text]) => ({ at, isMarker, count, text: count > 1 ? `${text} (and ${count - 1} more)` : text }));

// The nearest border between steps. Figures between two borders are exact.
function toStep(moment) {
  if (moment >= log.length - log.step / 2) return log.length;
  return Math.min(log.length, Math.max(0, Math.round(moment / log.step) * log.step));
}

const overlap = (a, b, from, to) => Math.max(0, Math.min(b, to) - Math.max(a, from));
// The indexes of the samples from one moment to another.
const within = (series, from, to) => [upTo(series.at, from - 1), upTo(series.at, to - 1)];

// The figures of an interval, named as in `gclab events summary --json`. Figures that the log does not
// determine are absent.
function figuresOf(from, to) {
  const whole = from <= 0 && to >= log.length;
  if (to >= log.length) to = Infinity;
  const figures = {}, end = Math.min(to, log.end);
  figures.Total_elapsed_ns = end - Math.min(from, end);
  if (log.collects) Object.assign(figures, collectionsOf(from, to));
  if (looks.length) figures.looks_elapsed_ns = looks.reduce((sum, look) => sum + pausedIn(look, from, to), 0);
  if (log.collects && log.mutator) {
    const [begin, stop] = log.mutator;
    const first = Math.max(begin, Math.min(from, end)), last = Math.min(stop, end);
    const stopped = list => list.reduce((sum, pause) => sum + pausedIn(pause, first, last), 0);
    const paused = stopped(pauses) + stopped(looks);
    figures.MUT_elapsed_ns = Math.max(0, last - first - paused);
    if (figures.Total_elapsed_ns > 0) figures.productivity_wall_percent = figures.MUT_elapsed_ns / figures.Total_elapsed_ns;
  }
  allocated.forEach((series, lane) => {
    const [first, behind] = within(series, from, to);
    if (behind === 0) return;
    const before = first > 0 ? series.last[first - 1] : 0;
    const bytes = behind > first ? Math.max(0, series.last[behind - 1] - before) : 0;
    figures[`cap_${log.caps[lane]}.allocated_bytes`] = bytes;
    figures.allocated_bytes = (figures.allocated_bytes || 0) + bytes;
  });
  const [liveFrom, liveTo] = within(live, from, to);
  if (liveTo > liveFrom) {
    figures.max_live_bytes = live.max.slice(liveFrom, liveTo).reduce((a, b) => Math.max(a, b));
    figures.live_samples = live.count ? live.count.slice(liveFrom, liveTo).reduce((a, b) => a + b) : liveTo - liveFrom;
  }
  const [sizeFrom, sizeTo] = within(size, from, to);
  if (sizeTo > sizeFrom || sizeFrom > 0 && !whole) {
    const before = sizeFrom > 0 ? size.last[sizeFrom - 1] : 0;
    figures.max_mem_in_use_bytes = size.max.slice(sizeFrom, sizeTo).reduce((a, b) => Math.max(a, b), before);
  }
  return figures;
}

// The time of a pause or look within an interval. One that stands for several is entirely inside.
function pausedIn(pause, from, to) {
  if (pause.single) return overlap(pause.from, pause.to, from, to);
  return pause.from >= from && pause.from < to ? pause.total : 0;
}

function collectionsOf(from, to) {
  const figures = { GC_elapsed_ns: 0, num_GCs: 0, copied_bytes: 0 };
  const sums = GENERATIONS.map(() => ({ collections: 0, elapsed_ns: 0, max_pause_ns: 0 }));
  let used = log.generations || 0;
  for (const pause of pauses) {
    figures.GC_elapsed_ns += pausedIn(pause, from, to);
    for (const { generation, count, total, max, copied } of pause.generations) {
      used = Math.max(used, generation + 1);
      if (pause.from < from || pause.from >= to) continue;
      const sum = sums[generation];
      sum.collections += count;
      sum.elapsed_ns += total;
      sum.max_pause_ns = Math.max(sum.max_pause_ns, max);
      figures.num_GCs += count;
      figures.copied_bytes += copied;
      figures["pause.max_ns"] = Math.max(figures["pause.max_ns"] || 0, max);
    }
  }
  sums.slice(0, used).forEach((sum, generation) => {
    for (const [name, figure] of Object.entries(sum)) figures[`gen_${generation}.${name}`] = figure;
  });
  return figures;
}

// Figures as text.
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
function lengthText(ns) {
  const [unit, name] = UNITS.find(([unit]) => Math.abs(ns) >= unit) || UNITS[3];
  return `${(ns / unit).toFixed(unit === 1 ? 0 : 3)} ${name}`;
}
// A moment, to the precision of a stretch of time.
function momentText(ns, precision) {
  const [unit, name] = UNITS.find(([unit]) => log.length >= unit) || UNITS[3];
  const decimals = Math.max(0, Math.ceil(Math.log10(unit / Math.max(1, precision)) - 1e-9));
  return `${(ns / unit).toFixed(decimals)} ${name}`;
}
const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
// The power of a base that is a number's unit, such as for bytes.
function powerOf(number, base = 1024, names = BYTES) {
  let power = 0;
  while (number >= base ** (power + 1) && power < names.length - 1) power++;
  return power;
}
function bytesText(bytes) {
  const power = powerOf(bytes), number = bytes / 1024 ** power;
  return `${power === 0 || Number.isInteger(number) ? number : number.toFixed(number < 10 ? 2 : 1)} ${BYTES[power]}`;
}
const shareText = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
// A moment that was typed: a number with a unit, or in seconds. NaN if it is invalid.
function momentOf(text) {
  const found = /^\s*(\d+\.?\d*|\.\d+)\s*(ns|us|µs|ms|s|)\s*$/.exec(text);
  return found ? Math.round(Number(found[1]) * { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, "": 1e9 }[found[2]]) : NaN;
}
