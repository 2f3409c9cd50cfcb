// The page of `ileave explore`: what is chosen is asked by `post`, and what is answered is drawn.
const root = document.documentElement;
const sliders = {
  count: { values: d3.range(1, 25).map(String), shown: (n) => n },
  spares: { values: d3.range(0, 5).map(String), shown: (n) => n },
  chunk: { values: data.chunks, shown: (chunk) => chunk.replace(/(\d)([KM])/, "$1 $2") },
  depth: { values: d3.range(0, 9).map((n) => String(2 ** n)), shown: (n) => n, knob: true },
  block_kib: { values: d3.range(1, 13).map((n) => String(2 ** n)), shown: (n) => n >= 1024 ? `${n / 1024} MiB` : `${n} KiB`, knob: true },
  reads_percent: { values: d3.range(0, 101, 10).map(String), shown: (n) => `${n} %`, knob: true },
};
const menus = {
  drive: data.drives.map((drive) => [drive.name, drive.title]),
  level: data.levels.map((level) => [level, level]),
  rows: data.rows.map((rows) => [rows, rows]),
  work: data.works.map((work) => [work, work]),
};
const knobs = Object.keys(sliders).filter((id) => sliders[id].knob);
const control = (id) => document.getElementById(id);
const said = (id) => new URLSearchParams(location.hash.slice(1)).get(id);
const near = (id, value) => d3.leastIndex(sliders[id].values, (one) => Math.abs(Math.log((Number(one) + 1) / (value + 1))));

for (const [id, choices] of Object.entries(menus)) fill(control(id), choices, data.first[id]);
for (const [id, { values }] of Object.entries(sliders)) {
  Object.assign(control(id), { min: 0, max: values.length - 1, step: 1 });
  control(id).said = () => values[control(id).value];
}
// Another work has its own requests, another drive its own price.
control("work").clears = knobs;
control("drive").clears = ["price"];

// What is chosen, as the server takes it.
function cell() {
  const of = {};
  for (const [id, choices] of Object.entries(menus)) of[id] = chosen(id, choices.map(([value]) => value), data.first[id]);
  for (const id of ["count", "spares", "chunk"]) of[id] = chosen(id, sliders[id].values, data.first[id]);
  of.count = Number(of.count);
  of.spares = Number(of.spares);
  of.knobs = {};
  for (const id of knobs) {
    const value = chosen(id, sliders[id].values, null);
    if (value !== null) of.knobs[id] = Number(value);
  }
  const price = said("price");
  if (price && Number(price) >= 0) of.price_usd = Number(price);
  return of;
}

let last = null;
let before = null;
let wanted = null;
let asking = false;
let answers = 0;
const seen = new Map();
const kept = [];

function show() {
  const of = cell();
  controls(of);
  if (last && JSON.stringify(last.cell) === JSON.stringify(of)) return answered();
  ask(of);
}

// One request at a time; of what is chosen meanwhile only the last counts.
async function ask(of) {
  wanted = of;
  if (asking) return;
  asking = true;
  while (wanted) {
    const of = wanted;
    wanted = null;
    const began = performance.now();
    const answer = await post("ask", of);
    if (last && !last.answer.error) before = last;
    last = { cell: of, answer, ms: performance.now() - began };
    if (!answer.error) seen.set(JSON.stringify(of), last);
    controls(of);
    answered();
    root.dataset.ms = last.ms.toFixed(0);
    root.dataset.answered = String(++answers);
  }
  asking = false;
}

// The controls stand where the choice is; knobs that the work lacks are off.
function controls(of) {
  for (const id of Object.keys(menus)) control(id).value = of[id];
  const has = last && last.cell.work === of.work && !last.answer.error ? last.answer.knobs : null;
  for (const [id, { values, shown, knob }] of Object.entries(sliders)) {
    const value = knob ? of.knobs[id] ?? has?.[id] ?? null : of[id];
    const input = control(id);
    const off = knob && has !== null && has[id] === null;
    input.disabled = off;
    if (value !== null && !off) input.value = knob ? near(id, value) : values.indexOf(String(value));
    const text = off ? "–" : value === null ? "" : shown(value);
    input.nextElementSibling.textContent = text;
    input.setAttribute("aria-valuetext", text);
  }
  const drive = data.drives.find(({ name }) => name === of.drive);
  if (document.activeElement !== control("price")) control("price").value = of.price_usd ?? drive?.price_usd ?? "";
}

