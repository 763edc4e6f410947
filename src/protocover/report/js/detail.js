// Details of one prototype or case, in a dialog.

const memberPart = 60;
const memberColumns = 6;
const firstFeatures = 12;
const trail = [];

function openPrototype(k) {
  show({ title: () => prototypeTitle(k), body: () => prototypeBody(k), prototype: k });
}

function openCase(i) {
  show({ title: () => caseTitle(i), body: () => caseBody(i), prototype: -1 });
}

function show(view) {
  trail.push(view);
  draw();
  if (!byId("detail").open) byId("detail").showModal();
  byId("detail-title").focus();
}

function draw() {
  const view = trail[trail.length - 1];
  byId("detail-title").replaceChildren(...view.title().filter(Boolean));
  byId("detail-body").replaceChildren(...view.body());
  byId("detail-body").scrollTop = 0;
  byId("back").hidden = trail.length < 2;
  byId("previous").hidden = byId("next").hidden = view.prototype < 0;
}

function step(by) {
  const here = trail[trail.length - 1].prototype;
  if (here < 0 || !found.list.length) return;
  const at = found.list.findIndex((prototype) => prototype.number === here);
  const next = found.list[(at + by + found.list.length) % found.list.length];
  trail.pop();
  openPrototype(next.number);
}

function prototypeTitle(k) {
  return [fullClassTag(prototypes[k].class), datum(cases.names[prototypes[k].case], "name")];
}

function prototypeBody(k) {
  const prototype = prototypes[k];
  if (!data.quality) return barePrototypeBody(prototype);
  const share = prototype.covers / Math.max(1, classes[prototype.class].points);
  const facts = el("dl", { class: "facts" },
    fact("Order", el("span", { text: `${k + 1} of ${whole.format(prototypes.length)}` })),
    ownRadii ? fact("Radius", el("span", { text: number(prototype.radius) })) : null,
    ...(labeled ? coverFacts(prototype, share) : representativeFacts(prototype, share)),
    prototype.source === "train" ? null : fact("Source", datum(prototype.source)),
    mislabeled(prototype) ? fact("Its own label", el("span", {}, classTag(cases.classes[prototype.case]), ". Its neighbours are of the class that it represents, so check this label.")) : null,
    prototype.nearest_other < 0 ? null : fact("Nearest of another class", otherClassButton(prototype)),
    inRadii(prototype.nearest_other_distance, prototype.nearest_other) ? fact("Its radius", el("span", { text: otherClassRadius(prototype) })) : null);
  const side = el("div", { class: "side" }, cases.pictures ? picture(prototype.case, "picture large") : null, facts, values(prototype.case, prototype.class, prototype.top_columns));
  return [side, memberList(prototype)];
}

// A prototype without the training data.
function barePrototypeBody(prototype) {
  const facts = el("dl", { class: "facts" },
    fact("Order", el("span", { text: `${prototype.number + 1} of ${whole.format(prototypes.length)}` })),
    fact("Radius", el("span", { text: number(prototype.radius) })),
    fact("Newly covers", el("span", { text: count(prototype.newly, "case") })));
  const decided = data.comparisons.filter((item) => item.near.prototype === prototype.number);
  const list = el("ul", { class: "around" }, ...decided.slice(0, memberPart).map((item) => el("li", {}, caseButton(item.case))));
  const side = el("div", { class: "side" }, cases.pictures ? picture(prototype.case, "picture large") : null, facts, values(prototype.case, -1, prototype.top_columns));
  return [side, el("div", { class: "covered" }, el("h3", { text: `Decides ${count(decided.length, "listed case")}` }), list)];
}

function coverFacts(prototype, share) {
  return [
    fact("Covers", el("span", { text: `${count(prototype.covers, "case")}, ${percent(share)} of its class` })),
    fact("Newly covers", el("span", { text: `${count(prototype.newly, "case")} that no earlier prototype covers` })),
    fact("Miscovers", el("span", { text: `${count(prototype.wrong, "case")} of other classes` })),
  ];
}

function representativeFacts(prototype, share) {
  return [
    fact("Represents", el("span", { text: `${count(prototype.newly, "case")}, of which it is the nearest` })),
    fact("Within radius", el("span", { text: `${count(prototype.covers, "case")}, ${percent(share)} of all` })),
  ];
}

function fact(head, value) {
  return el("div", {}, el("dt", { text: head }), el("dd", {}, value));
}

function otherClassRadius(prototype) {
  const { nearest_other: other, nearest_other_distance: distance } = prototype;
  return `${number(prototypes[other].radius)}; the distance is ${inRadii(distance, other)} times this radius`;
}

function otherClassButton(prototype) {
  const button = prototypeButton(prototype.nearest_other);
  button.append(el("span", { class: "fine", text: ` at ${number(prototype.nearest_other_distance)}` }));
  return button;
}

// All features of a case, compared with class k.
function values(i, k, order) {
  if (!cases.columns.length) return null;
  const block = el("div", { class: "all-features" }, features(i, k, order.slice(0, firstFeatures)));
  const rest = order.slice(firstFeatures);
  if (rest.length) block.append(el("details", {}, el("summary", { text: count(rest.length, "more feature") }), features(i, k, rest)));
  return block;
}

