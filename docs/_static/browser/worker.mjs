// Python in a thread of its own, so that the page stays alive while it works.
const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
const PACKAGES = [
  "numpy", "scipy", "scikit-learn", "highspy", "threadpoolctl", "tqdm",
  "pandas", "jinja2", "pillow", "pyarrow", "micropip",
];

const say = (text) => postMessage({ kind: "status", text });
let session;

async function start() {
  say("Fetching Python, once: some 60 MB …");
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: PYODIDE });
  await python.loadPackage(PACKAGES, { messageCallback: say });
  const loaded = Object.keys(python.loadedPackages).map((name) => name.toLowerCase());
  const missing = PACKAGES.filter((name) => !loaded.includes(name));
  if (missing.length) throw new Error(`${missing.join(", ")} could not be fetched from ${PYODIDE}`);
  say("Fetching protocover …");
  const named = await fetch("wheel.txt");
  const wheel = named.ok ? new URL((await named.text()).trim(), location).href : "protocover";
  // Its dependencies are loaded already, as Pyodide builds them.
  await python.runPythonAsync("import micropip");
  await python.pyimport("micropip").install.callKwargs(wheel, { deps: false });
  python.FS.writeFile("/home/pyodide/session.py", await (await fetch("session.py")).text());
  session = python.pyimport("session");
}

const tasks = {
  table: (data) => session.take_table(data).toJs(),
  example: () => session.take_example().toJs(),
  choose: (target) =>
    session.choose_prototypes(target).toJs({ dict_converter: Object.fromEntries }),
};

let ready;
onmessage = async ({ data: { task, given } }) => {
  try {
    ready ??= start();
    await ready;
    say(task === "choose" ? "Choosing prototypes …" : "Reading the table …");
    postMessage({ kind: task === "choose" ? "result" : "columns", answer: tasks[task](given) });
  } catch (error) {
    if (!session) ready = undefined; // the next try starts over
    postMessage({ kind: "error", text: String(error.message ?? error) });
  }
};
