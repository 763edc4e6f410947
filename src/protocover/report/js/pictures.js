// Pictures, cut from their sheets on demand.

const sheets = new Map();

function loadSheet(s) {
  if (!sheets.has(s)) {
    const image = new Image();
    sheets.set(s, new Promise((done) => {
      image.addEventListener("load", () => done(image));
    }));
    image.src = `data:image/png;base64,${cases.pictures.sheets[s]}`;
  }
  return sheets.get(s);
}

// Returns a canvas immediately, and draws on it when its sheet is loaded.
function picture(i, kind = "picture") {
  const { width, height, across, per_sheet: perSheet } = cases.pictures;
  if (i >= cases.pictures.count) return el("span", { class: `${kind} blank`, text: "no picture" });
  const canvas = el("canvas", { class: kind, width, height, role: "img", "aria-label": cases.names[i] });
  if (Math.max(width, height) < 100) canvas.classList.add("coarse");
  const place = i % perSheet;
  canvas.drawn = loadSheet(Math.floor(i / perSheet)).then((sheet) => {
    const x = (place % across) * width;
    const y = Math.floor(place / across) * height;
    canvas.getContext("2d").drawImage(sheet, x, y, width, height, 0, 0, width, height);
    return canvas;
  });
  return canvas;
}
