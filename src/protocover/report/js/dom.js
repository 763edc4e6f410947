// Elements and formatted numbers. Text enters the page here, and only as text.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "click") node.addEventListener("click", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Text of the data, with its own direction.
function datum(text, kind = "text") {
  return el("span", { class: kind, dir: "auto", text });
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

function count(n, one, many) {
  return `${whole.format(n)} ${n === 1 ? one : many || `${one}s`}`;
}

function number(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  return Number.isInteger(value) ? String(value) : short.format(value);
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

// Draws now, and again when the window becomes narrow or wide.
function redrawWhenNarrow(redraw) {
  const narrow = window.matchMedia("screen and (max-width: 720px)");
  narrow.addEventListener("change", () => redraw(narrow.matches));
  redraw(narrow.matches);
}

// Shows a few items at a time, with a button for more.
function inParts(items, size, target, build) {
  const button = el("button", { type: "button", class: "plain more" });
  let next = 0;
  function show(most) {
    const part = items.slice(next, most);
    next += part.length;
    target.append(...part.map(build));
    button.hidden = next >= items.length;
    button.textContent = `Show more (${whole.format(items.length - next)} left)`;
  }
  button.addEventListener("click", () => show(next + size));
  show(size);
  return { button, all: () => show(items.length) };
}
