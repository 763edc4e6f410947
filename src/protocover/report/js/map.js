// The map of the prototypes. It is one tab stop; arrow keys move on it.

const mapSize = { width: 960, height: 560, margin: 34 };

function startMap() {
  if (!data.map) return;
  if (labeled) byId("map-legend").append(...classes.map((_, k) => classTag(k)));
  redrawWhenNarrow(drawMap);
  onFilter.push(dimMap);
}

function drawMap(narrow) {
  Object.assign(mapSize, narrow ? { width: 440, height: 520, margin: 22 } : { width: 960, height: data.map.x.length < 12 ? 400 : 560, margin: 34 });
  const places = layOutMap();
  const chart = svg("svg", { viewBox: `0 0 ${mapSize.width} ${mapSize.height}`, role: "group", "aria-label": `Map of the ${chosenWord}s; move with the arrow keys, open with Enter` });
  const nodes = places.map((place) => mapNode(place));
  // Small marks over large ones, so none is hidden.
  const order = places.map((_, k) => k).sort((a, b) => size(prototypes[b]) - size(prototypes[a]));
  chart.append(...order.map((k) => nodes[k]));
  nodes[0].setAttribute("tabindex", "0");
  chart.addEventListener("keydown", (event) => moveOnMap(event, places, nodes));
  byId("map-canvas").replaceChildren(chart, makeTip());
  if (cases.pictures) placePictures(places, nodes);
  else placeNames(places, chart);
  dimMap();
}

function dimMap() {
  const shown = new Set(found.list.map((prototype) => prototype.number));
  for (const node of document.querySelectorAll("#map-canvas .node")) {
    node.classList.toggle("dim", !shown.has(Number(node.getAttribute("data-prototype"))));
  }
}

// Fits the map into the picture, its long side along the picture's, without distortion.
function layOutMap() {
  let { x, y } = data.map;
  const span = (values) => Math.max(...values) - Math.min(...values);
  if (span(y) > span(x) !== mapSize.height > mapSize.width) [x, y] = [y, x];
  const { width, height, margin } = mapSize;
  const scale = Math.min((width - 2 * margin) / (span(x) || 1), (height - 2 * margin) / (span(y) || 1));
  const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
  const [mx, my] = [middle(x), middle(y)];
  const most = Math.max(1, ...prototypes.map(size));
  const largest = (x.length > 150 ? 11 : 15) * (mapSize.width < 500 ? 0.7 : 1);
  return x.map((value, k) => ({
    k,
    x: width / 2 + scale * (value - mx),
    y: height / 2 - scale * (y[k] - my),
    r: 4 + (largest - 4) * Math.sqrt(size(prototypes[k]) / most),
  }));
}

function mapNode({ k, x, y, r }) {
  const prototype = prototypes[k];
  const use = svg("use", { href: `#shape${Math.floor(prototype.class / 7) % 5}`, x: x - r, y: y - r, width: 2 * r, height: 2 * r });
  const node = svg("g", { class: `node k${prototype.class % 7}`, role: "button", tabindex: "-1", "data-prototype": k, "aria-label": describe(prototype) }, use);
  node.addEventListener("click", () => openPrototype(k));
  node.addEventListener("pointerenter", () => showTip(k, x, y));
  node.addEventListener("focus", () => showTip(k, x, y));
  node.addEventListener("pointerleave", hideTip);
  node.addEventListener("blur", hideTip);
  return node;
}

function moveOnMap(event, places, nodes) {
  const here = places[Number(event.target.closest(".node")?.getAttribute("data-prototype"))];
  if (!here) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    openPrototype(here.k);
  }
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (!ways[event.key]) return;
  event.preventDefault();
  const next = nearestThatWay(here, places, ways[event.key]);
  if (!next) return;
  nodes[here.k].setAttribute("tabindex", "-1");
  nodes[next.k].setAttribute("tabindex", "0");
  nodes[next.k].focus();
}

function nearestThatWay(here, places, [dx, dy]) {
  let best = null;
  let least = Infinity;
  for (const place of places) {
    const along = dx * (place.x - here.x) + dy * (place.y - here.y);
    const across = Math.abs(dy * (place.x - here.x)) + Math.abs(dx * (place.y - here.y));
    if (place !== here && along > 0 && across <= 2 * along && along + 2 * across < least) {
      least = along + 2 * across;
      best = place;
    }
  }
  return best;
}

