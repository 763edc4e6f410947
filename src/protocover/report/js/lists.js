// Suspect labels and uncovered cases.

const listPart = 20;
const listColumns = 3;
const lists = [];

// The most characteristic columns over all prototypes.
function mainColumns() {
  const rank = cases.columns.map(() => 0);
  for (const prototype of prototypes) prototype.top_columns.forEach((j, place) => { rank[j] += place; });
  return cases.columns.map((column, j) => ({ column, rank: rank[j] }))
    .sort((a, b) => a.rank - b.rank).slice(0, listColumns).map(({ column }) => column);
}

function startLists() {
  const columns = cases.pictures ? [] : mainColumns();
  const names = columns.map(columnHead);
  const values = (i) => columns.map((column) => valueCell(column, i));
  fillList("suspects-list", "Suspect labels", data.suspects, ["", "case", "label", "suggested", ["score", "right"], "reason", "nearest prototype", ...names], (item, place) => [
    el("td", { class: "right fine", text: place + 1 }), el("th", { scope: "row" }, caseButton(item.case)),
    el("td", {}, classTag(item.label)), el("td", {}, classTag(item.suggested)),
    el("td", { class: "right", text: number(item.score) }), el("td", { class: "why" }, datum(item.reason)),
    el("td", {}, item.prototype < 0 ? "none" : prototypeButton(item.prototype)), ...values(item.case)]);
  if (!labeled) {
    const heads = ["case", "nearest representative", ["distance", "right"], ...names];
    const cells = (item) => [el("th", { scope: "row" }, caseButton(item.case)),
      el("td", {}, item.prototype < 0 ? "none" : prototypeButton(item.prototype)),
      el("td", { class: "right", text: item.distance === null ? "–" : number(item.distance) }), ...values(item.case)];
    fillList("farthest-list", "Farthest cases", data.farthest, heads, cells);
    fillList("uncovered-list", "Uncovered cases", data.uncovered, heads, cells);
    return;
  }
  fillList("uncovered-list", "Uncovered cases", data.uncovered, ["case", "class", "nearest of its class", ["distance", "right"], ...(ownRadii ? [["in radii", "right"]] : []), ["covered by others", "right"], ...names], (item) => [
    el("th", { scope: "row" }, caseButton(item.case)), el("td", {}, classTag(cases.classes[item.case])),
    el("td", {}, item.prototype < 0 ? "none" : prototypeButton(item.prototype)),
    el("td", { class: "right", text: number(item.distance) }),
    ...(ownRadii ? [el("td", { class: "right", text: inRadii(item.distance, item.prototype) || "–" })] : []),
    el("td", { class: "right", text: item.others || "–" }), ...values(item.case)]);
}

function fillList(id, name, items, heads, cells) {
  if (!items.length) return;
  const body = el("tbody");
  const rows = items.map((item, place) => ({ item, place }));
  const parts = inParts(rows, listPart, body, ({ item, place }) => el("tr", {}, ...cells(item, place)));
  byId(id).append(scrollBox(name, el("table", { class: "cases" }, tableHead(heads), body)), parts.button);
  lists.push(parts);
}
