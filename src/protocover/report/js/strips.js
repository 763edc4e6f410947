// Strips that show a value within the distribution of its class.

const stripWidth = 120;

function numberStrip(column, i, k) {
  const span = column.high - column.low || 1;
  const x = (value) => 3 + ((stripWidth - 6) * (value - column.low)) / span;
  const strip = svg("svg", { class: `strip k${k % 7}`, viewBox: `0 0 ${stripWidth} 16`, "aria-hidden": "true", preserveAspectRatio: "none" });
  const others = othersRange(column, k);
  if (others) strip.append(band(x(others[0]), x(others[1]), 3, 10, "others"));
  const range = column.ranges[k] || [];
  if (range.length) {
    strip.append(band(x(range[0]), x(range[4]), 7.25, 1.5, "whisker"), band(x(range[1]), x(range[3]), 5, 6, "middle"));
  }
  const value = column.values[i];
  if (value !== null) strip.append(band(x(value) - 1.25, x(value) + 1.25, 0, 16, "tick"));
  return strip;
}

function band(from, to, y, height, kind) {
  return svg("rect", { class: kind, x: from, y, width: Math.max(1, to - from), height });
}

// The middle half of the other classes: from their lowest to their highest quartile.
const othersRanges = new Map();
function othersRange(column, k) {
  const key = `${column.name}\u0000${cases.columns.indexOf(column)}\u0000${k}`;
  if (!othersRanges.has(key)) {
    const rest = column.ranges.filter((range, c) => c !== k && range.length);
    const low = Math.min(...rest.map((range) => range[1]));
    const high = Math.max(...rest.map((range) => range[3]));
    othersRanges.set(key, rest.length ? [low, high] : null);
  }
  return othersRanges.get(key);
}

function labelStrip(column, i, k) {
  const strip = svg("svg", { class: `strip k${k % 7}`, viewBox: `0 0 ${stripWidth} 16`, "aria-hidden": "true", preserveAspectRatio: "none" });
  const value = column.values[i];
  if (value === null || !column.shares[k]) return strip;
  const full = stripWidth - 6;
  strip.append(band(3, 3 + full, 7.25, 1.5, "whisker"), band(3, 3 + full * column.shares[k][value], 4, 8, "middle"));
  return strip;
}

// One feature of a case compared with class k: name, strip, value.
function featureRow(column, i, k) {
  const row = el("span", { class: "feature" }, datum(column.name, "feature-name"));
  if (k >= 0 && (column.kind === "number" || column.kind === "date") && column.high !== null) row.append(numberStrip(column, i, k));
  else if (k >= 0 && column.kind === "label") row.append(labelStrip(column, i, k));
  else row.append(el("span"));
  row.append(datum(valueText(column, i), "feature-value"));
  row.title = featureTitle(column, i, k);
  return row;
}

function featureTitle(column, i, k) {
  const start = `${column.name}: ${valueText(column, i)}`;
  if (k < 0) return start;
  if (column.kind === "label" && column.shares[k] && column.values[i] !== null) {
    return `${start}, like ${percent(column.shares[k][column.values[i]])} of ${classWords(k)}`;
  }
  const range = column.ranges[k] || [];
  if (column.kind !== "number" || !range.length) return start;
  return `${start}; half of ${classWords(k)} lies between ${number(range[1])} and ${number(range[3])}`;
}

// The features of a case in `order`.
function features(i, k, order) {
  const list = el("span", { class: "features" });
  for (const j of order) {
    const column = cases.columns[j];
    if (column.kind !== "text") list.append(featureRow(column, i, k));
    else if (column.values[i] !== null) list.append(textBlock(column, i));
  }
  return list;
}

function textBlock(column, i) {
  const only = cases.columns.length === 1;
  return el("span", { class: "passage" }, only ? null : datum(column.name, "feature-name"), datum(column.values[i], "passage-text"));
}