function memberList(prototype) {
  const pairs = prototype.members.map((i, at) => ({ i, distance: prototype.distances[at] }));
  const isOwn = ({ i }) => labeled ? cases.classes[i] === prototype.class : data.represented_by[i] === prototype.number;
  const choices = !labeled ? [
    ["Represents", pairs.filter(isOwn), prototype.newly],
    ["All within radius", pairs, prototype.covers],
  ] : [
    ["All", pairs, prototype.covers + prototype.wrong],
    ["Its class", pairs.filter(isOwn), prototype.covers],
    ["Other classes", pairs.filter((pair) => !isOwn(pair)), prototype.wrong],
  ];
  const group = el("div", { class: "chips", role: "group", "aria-label": "Which cases" });
  const place = el("div", { class: "members" });
  for (const [name, list, total] of choices) {
    const chip = el("button", { type: "button", class: "chip", "aria-pressed": "false" }, name, el("span", { class: "count", text: whole.format(total) }));
    chip.disabled = total === 0;
    chip.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === chip));
      place.replaceChildren(...listCases(list, total, prototype.top_columns));
    });
    group.append(chip);
  }
  group.firstChild.click();
  return el("div", { class: "covered" }, el("h3", { text: `Cases within its radius, ${number(prototype.radius)}, nearest first` }), group, place);
}

// Cases with their distances, as pictures or as rows.
function listCases(pairs, total, order) {
  const parts = [];
  const body = cases.pictures ? el("div", { class: "thumbs" }) : el("tbody");
  const columns = cases.pictures ? [] : order.slice(0, memberColumns).map((j) => cases.columns[j]);
  const { button } = inParts(pairs, memberPart, body, cases.pictures ? thumb : (pair) => caseRow(pair, columns));
  if (cases.pictures) parts.push(body);
  else parts.push(scrollBox("Cases", el("table", { class: "cases" }, tableHead(["case", ...(labeled ? ["class"] : []), ["distance", "right"], ...columns.map(columnHead)]), body)));
  parts.push(button);
  if (pairs.length < total) parts.push(el("p", { class: "fine", text: `Only the nearest ${whole.format(pairs.length)} of ${whole.format(total)} are listed.` }));
  return parts;
}

function scrollBox(name, content) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, content);
}

// Headings are names, or pairs of a name and a class (numbers are right-aligned).
function tableHead(heads) {
  const cell = (head) => {
    const [name, kind] = Array.isArray(head) ? head : [head, "left"];
    return el("th", { scope: "col", class: kind }, datum(name));
  };
  return el("thead", {}, el("tr", {}, ...heads.map(cell)));
}

function columnHead(column) {
  return [column.name, column.kind === "number" ? "right value" : "left value"];
}

function thumb({ i, distance }) {
  return el("button", { type: "button", class: "thumb", title: labeled ? `${cases.names[i]}, class ${classLabel(cases.classes[i])}` : cases.names[i], click: () => openCase(i) },
    picture(i), el("span", { class: "fine" }, classTag(cases.classes[i])), el("span", { class: "fine", text: number(distance) }));
}

function caseButton(i) {
  return el("button", { type: "button", class: "link", click: () => openCase(i) },
    cases.pictures ? picture(i, "picture tiny") : null, datum(cases.names[i]));
}

function prototypeButton(k) {
  const prototype = prototypes[k];
  return el("button", { type: "button", class: "link", "data-prototype": k, click: () => openPrototype(k) },
    cases.pictures ? picture(prototype.case, "picture tiny") : null, classTag(prototype.class), datum(cases.names[prototype.case], "name"));
}

function caseRow({ i, distance }, columns) {
  return el("tr", {}, el("th", { scope: "row" }, caseButton(i)), labeled ? el("td", {}, classTag(cases.classes[i])) : null,
    el("td", { class: "right", text: number(distance) }), ...columns.map((column) => valueCell(column, i)));
}

function valueCell(column, i) {
  const kind = { number: "right", text: "long" }[column.kind] || "left";
  return el("td", { class: `${kind} value` }, datum(valueText(column, i)));
}

function caseTitle(i) {
  return [fullClassTag(cases.classes[i]), datum(cases.names[i], "name")];
}

function caseBody(i) {
  const k = cases.classes[i];
  const around = prototypesOfCase.get(i) || [];
  const list = el("ul", { class: "around" }, ...around.map((p) => el("li", {}, prototypeButton(p))));
  const head = around.length ? `Covered by ${count(around.length, chosenWord)}` : `Not covered by any ${chosenWord}`;
  const why = comparison(i);
  const side = el("div", { class: "side" }, cases.pictures ? picture(i, "picture large") : null, values(i, k, cases.columns.map((_, j) => j)));
  const reason = why ? [el("h3", { text: "Why" }), why, el("p", { class: "fine", text: data.shares })] : [];
  const balls = data.quality && isTraining(i) ? [el("h3", { text: head }), list] : [];
  return [side, el("div", { class: "covered" }, ...reason, ...balls)];
}

function isTraining(i) {
  return cases.rows[i] >= 0;
}

function startDetail() {
  const dialog = byId("detail");
  byId("close").addEventListener("click", () => dialog.close());
  byId("back").addEventListener("click", () => { trail.pop(); draw(); byId("detail-title").focus(); });
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  dialog.addEventListener("close", () => { trail.length = 0; });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.closest(".scroll") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
}
