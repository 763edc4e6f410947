// The data of the page, and functions to query it.

const data = JSON.parse(byId("data").textContent);
const { prototypes, classes, cases } = data;
prototypes.forEach((prototype, k) => { prototype.number = k; });
const ownRadii = data.radii === "adaptive";
// A cover has representatives instead of prototypes, and no classes.
const labeled = data.labeled !== false;
const chosenWord = labeled ? "prototype" : "representative";

// The size of a prototype: the number of cases that it covers or represents.
function size(prototype) {
  return labeled ? prototype.covers : prototype.newly;
}

const prototypesOfCase = new Map();
for (const prototype of prototypes) {
  for (const i of prototype.members) {
    if (!prototypesOfCase.has(i)) prototypesOfCase.set(i, []);
    prototypesOfCase.get(i).push(prototype.number);
  }
}

// A distance from prototype k in multiples of its radius, if prototypes have their own radii.
function nearness(distance, k) {
  if (distance === null) return Infinity;
  if (!ownRadii) return distance;
  return distance === 0 ? 0 : distance / prototypes[k].radius;
}

// The same as text; empty if all radii are equal or the radius is 0.
function inRadii(distance, k) {
  const multiple = nearness(distance, k);
  return ownRadii && Number.isFinite(multiple) ? number(multiple) : "";
}

function classLabel(k) {
  return k < 0 ? "no label" : classes[k].label;
}

function classWords(k) {
  return labeled ? `class ${classLabel(k)}` : "all cases";
}

function classMark(k) {
  const use = svg("use", { href: `#shape${Math.floor(k / 7) % 5}` });
  return svg("svg", { class: `mark k${k % 7}`, "aria-hidden": "true" }, use);
}

// A class as its mark and its label.
function classTag(k) {
  if (!labeled) return null;
  return el("span", { class: "label" }, k < 0 ? null : classMark(k), datum(classLabel(k)));
}

// The same with the name of the classes, such as "diagnosis: healthy".
function fullClassTag(k) {
  if (!labeled || !data.target || k < 0) return classTag(k);
  const target = data.target.length > 24 ? `${data.target.slice(0, 23)}…` : data.target;
  return el("span", { class: "label" }, classMark(k), datum(`${target}: ${classLabel(k)}`));
}

function valueText(column, i) {
  const value = column.values[i];
  if (value === null || value === undefined) return "–";
  if (column.kind === "label") return column.categories[value];
  if (column.kind === "date") return new Date(value).toISOString().slice(0, 10);
  return column.kind === "number" ? number(value) : value;
}

// Texts for searching: in lower case, with a separator.
function searchable(texts) {
  return texts.join(" \u0000 ").toLowerCase();
}

const haystacks = new Map();
function haystack(prototype) {
  if (!haystacks.has(prototype.number)) {
    const i = prototype.case;
    const values = cases.columns.map((column) => valueText(column, i));
    haystacks.set(prototype.number, searchable([labeled ? classLabel(prototype.class) : "", cases.names[i], ...values]));
  }
  return haystacks.get(prototype.number);
}

// The items in which every search word begins a word, so "male" does not find "female". If
// there are none, as in scripts without spaces, those that contain the words anywhere.
function findWords(items, textOf, words) {
  if (!words.length) return items;
  const starts = items.filter((item) => words.every((word) => beginsWord(textOf(item), word)));
  return starts.length ? starts : items.filter((item) => words.every((word) => textOf(item).includes(word)));
}

const inWord = /[\p{L}\p{N}]/u;
function beginsWord(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !inWord.test(word[0]) || !inWord.test(text[at - 1])) return true;
  }
  return false;
}
