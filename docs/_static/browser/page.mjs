// From the visitor to the worker and back. Whatever comes from data is set as text, or shown in a
// frame that has no access to this page.
const worker = new Worker("worker.mjs", { type: "module" });
const part = (id) => document.getElementById(id);
const controls = ["file", "example", "target", "choose"].map(part);

function ask(task, given) {
  controls.forEach((control) => (control.disabled = true));
  part("output").hidden = true;
  worker.postMessage({ task, given });
}

function settle(text) {
  part("status").textContent = text;
  controls.forEach((control) => (control.disabled = false));
}

const hear = {
  status: ({ text }) => (part("status").textContent = text),
  error: ({ text }) => settle(`This did not work: ${text.trim().split("\n").pop()}`),
  columns: ({ answer }) => {
    part("target").replaceChildren(...answer.map((name) => new Option(name, name)));
    part("target").selectedIndex = answer.length - 1;
    part("question").hidden = false;
    settle(`The table has ${answer.length} columns.`);
  },
  result: ({ answer: { said, report, prototypes } }) => {
    settle(said);
    if (!report) return;
    part("report").srcdoc = report;
    part("download").href = URL.createObjectURL(new Blob([prototypes], { type: "text/csv" }));
    part("whole").href = URL.createObjectURL(new Blob([report], { type: "text/html" }));
    part("output").hidden = false;
  },
};

worker.onmessage = ({ data }) => hear[data.kind](data);
worker.onerror = () => settle("This browser could not start Python.");
part("file").onchange = async ({ target: { files } }) =>
  files.length && ask("table", new Uint8Array(await files[0].arrayBuffer()));
part("example").onclick = () => ask("example");
part("choose").onclick = () => ask("choose", part("target").value);
