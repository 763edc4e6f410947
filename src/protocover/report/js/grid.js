// The matching prototypes in order, a few at a time.

const partSize = window.innerWidth > 720 ? (cases.pictures ? 56 : 24) : (cases.pictures ? 30 : 12);
const wanted = { classes: new Set(), words: [], sort: "order" };
const found = { list: prototypes, shown: 0 };
const onFilter = [];

const keys = {
  order: (p) => p.number,
  covers: (p) => -p.covers,
  newly: (p) => -p.newly,
  wrong: (p) => -p.wrong,
  other: (p) => nearness(p.nearest_other_distance, p.nearest_other),
  radius: (p) => -p.radius,
  class: (p) => p.class,
};

function matching() {
  const ofClass = (prototype) => !wanted.classes.size || wanted.classes.has(prototype.class);
  return findWords(prototypes, haystack, wanted.words).filter(ofClass);
}

function compare(a, b) {
  if (wanted.sort === "name") {
    const order = cases.names[a.case].localeCompare(cases.names[b.case], "en", { numeric: true });
    return order || a.number - b.number;
  }
  return keys[wanted.sort](a) - keys[wanted.sort](b) || a.number - b.number;
}

function showMatches() {
  found.list = matching().slice().sort(compare);
  found.shown = 0;
  byId("grid").replaceChildren();
  if (!found.list.length) byId("grid").append(el("p", { class: "nothing", text: `No matching ${chosenWord}s.` }));
  showPart(partSize);
  const all = found.list.length === prototypes.length;
  byId("shown-count").textContent = all ? whole.format(prototypes.length) : `${whole.format(found.list.length)} of ${whole.format(prototypes.length)}`;
  byId("reset").disabled = !wanted.classes.size && !wanted.words.length;
  for (const react of onFilter) react();
}

function showPart(size) {
  const part = found.list.slice(found.shown, found.shown + size);
  byId("grid").append(...part.map(card));
  found.shown += part.length;
  const left = found.list.length - found.shown;
  byId("more").parentElement.hidden = left === 0;
  byId("more").textContent = `Show ${whole.format(Math.min(left, 2 * partSize))} more`;
  byId("rest").textContent = `Show all ${whole.format(found.list.length)}`;
}

function showEverything() {
  showPart(found.list.length);
}

function makeChips() {
  if (!labeled) return;
  const group = byId("class-filter");
  if (classes.length > 40) return group.append(makeClassMenu());
  classes.forEach((item, k) => {
    const chip = el("button", { type: "button", class: "chip", "aria-pressed": "false", "data-class": k },
      classTag(k), el("span", { class: "count", text: whole.format(item.prototypes) }));
    chip.addEventListener("click", () => {
      if (!wanted.classes.delete(k)) wanted.classes.add(k);
      chip.setAttribute("aria-pressed", String(wanted.classes.has(k)));
      showMatches();
    });
    group.append(chip);
  });
}

function makeClassMenu() {
  const menu = el("select", { id: "class-menu" }, el("option", { value: "", text: "all classes" }),
    ...classes.map((item, k) => el("option", { value: k, text: `${item.label} (${item.prototypes})` })));
  menu.addEventListener("change", () => {
    wanted.classes = new Set(menu.value === "" ? [] : [Number(menu.value)]);
    showMatches();
  });
  return el("label", { class: "field" }, el("span", { text: "Class" }), menu);
}

function clearFilter() {
  wanted.classes.clear();
  wanted.words = [];
  byId("search").value = "";
  if (byId("class-menu")) byId("class-menu").value = "";
  for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", "false");
  showMatches();
}

function startGrid() {
  makeChips();
  byId("grid").classList.add(cases.pictures ? "of-pictures" : cases.columns.length ? "of-rows" : "of-names");
  byId("search").addEventListener("input", (event) => {
    wanted.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    showMatches();
  });
  byId("sort").addEventListener("change", (event) => {
    wanted.sort = event.target.value;
    showMatches();
  });
  byId("reset").addEventListener("click", clearFilter);
  byId("more").addEventListener("click", () => showPart(2 * partSize));
  byId("rest").addEventListener("click", showEverything);
  showMatches();
}