const busyOf = (did) => d3.sum(did.member_busy);
const terabytes = (answer) => answer.usable_bytes / 1e12;
const quantities = [
  ["rate", "MB/s", (answer) => answer.works[0]?.mb_per_s],
  ["requests", "per s", (answer) => answer.works[0]?.requests_per_s],
  ["median latency", "ms", (answer) => answer.works[0]?.latency_ms[1]],
  ["99 % below", "ms", (answer) => answer.works[0]?.latency_ms[2]],
  ["members busy", "", (answer) => answer.works[0] && busyOf(answer.works[0])],
  ["room", "TB", terabytes],
  ["may fail", "", (answer) => answer.survives],
  ["cost", "US$", (answer) => answer.cost_usd],
  ["cost of room", "US$/TB", (answer) => answer.cost_usd == null ? null : answer.cost_usd / terabytes(answer)],
];
const change = (now, then) => now == null || !then || Math.abs(now / then - 1) < 0.005 ? "" : `${now > then ? "+" : "−"}${Math.abs(100 * (now / then - 1)).toFixed(0)} %`;
const title = (of) => `${of.count}× ${of.drive}, ${of.work}`;
const knobWords = (of) => knobs.filter((id) => of.knobs[id] != null).map((id) => ` ${sliders[id].shown(of.knobs[id])}${id === "depth" ? " in flight" : id === "reads_percent" ? " reads" : ""}`).join(",");

function answered() {
  const { cell, answer, ms } = last;
  root.dataset.refused = answer.error ? "yes" : "no";
  $("#answer").textContent = answer.error ?? `${answer.name}: ${answer.works[0]?.mb_per_s == null ? "" : `${figure(answer.works[0].mb_per_s)} MB/s, `}${figure(terabytes(answer))} TB, ${answer.survives ? `survives any ${answer.survives === 1 ? "one drive failure" : `${answer.survives} drive failures`}` : "one failed drive loses everything"}.`;
  for (const id of ["figures", "busy", "export"]) control(id).hidden = Boolean(answer.error);
  if (answer.error) return;
  $("#about").textContent = [answer.about, ...answer.warnings].join(". ");
  const list = $("#figures dl");
  list.replaceChildren(...quantities.map(([name, unit, of]) => {
    const box = document.createElement("div");
    const [dt, dd, small] = ["dt", "dd", "small"].map((tag) => document.createElement(tag));
    dt.textContent = name;
    const value = of(answer);
    dd.textContent = value == null ? "not known" : `${Number.isInteger(value) ? value : figure(value)} ${unit}`;
    small.textContent = before ? change(value, of(before.answer)) : "";
    dd.append(" ", small);
    box.append(dt, dd);
    return box;
  }));
  const did = answer.works[0];
  const within = did?.interval_percent == null ? "" : ` ±${did.interval_percent.toFixed(0)} %`;
  $("#trial").textContent = `A short modelled trial${within}${did?.settled === false ? ", not steady yet" : ""}; answered in ${ms.toFixed(0)} ms. Percentages are against the choice before. The verdict below measures in full.`;
  busy(did);
  tried(cell);
  exported(answer.experiment, answer.commands, `${answer.name} over ${title(cell)}`);
  keptRows();
}

function busy(did) {
  const members = (did?.member_busy ?? []).map((share, member) => ({ member: String(member), share }));
  const section = control("busy");
  section.hidden = members.length === 0;
  if (section.hidden) return;
  draw(section, `${figure(busyOf(did))} of ${members.length} on average`, Plot.plot(options({
    height: 170, marginLeft: 46,
    x: { type: "band", domain: members.map(({ member }) => member), label: "member" },
    y: { domain: [0, 1], grid: true, label: "share of the time", ticks: 4, tickFormat: "%" },
    marks: [Plot.barY(members, { x: "member", y: "share", fill: "var(--accent)" }), Plot.ruleY([0])],
  })));
  table(section, ["member", "busy"], members.map(({ member, share }) => [member, share.toFixed(3)]));
}

// What was answered along the slider or menu that has made the last difference, everything else being equal.
function tried(now) {
  const section = control("tried");
  const flat = (of) => ({ ...of, ...of.knobs, knobs: "" });
  const here = flat(now);
  const apart = (of) => [...new Set([...Object.keys(here), ...Object.keys(flat(of))])].filter((key) => String(flat(of)[key]) !== String(here[key]));
  const others = [...seen.values()].filter(({ cell }) => apart(cell).length === 1);
  const key = others.length ? apart(others.at(-1).cell)[0] : null;
  const known = (of) => flat(of)[key] ?? last.answer.knobs[key];
  const points = key === null || key === "price_usd" ? [] : [...others.filter(({ cell }) => apart(cell)[0] === key), last].map(({ cell, answer }) => ({ at: String(known(cell)), rate: answer.works[0]?.mb_per_s, p99: answer.works[0]?.latency_ms[2], here: cell === last.cell }));
  const order = sliders[key]?.values ?? menus[key]?.map(([value]) => value) ?? [];
  points.sort((a, b) => order.indexOf(a.at) - order.indexOf(b.at));
  section.hidden = points.length < 2;
  if (section.hidden) return;
  const word = (at) => sliders[key] ? String(sliders[key].shown(sliders[key].knob ? Number(at) : at)) : at;
  const x = (point) => word(point.at);
  draw(section, `Rate along ${key.replace("_kib", "").replace("_percent", "")}, everything else as chosen`, Plot.plot(options({
    height: 240, marginLeft: 58, marginBottom: 46,
    x: { type: "point", domain: points.map(x), label: null, padding: 0.3 },
    y: { grid: true, zero: true, label: "MB/s", ticks: 5 },
    marks: [
      sliders[key] ? Plot.line(points, { x, y: "rate", stroke: "var(--accent)", strokeWidth: 1.8 }) : null,
      Plot.dot(points.filter((point) => point.here), { x, y: "rate", r: 8, fill: "var(--second)" }),
      Plot.dot(points, { x, y: "rate", r: 4, fill: "var(--accent)", tip: true, title: (point) => `${word(point.at)}\n${figure(point.rate)} MB/s\n99 % below ${figure(point.p99)} ms` }),
    ],
  })));
  table(section, [key, "MB/s", "99 % below, ms"], points.map((point) => [word(point.at), figure(point.rate), figure(point.p99)]));
}

