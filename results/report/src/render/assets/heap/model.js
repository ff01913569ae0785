// The heap: places of the merged dominator tree, classes, and the objects with details.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const text = number => data.texts[number];
const count = number => number.toLocaleString("en");

function size(bytes) {
  let value = Math.abs(bytes), unit = "B";
  for (const larger of ["kB", "MB", "GB", "TB"]) {
    if (value < 999.5) break;
    [value, unit] = [value / 1000, larger];
  }
  const digits = unit === "B" || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${bytes < 0 ? "-" : ""}${value.toFixed(digits)} ${unit}`;
}
const percent = bytes => `${(100 * bytes / Math.max(1, data.bytes)).toFixed(1)} %`;

// Place 0 is the whole; each place comes after the one above it.
const places = data.places.map(([above, way, name, objects, bytes, largest]) =>
  ({ above, way: text(way), name: text(name), objects, bytes, largest, below: [], level: 0 }));
places.forEach((place, at) => {
  if (at === 0) return;
  place.level = places[place.above].level + 1;
  places[place.above].below.push(at);
});

// An object by id: name, label, bytes, retained bytes, path, referrers and fields. A reference has its
// name, and the id, name and retained bytes of the object.
const objects = new Map(data.objects.map(([id, name, label, bytes, retained, path, referrers, allReferrers, fields, allFields]) =>
  [id, { id, name: text(name), label, bytes, retained, path: ends(path), referrers: ends(referrers), allReferrers, fields: ends(fields), allFields }]));
function ends(flat) {
  const list = [];
  for (let at = 0; at < flat.length; at += 4) list.push({ way: text(flat[at]), id: flat[at + 1], name: text(flat[at + 2]), retained: flat[at + 3] });
  return list;
}