// Pictures replace marks if they do not hide others, the largest first.
function placePictures(places, nodes) {
  const side = (places.length > 150 ? 30 : places.length > 60 ? 38 : 48) * (mapSize.width < 500 ? 0.75 : 1);
  const taken = [];
  const byCover = [...places].sort((a, b) => size(prototypes[b.k]) - size(prototypes[a.k]));
  for (const place of byCover) {
    const clash = prototypes[place.k].case >= cases.pictures.count || taken.some((other) => Math.abs(other.x - place.x) < side + 4 && Math.abs(other.y - place.y) < side + 4);
    if (clash) continue;
    taken.push(place);
    picture(prototypes[place.k].case).drawn.then((canvas) => {
      const box = { x: place.x - side / 2, y: place.y - side / 2, width: side, height: side };
      const turn = Math.floor(prototypes[place.k].class / 7) % 5;
      const frame = svg("rect", { class: `frame d${turn}`, ...box });
      // Colours repeat after seven classes; the mark of the legend distinguishes them.
      const corner = svg("use", { class: "corner", href: `#shape${turn}`, x: box.x + side - 9, y: box.y - 5, width: 14, height: 14 });
      const image = svg("image", { ...box, href: canvas.toDataURL() });
      if (canvas.classList.contains("coarse")) image.classList.add("coarse");
      nodes[place.k].replaceChildren(image, frame, ...(labeled && classes.length > 7 ? [corner] : []));
    });
  }
}

// Names next to the marks, cut if long, to the right or left if they fit.
const longestName = 22;
const ruler = document.createElement("canvas").getContext("2d");

// Cuts a name in the middle, and omits a beginning that all names share.
function cutName(name) {
  const begin = name.length > longestName ? sharedBeginning() : 0;
  const letters = [...(begin ? `…${name.slice(begin)}` : name)];
  if (letters.length <= longestName) return letters.join("");
  const half = Math.floor((longestName - 1) / 2);
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

function sharedBeginning() {
  const [first, ...rest] = classes.map((item) => item.label);
  if (!rest.length) return 0;
  const differs = (at) => rest.some((label) => label[at] !== first[at]);
  let length = 0;
  while (length < first.length && !differs(length)) length += 1;
  const word = first.lastIndexOf(" ", length - 1) + 1;
  return word > 8 ? word : 0;
}

function placeNames(places, chart) {
  const taken = places.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
  const byCover = [...places].sort((a, b) => size(prototypes[b.k]) - size(prototypes[a.k]));
  ruler.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";
  for (const { k, x, y, r } of byCover) {
    const label = cutName(labeled ? classLabel(prototypes[k].class) : cases.names[prototypes[k].case]);
    const width = ruler.measureText(label).width + 8;
    const boxes = [[x + r + 2, y - 8, x + r + 2 + width, y + 8], [x - r - 2 - width, y - 8, x - r - 2, y + 8]];
    const free = boxes.findIndex((box) => box[0] > 2 && box[2] < mapSize.width - 2 && !taken.some(([a, b, c, d]) => a < box[2] && c > box[0] && b < box[3] && d > box[1]));
    if (free < 0) continue;
    taken.push(boxes[free]);
    chart.append(svg("text", { class: "node-name", x: boxes[free][0] + 3, y: y + 4, text: label }));
  }
}

function makeTip() {
  return el("div", { id: "tip", class: "tip", hidden: true });
}

function showTip(k, x, y) {
  const prototype = prototypes[k];
  const tip = byId("tip");
  tip.replaceChildren(classTag(prototype.class) || "", datum(cases.names[prototype.case], "name"),
    el("span", { class: "fine", text: labeled ? `covers ${whole.format(prototype.covers)}, and ${whole.format(prototype.wrong)} of other classes` : `represents ${whole.format(prototype.newly)}` }));
  if (ownRadii) tip.append(el("span", { class: "fine", text: `radius ${number(prototype.radius)}` }));
  if (cases.pictures) tip.prepend(picture(prototype.case));
  tip.hidden = false;
  const [left, top] = [x / mapSize.width, y / mapSize.height];
  tip.style.left = `${100 * left}%`;
  tip.style.top = `${100 * top}%`;
  tip.classList.toggle("to-left", left > 0.6);
  tip.classList.toggle("above", top > 0.6);
}

function hideTip() {
  byId("tip").hidden = true;
}