function link(id, text, type) {
  const anchor = control(id);
  URL.revokeObjectURL(anchor.href);
  anchor.href = URL.createObjectURL(new Blob([text], { type }));
}

function exported(experiment, commands, of) {
  $("#exported").textContent = `Of ${of}. \`ileave run explore.toml\` measures it.`;
  for (const [id, text] of [["experiment", experiment], ["commands", commands]]) {
    control(id).textContent = text;
    link(`${id}-file`, text, "text/plain");
  }
}

const cellWords = ({ cell, answer }) => `${title(cell)}${knobWords(cell)}: ${answer.name}`;

function keptRows() {
  const section = control("kept");
  section.hidden = kept.length === 0;
  if (section.hidden) return;
  const rows = document.createElement("table");
  const head = rows.insertRow();
  for (const name of ["", "cell", ...quantities.map(([name, unit]) => unit ? `${name}, ${unit}` : name)]) {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = name;
    head.append(th);
  }
  kept.forEach((one, index) => {
    const row = rows.insertRow();
    const does = row.insertCell();
    for (const [name, done] of [["Show", () => goTo(one.cell)], ["Drop", () => { kept.splice(index, 1); judged(null); keptRows(); }]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.does = "";
      button.textContent = name;
      button.setAttribute("aria-label", `${name} ${cellWords(one)}`);
      button.addEventListener("click", done);
      does.append(button, " ");
    }
    row.insertCell().textContent = cellWords(one);
    for (const [, , of] of quantities) {
      const td = row.insertCell();
      td.className = "n";
      const value = of(one.full ? { ...one.answer, works: one.full } : one.answer);
      td.textContent = value == null ? "" : Number.isInteger(value) ? value : figure(value);
    }
  });
  control("rows-kept").replaceChildren(rows);
  const bars = kept.map((one, index) => ({ name: `${index + 1}`, rate: (one.full ?? one.answer.works)[0]?.mb_per_s, words: cellWords(one) }));
  draw(section, kept.some(({ full }) => full) ? "Measured in full where the verdict did" : "Short trials; the verdict measures in full", Plot.plot(options({
    height: 60 + 26 * bars.length, marginLeft: 40,
    x: { grid: true, zero: true, label: "MB/s", ticks: 5 }, y: { domain: bars.map(({ name }) => name), label: null },
    marks: [Plot.barX(bars, { y: "name", x: "rate", fill: "var(--accent)", tip: true, title: (bar) => `${bar.words}\n${figure(bar.rate)} MB/s` }), Plot.ruleX([0])],
  })));
  table(section, ["cell", "MB/s"], bars.map((bar) => [bar.words, figure(bar.rate)]));
}

function goTo(of) {
  const now = new URLSearchParams(location.hash.slice(1));
  for (const id of [...Object.keys(menus), "count", "spares", "chunk"]) now.set(id, of[id]);
  for (const id of knobs) of.knobs[id] == null ? now.delete(id) : now.set(id, of.knobs[id]);
  of.price_usd == null ? now.delete("price") : now.set("price", of.price_usd);
  location.hash = String(now);
}

function judged(found) {
  control("verdict").textContent = found?.verdict ?? "";
  control("verdict-file").hidden = !found;
  if (found) link("verdict-file", found.verdict, "text/plain");
}

control("keep").addEventListener("click", () => {
  const same = (one) => JSON.stringify(one.cell) === JSON.stringify(last.cell);
  if (!kept.some(same) && kept.length < data.judged_max) kept.push({ ...last });
  judged(null);
  keptRows();
});

control("judge").addEventListener("click", async () => {
  const these = [...kept];
  control("judge").disabled = true;
  $("#judging").textContent = "Measuring in full …";
  const found = await post("judge", these.map(({ cell }) => cell));
  control("judge").disabled = false;
  $("#judging").textContent = found.error ?? "";
  if (!found.error) {
    these.forEach((one, index) => (one.full = found.cells[index]));
    judged(found);
    exported(found.experiment, found.commands, "all that is kept; the commands build the best");
    keptRows();
  }
  root.dataset.judged = found.error ? "no" : "yes";
});

start(show);
