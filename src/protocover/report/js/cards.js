// A card for each prototype, made when it is first wanted.

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
    button.append(features(i, data.quality ? prototype.class : -1, prototype.telling.slice(0, cardFeatures)));
  }
  if (data.quality) button.append(tally(prototype));
  return button;
}

// What a prototype covers, its radius where it has its own, and its rival.
function tally(prototype) {
  if (!labeled) {
    return el("span", { class: "tally" },
      el("span", { title: "cases in its ball that are nearer to no other" }, "stands for ", el("b", { text: whole.format(prototype.newly) })),
      cases.pictures ? null : el("span", { title: "cases in its ball" }, el("b", { text: whole.format(prototype.covers) }), " within reach"));
  }
  const line = el("span", { class: "tally" },
    el("span", { title: "cases of its class in its ball" }, el("b", { text: whole.format(prototype.covers) }), " covered"),
    el("span", { class: prototype.wrong ? "wrong" : "wrong none", title: "cases of other classes in its ball" }, el("b", { text: whole.format(prototype.wrong) }), " wrong"));
  const below = [];
  if (ownRadii) below.push(el("span", { class: "rival", title: "its own radius", text: `radius ${number(prototype.radius)}` }));
  if (strange(prototype)) below.push(el("span", { class: "rival", title: "the label of this case itself: look whether it is right" },
    "labelled ", classTag(cases.classes[prototype.case])));
  if (prototype.rival >= 0) below.push(rivalLine(prototype));
  return below.length ? el("span", { class: "foot" }, line, ...below) : line;
}

// Whether a prototype stands for another class than its own label says.
function strange(prototype) {
  const own = cases.classes[prototype.case];
  return own >= 0 && own !== prototype.class;
}

function rivalLine(prototype) {
  return el("span", { class: "rival", title: "nearest prototype of another class" },
    "rival ", classTag(prototypes[prototype.rival].class), ` at ${number(prototype.rival_distance)}`);
}

function describe(prototype) {
  if (!data.quality) return `Prototype ${prototype.number + 1}, ${cases.names[prototype.case]}, class ${classLabel(prototype.class)}. Show it.`;
  if (!labeled) {
    return `Representative ${prototype.number + 1}, ${cases.names[prototype.case]}: stands for ` +
      `${count(prototype.newly, "case")}, ${whole.format(prototype.covers)} within reach. Show them.`;
  }
  const wrong = prototype.wrong ? `, and ${whole.format(prototype.wrong)} of other classes` : "";
  const radius = ownRadii ? `radius ${number(prototype.radius)}, ` : "";
  return `Prototype ${prototype.number + 1}, ${cases.names[prototype.case]}, class ${classLabel(prototype.class)}: ` +
    `${radius}covers ${count(prototype.covers, "case")}${wrong}. Show them.`;
}
