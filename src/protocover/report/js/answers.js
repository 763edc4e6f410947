// Predictions for cases outside the training data, with their comparisons, a few at a time.

const answerPart = 5;

function startAnswers() {
  for (const name of ["held-out", "queries"]) {
    const answers = data[name.replace("-", "_")];
    if (answers) showAnswers(name, answers.listed);
  }
}

function showAnswers(name, listed) {
  const place = byId(`${name}-list`);
  const search = byId(`${name}-search`);
  const texts = listed.map((item) => searchable([cases.names[item.case], item.answer, item.label || ""]));
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = byId(`${name}-wrong`)?.getAttribute("aria-pressed") === "true";
    const fitting = findWords(listed, (item) => texts[listed.indexOf(item)], words).filter((item) => item.wrong || !wanted);
    const body = el("div", { class: "answers" });
    const parts = inParts(fitting, answerPart, body, answerBlock);
    place.replaceChildren(fitting.length ? body : el("p", { class: "nothing", text: "No matching cases." }), parts.button);
  };
  search.addEventListener("input", draw);
  byId(`${name}-wrong`)?.addEventListener("click", (event) => {
    const chip = event.currentTarget;
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    draw();
  });
  draw();
}

function answerBlock(item) {
  const answer = item.class < 0 ? datum(item.answer) : classTag(item.class);
  const verdict = item.label === null ? null : el("span", { class: item.wrong ? "verdict wrong" : "verdict", text: item.wrong ? "incorrect" : "correct" });
  const label = item.wrong ? el("span", { class: "should" }, "true class ", cases.classes[item.case] < 0 ? datum(item.label) : classTag(cases.classes[item.case])) : null;
  return el("article", { class: "answer", "data-case": item.case },
    el("h3", {}, caseButton(item.case), el("span", { class: "answered" }, "predicted ", answer), label, verdict),
    comparison(item.case, comparedFirst));
}
