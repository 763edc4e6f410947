// A case compared with the deciding prototype and the nearest of another class, column by column.

const comparisons = new Map(data.comparisons.map((item) => [item.case, item]));
const comparedFirst = 6;

// The comparison of a case in words, pictures and contributions of columns.
function comparison(i, most) {
  const item = comparisons.get(i);
  if (!item) return null;
  const sides = [item.near, item.far].filter(Boolean);
  const block = el("div", { class: "compare" }, el("p", { class: "reason", dir: "auto", text: item.words }));
  if (item.probable.length) block.append(el("div", { class: "probable" }, ...item.probable.map(probabilityBar)));
  if (cases.pictures) block.append(pictureRow(i, sides));
  if (cases.columns.length) block.append(comparisonTable(i, item, sides, most));
  return block;
}

// The probability of a class as a bar.
function probabilityBar(item) {
  const bar = svg("svg", { class: `share-bar k${item.class % 7}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 10 }), svg("rect", { class: "fill", x: 0, y: 0, width: 100 * item.probability, height: 10 }));
  return el("div", { class: "share" }, classTag(item.class), el("span", { class: "share" }, bar, el("span", { class: "fine", text: percent(item.probability) })));
}

function sideName(side, item) {
  return side === item.near ? "decides" : "runner-up";
}

function pictureRow(i, sides) {
  const figure = (k, text, tag) => el("figure", {}, picture(k, "picture side-by-side"), el("figcaption", {}, tag, el("span", { class: "fine", text })));
  return el("div", { class: "beside-each-other" }, figure(i, "this case", null),
    ...sides.map((side) => figure(prototypes[side.prototype].case, `at ${number(side.distance)}`, prototypeButton(side.prototype))));
}

function comparisonTable(i, item, sides, most) {
  const order = item.columns.length ? item.columns : cases.columns.map((_, j) => j);
  const shown = order.slice(0, most || order.length);
  const head = el("tr", {}, el("th", { scope: "col", class: "left", text: "" }), el("th", { scope: "col", class: "right" }, el("span", { text: "this case" })),
    ...sides.map((side) => el("th", { scope: "col", class: "left against" }, cases.pictures ? sideName(side, item) : prototypeButton(side.prototype))));
  const rows = shown.map((j) => comparisonRow(i, item, sides, j));
  const cut = sides.map((side) => side.rest + order.slice(shown.length).reduce((sum, j) => sum + termOf(item, side, j), 0));
  if (item.columns.length && cases.n_columns > shown.length) rows.push(restRow(item, sides, cut, cases.n_columns - shown.length));
  rows.push(totalRow(item, sides));
  return scrollBox("Comparison by column", el("table", { class: "cases comparison" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

function termOf(item, side, j) {
  const at = item.columns.indexOf(j);
  return at < 0 ? 0 : side.terms[at];
}

function comparisonRow(i, item, sides, j) {
  const column = cases.columns[j];
  return el("tr", {}, el("th", { scope: "row", class: "left" }, datum(column.name)), valueCell(column, i),
    ...sides.map((side) => el("td", { class: "against" }, el("span", { class: "against-cell" },
      datum(valueText(column, prototypes[side.prototype].case), "against-value"),
      item.columns.length ? shareBar(item, side, termOf(item, side, j)) : null))));
}

function restRow(item, sides, terms, n) {
  return el("tr", { class: "rest" }, el("th", { scope: "row", class: "left", text: count(n, "other column") }), el("td", {}),
    ...sides.map((side, at) => el("td", { class: "against" }, el("span", { class: "against-cell" }, el("span", { class: "against-value" }), shareBar(item, side, terms[at])))));
}

// A distance, or its square. Bars are drawn relative to the larger of both.
function totalOf(side) {
  return side.terms.reduce((sum, term) => sum + term, side.rest);
}

function shareBar(item, side, term) {
  const total = totalOf(side);
  const largest = Math.max(totalOf(item.near), item.far ? totalOf(item.far) : 0) || 1;
  const bar = svg("svg", { class: `share-bar k${prototypes[side.prototype].class % 7}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  bar.append(svg("rect", { class: "track", x: 0, y: 0, width: 100, height: 10 }), svg("rect", { class: "fill", x: 0, y: 0, width: (100 * term) / largest, height: 10 }));
  return el("span", { class: "share", title: `${number(term)} of ${number(total)}` }, bar, el("span", { class: "fine", text: total ? percent(term / total) : "0 %" }));
}

function totalRow(item, sides) {
  return el("tr", { class: "total" }, el("th", { scope: "row", class: "left", text: "distance" }), el("td", {}),
    ...sides.map((side) => el("td", { class: "against" }, el("b", { text: number(side.distance) }), el("span", { class: "fine", text: distanceWords(side) }))));
}

function distanceWords(side) {
  if (ownRadii && side.relative !== null) return ` (${number(side.relative)} × its radius)`;
  return ` (${side.inside ? "within" : "outside"} its radius)`;
}
