// A card per prototype, made when it is first shown.

const cardFeatures = 5;
const cards = new Map();

function card(prototype) {
  if (!cards.has(prototype.number)) cards.set(prototype.number, makeCard(prototype));
  return cards.get(prototype.number);
}

function makeCard(prototype) {
  const i = prototype.case;
  const button = el("button", {
    type: "button",
    class: `card k${prototype.class % 7}`,
    "data-prototype": prototype.number,
    "aria-label": describe(prototype),
    click: () => openPrototype(prototype.number),
  });
  if (cases.pictures) button.append(picture(i));
  button.append(
    el("span", { class: "card-head" }, cases.pictures ? classTag(prototype.class) : fullClassTag(prototype.class), el("span", { class: "order", text: `#${prototype.number + 1}`, title: "order of selection" })),
    datum(cases.names[i], "name"),
  );
  if (cases.columns.length && !cases.pictures) {
    button.append(features(i, data.quality ? prototype.class : -1, prototype.top_columns.slice(0, cardFeatures)));
  }
  if (data.quality) button.append(tally(prototype));
  return button;
}

// The number of cases covered, the radius if prototypes differ, and the nearest other class.
function tally(prototype) {
  if (!labeled) {
    return el("span", { class: "tally" },
      el("span", { title: "cases within the radius, of which it is the nearest representative" }, "represents ", el("b", { text: whole.format(prototype.newly) })),
      cases.pictures ? null : el("span", { title: "cases within the radius" }, el("b", { text: whole.format(prototype.covers) }), " within radius"));
  }
  const line = el("span", { class: "tally" },
    el("span", { title: "cases of its class within its radius" }, el("b", { text: whole.format(prototype.covers) }), " covered"),
    cases.pictures && !prototype.wrong ? null : el("span", { class: prototype.wrong ? "wrong" : "wrong none", title: "cases of other classes within its radius" }, el("b", { text: whole.format(prototype.wrong) }), cases.pictures ? " other" : " of other classes"));
  const below = [];
  if (ownRadii) below.push(el("span", { class: "note-line", title: "radius of this prototype", text: `radius ${number(prototype.radius)}` }));
  if (mislabeled(prototype)) below.push(el("span", { class: "note-line", title: "label of this case; check whether it is correct" },
    "labelled ", classTag(cases.classes[prototype.case])));
  if (prototype.nearest_other >= 0) below.push(otherClassLine(prototype));
  return below.length ? el("span", { class: "foot" }, line, ...below) : line;
}

// Whether a prototype represents another class than that of its own label.
function mislabeled(prototype) {
  const own = cases.classes[prototype.case];
  return own >= 0 && own !== prototype.class;
}

function otherClassLine(prototype) {
  return el("span", { class: "note-line", title: "nearest prototype of another class, and its distance" },
    cases.pictures ? "near " : "nearest other class ", classTag(prototypes[prototype.nearest_other].class), cases.pictures ? null : ` at ${number(prototype.nearest_other_distance)}`);
}

function describe(prototype) {
  if (!data.quality) return `Prototype ${prototype.number + 1}, ${cases.names[prototype.case]}, class ${classLabel(prototype.class)}. Show it.`;
  if (!labeled) {
    return `Representative ${prototype.number + 1}, ${cases.names[prototype.case]}: represents ` +
      `${count(prototype.newly, "case")}, ${whole.format(prototype.covers)} within its radius. Show them.`;
  }
  const wrong = prototype.wrong ? `, and ${whole.format(prototype.wrong)} of other classes` : "";
  const radius = ownRadii ? `radius ${number(prototype.radius)}, ` : "";
  return `Prototype ${prototype.number + 1}, ${cases.names[prototype.case]}, class ${classLabel(prototype.class)}: ` +
    `${radius}covers ${count(prototype.covers, "case")}${wrong}. Show them.`;
}
