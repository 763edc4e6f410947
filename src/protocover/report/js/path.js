// Score and number of prototypes against the radius or cost, with the chosen value.

const chartSize = { width: 960, left: 64, right: 24 };

function startPath() {
  if (data.path) redrawWhenNarrow(drawPath);
}

function drawPath(narrow) {
  Object.assign(chartSize, narrow ? { width: 440, left: 52, right: 10 } : { width: 960, left: 64, right: 24 });
  const path = data.path;
  const known = path.eps.map((_, i) => i).filter((i) => path.error[i] !== null);
  const share = path.name === "error";
  const low = (i) => path.error[i] - path.se[i];
  const high = (i) => path.error[i] + path.se[i];
  const top = scale(Math.min(share ? 0 : Infinity, path.limit, ...known.map(low)), Math.max(path.limit, ...known.map(high)), 220, 46);
  const bottom = scale(Math.log10(Math.max(0.8, Math.min(...path.prototypes))), Math.log10(Math.max(2, ...path.prototypes)), 428, 300);
  const across = scale(Math.min(...path.eps), Math.max(...path.eps), chartSize.left + 14, chartSize.width - chartSize.right - 10);
  const chart = svg("svg", { viewBox: `0 0 ${chartSize.width} 476`, role: "img", "aria-label": pathWords(path) });
  const here = across.at(path.eps[path.chosen]);
  chart.append(svg("line", { class: "chosen-line", x1: here, x2: here, y1: 36, y2: 430 }));
  drawAxis(chart, top, (v) => (share ? `${number(Number((100 * v).toPrecision(4)))} %` : number(v)), niceTicks(top.low, top.high, 5));
  drawAxis(chart, bottom, (v) => whole.format(10 ** v), logTicks(bottom.low, bottom.high));
  for (const tick of niceTicks(across.low, across.high, narrow ? 4 : 8)) {
    chart.append(svg("text", { class: "tick-name", x: across.at(tick), y: 450, "text-anchor": "middle", text: number(tick) }));
  }
  chart.append(
    axisName(chartSize.left, 28, share ? "cross-validated error" : `cross-validated ${path.name}`),
    axisName(chartSize.left, 284, "prototypes, mean over the folds"),
    svg("text", { class: "axis-name", x: chartSize.width - chartSize.right, y: 468, "text-anchor": "end", text: path.parameter }));
  drawLimit(chart, top.at(path.limit));
  drawCurve(chart, known, (i) => [across.at(path.eps[i]), top.at(path.error[i])], path.chosen, (i) => [top.at(low(i)), top.at(high(i))]);
  drawCurve(chart, path.eps.map((_, i) => i), (i) => [across.at(path.eps[i]), bottom.at(Math.log10(Math.max(0.8, path.prototypes[i])))], path.chosen, null);
  const side = here > chartSize.width / 2 ? "end" : "start";
  chart.append(svg("text", { class: "chosen-name", x: here + (side === "end" ? -8 : 8), y: 252, "text-anchor": side, text: chosenWords(path, share) }));
  byId("path-canvas").replaceChildren(chart);
}

function scale(low, high, from, to) {
  const span = high - low || 1;
  return { low, high, from, to, at: (value) => from + ((to - from) * (value - low)) / span };
}

function niceTicks(low, high, wish) {
  const rough = (high - low) / wish || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / size); k * size <= high * (1 + 1e-9); k += 1) ticks.push(Number((k * size).toPrecision(10)));
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  const steps = high - low > 2 ? [1, 10] : [1, 2, 5];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
    for (const m of steps) ticks.push(power + Math.log10(m));
  }
  return [...new Set(ticks)].filter((tick) => tick >= low - 1e-9 && tick <= high + 1e-9);
}

function drawAxis(chart, axis, name, ticks) {
  for (const tick of ticks) {
    const y = axis.at(tick);
    chart.append(svg("line", { class: "grid-line", x1: chartSize.left, x2: chartSize.width - chartSize.right, y1: y, y2: y }),
      svg("text", { class: "tick-name", x: chartSize.left - 8, y: y + 4, "text-anchor": "end", text: name(tick) }));
  }
}

function axisName(x, y, text) {
  return svg("text", { class: "axis-name", x, y, text });
}

function drawLimit(chart, y) {
  chart.append(svg("line", { class: "threshold", x1: chartSize.left, x2: chartSize.width - chartSize.right, y1: y, y2: y }));
}

function drawCurve(chart, rows, place, chosen, whiskers) {
  const line = rows.map((i) => place(i).map((v) => v.toFixed(1)).join(" ")).join("L");
  chart.append(svg("path", { class: "curve", d: `M${line}` }));
  for (const i of rows) {
    const [x, y] = place(i);
    if (whiskers) {
      const [from, to] = whiskers(i);
      chart.append(svg("line", { class: "error-bar", x1: x, x2: x, y1: from, y2: to }));
    }
    chart.append(svg("circle", { class: i === chosen ? "dot chosen" : "dot", cx: x, cy: y, r: i === chosen ? 6 : 3.5 }));
  }
}

function chosenWords(path, share) {
  const score = share ? percent(path.error[path.chosen]) : number(path.error[path.chosen]);
  return `chosen: ${number(path.eps[path.chosen])}, ${path.name} ${score}`;
}

function pathWords(path) {
  return `${path.name} and number of prototypes against the ${path.parameter}; ${chosenWords(path, path.name === "error")}. The table below lists all values.`;
}
