// The page of a run: its factors, where the time went, and what was published.
const level = (row, path) => String(row.at[path] ?? "");
const factorOf = (path) => data.factors.find((factor) => factor.path === path);
const quantityOf = (name) => data.quantities.find((quantity) => quantity.name === name);
const rowsOf = (name) => data.rows.filter((row) => row.quantity === name);

const state = () => {
  const paths = data.factors.map((factor) => factor.path);
  const factor = chosen("factor", paths, data.first_factor ?? paths[0]);
  const across = chosen("across", paths, data.first_factor ?? paths[0]);
  return {
    quantity: chosen("quantity", data.quantities.map((q) => q.name), data.quantities[0]?.name),
    scale: chosen("scale", ["auto", "linear", "log"], "auto"),
    factor,
    across,
    down: chosen("down", paths, [data.second_factor, ...paths].find((path) => path && path !== across) ?? across),
  };
};

// A line for each value of one factor, along another: a load where one was varied, for a load is no choice but an axis.
function curves() {
  const section = $("#curves");
  section.hidden = data.curves.length === 0;
  if (section.hidden) return;
  const names = data.curves.map((curve) => curve.workload);
  const curve = data.curves[names.indexOf(chosen("curve", names, names[0]))];
  const metrics = curve.samples.map((sample) => sample.name);
  const metric = chosen("metric", metrics, metrics[0]), index = metrics.indexOf(metric), sample = curve.samples[index];
  const paths = curve.factors.map((factor) => factor.path);
  const most = (factors) => d3.greatest(factors, (factor) => factor.levels.length)?.path;
  const along = chosen("along", paths, most(curve.factors.filter((f) => f.load)) ?? most(curve.factors));
  const others = paths.filter((path) => path !== along);
  const lines = others.length ? chosen("lines", others, most(curve.factors.filter((f) => f.path !== along && !f.load)) ?? others[0]) : undefined;
  const named = (path) => curve.factors.find((factor) => factor.path === path);
  fill($("#curve"), names.map((name) => [name, name]), curve.workload);
  fill($("#metric"), curve.samples.map((s) => [s.name, s.words]), metric);
  fill($("#along"), curve.factors.map((f) => [f.path, f.name]), along);
  fill($("#lines"), others.map((path) => [path, named(path).name]), lines);
  for (const [id, count] of [["curve", names.length], ["metric", metrics.length], ["along", paths.length], ["lines", others.length]]) $(`#${id}`).parentElement.hidden = count < 2;
  section.dataset.along = along;
  section.dataset.lines = lines ?? "";
  $("h2", section).textContent = named(along).load ? "Under load" : "Two factors at once";
  const groups = d3.groups(curve.cells.filter((cell) => cell.values[index][0] != null), (cell) => cell.at[along] ?? "", (cell) => lines ? cell.at[lines] ?? "" : "");
  const points = groups.flatMap(([x, inner]) => inner.map(([z, cells]) => {
    const of = (place) => d3.median(cells, (cell) => cell.values[index][place]);
    return { x: shown(x), z: shown(z), value: of(0), low: of(1), high: of(2), cells: cells.length };
  }));
  const levels = named(along).levels.map(shown), kinds = lines ? named(lines).levels.map(shown).filter((z) => points.some((p) => p.z === z)) : [];
  const place = (point) => levels.indexOf(point.x);
  const sorted = points.slice().sort((a, b) => place(a) - place(b));
  const ends = kinds.map((z) => sorted.filter((p) => p.z === z).at(-1));
  const [low, high] = [d3.min(points, (p) => p.low), d3.max(points, (p) => p.high)];
  const log = low > 0 && high / low > 8;
  const merged = d3.max(points, (p) => p.cells) > 1;
  const spread = points.filter((p) => p.high > p.low);
  const better = { lower: ", less is better", higher: ", more is better" }[sample.better] ?? "";
  const stroke = kinds.length > 1 ? "z" : "var(--accent)";
  draw(section, `${curve.workload}: ${sample.words} (${sample.unit || "number"}${better}) along ${named(along).name}${lines ? `, a line for each ${named(lines).name}` : ""}.${merged ? " Points are medians over all other factors." : ""}${spread.length ? " Bars are the range of the repeats." : ""}`,
    Plot.plot(options({
      height: narrow() ? 300 : 380, marginLeft: 56, marginBottom: 44, marginRight: kinds.length > 1 ? 20 + (narrow() ? 6.5 : 7.5) * d3.max(kinds, (z) => z.length) : 20,
      x: { type: "point", domain: levels, label: named(along).name, padding: 0.2 },
      y: { type: log ? "log" : "linear", grid: true, label: sample.unit, nice: !log, zero: !log, domain: log ? [low * 0.85, high * 1.15] : undefined, tickFormat: log ? "~s" : undefined, ticks: 6 },
      color: { domain: kinds, scheme: kinds.length > 10 ? "Turbo" : "Observable10" },
      marks: [
        Plot.ruleX(spread, { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 2, strokeOpacity: 0.5 }),
        Plot.line(sorted, { x: "x", y: "value", z: "z", stroke, strokeWidth: 2 }),
        Plot.dot(sorted, { x: "x", y: "value", fill: stroke, r: 4, tip: true, title: (p) => `${named(along).name} ${p.x}${lines ? `, ${named(lines).name} ${p.z}` : ""}\n${figure(p.value)} ${sample.unit}` }),
        kinds.length > 1 ? Plot.text(apart(ends, log), { x: "x", y: "label", text: "z", fill: "z", dx: 9, textAnchor: "start", fontWeight: 600 }) : null,
      ],
    })));
  table(section, [named(along).name, ...(lines ? [named(lines).name] : []), sample.words, "low", "high"],
    sorted.map((p) => [p.x, ...(lines ? [p.z] : []), figure(p.value), figure(p.low), figure(p.high)]));
}

// Where the names of the lines stand at their ends: moved apart where they would cover each other.
function apart(ends, log) {
  const to = log ? Math.log : (y) => y, from = log ? Math.exp : (y) => y;
  const labels = ends.map((end) => ({ ...end, y: to(end.value) })).sort((a, b) => a.y - b.y);
  const all = d3.extent(labels, (label) => label.y);
  const step = Math.max(1e-12, log ? 0.09 : 0.05 * Math.max(all[1], all[1] - all[0]));
  labels.forEach((label, index) => { if (index > 0) label.y = Math.max(label.y, labels[index - 1].y + step); });
  return labels.map((label) => ({ ...label, label: from(label.y) }));
}

// Cells that differ in this factor only share a line.
const line = (row, path) => data.factors.filter((f) => f.path !== path).map((f) => level(row, f.path)).join(" · ");

function sweep({ quantity: name, factor: path, scale }) {
  const section = $("#sweep");
  const factor = factorOf(path), quantity = quantityOf(name);
  section.hidden = !factor || !quantity;
  if (section.hidden) return;
  section.dataset.factor = path;
  section.dataset.quantity = name;
  const rows = rowsOf(name);
  const levels = factor.levels.filter((word) => rows.some((row) => level(row, path) === word));
  const lines = new Set(rows.map((row) => line(row, path)));
  const few = lines.size <= 8;
  const values = rows.flatMap((row) => [row.low ?? row.value, row.high ?? row.value]);
  const spread = d3.max(values) / d3.min(values);
  const log = d3.min(values) > 0 && (scale === "log" || (scale === "auto" && spread > 8));
  const middles = levels.map((word) => ({ word, value: d3.median(rows.filter((row) => level(row, path) === word), (row) => row.value) }));
  const x = (row) => shown(level(row, path));
  const colour = few && lines.size > 1 ? (row) => line(row, path) || name : () => "each layout";
  const better = { lower: ", less is better", higher: ", more is better" }[quantity.better] ?? "";
  const intervals = rows.filter((row) => row.low != null && row.high != null);
  draw(section, `${name} (${quantity.unit || "number"}${better}) by ${factor.name}; ${!few ? "each line is one setting of all else, the thick one their median" : intervals.length ? "bars are 95 % intervals" : "nothing says how wide the intervals are"}.`,
    Plot.plot(options({
      height: narrow() ? 300 : 380, marginLeft: 56, marginBottom: 44,
      x: { type: "point", domain: levels.map(shown), label: factor.name, padding: 0.4 },
      y: { type: log ? "log" : "linear", grid: true, label: `${quantity.unit}`, domain: log ? [d3.min(values) * 0.85, d3.max(values) * 1.15] : undefined, nice: !log, zero: !log && spread > 1.6, tickFormat: log ? "~s" : undefined, ticks: 6 },
      color: few && lines.size > 1 ? { legend: true, scheme: "Observable10" } : { range: [few ? "var(--accent)" : "var(--quiet)"] },
      marks: [
        few ? Plot.ruleX(intervals, { x, y1: "low", y2: "high", stroke: colour, strokeWidth: 2, strokeOpacity: 0.6 }) : null,
        Plot.line(rows.slice().sort((a, b) => levels.indexOf(level(a, path)) - levels.indexOf(level(b, path))), { x, y: "value", z: (row) => line(row, path), stroke: colour, strokeOpacity: few ? 1 : 0.25, strokeWidth: few ? 1.8 : 1 }),
        Plot.dot(rows, { x, y: "value", fill: colour, r: few ? 4 : 2.2, fillOpacity: few ? 1 : 0.5, tip: true, title: (row) => `${row.label}\n${figure(row.value)} ${quantity.unit}${row.low == null ? "" : ` (${figure(row.low)}–${figure(row.high)})`}` }),
        few ? null : Plot.line(middles, { x: (d) => shown(d.word), y: "value", stroke: "var(--accent)", strokeWidth: 3 }),
        few ? null : Plot.dot(middles, { x: (d) => shown(d.word), y: "value", fill: "var(--accent)", r: 5 }),
      ],
    })));
  table(section, [...data.factors.map((f) => f.name), name, "low", "high", "trials"],
    rows.map((row) => [...data.factors.map((f) => level(row, f.path)), figure(row.value), figure(row.low), figure(row.high), String(row.trials)]));
}

function heat({ quantity: name, across, down }) {
  const section = $("#heat");
  const quantity = quantityOf(name);
  section.hidden = data.factors.length < 2 || !quantity || across === down;
  if (section.hidden) return;
  section.dataset.across = across;
  section.dataset.down = down;
  const groups = d3.rollups(rowsOf(name), (rows) => d3.median(rows, (row) => row.value), (row) => level(row, across), (row) => level(row, down));
  const cells = groups.flatMap(([x, inner]) => inner.map(([y, value]) => ({ x, y, value })));
  const [low, high] = d3.extent(cells, (cell) => cell.value);
  const log = low > 0 && high / low > 8;
  const place = (value) => high === low ? 0 : log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const good = (value) => quantity.better === "lower" ? 1 - place(value) : place(value);
  const used = (path, key) => factorOf(path).levels.filter((word) => cells.some((cell) => cell[key] === word)).map(shown);
  draw(section, `The median of ${name} (${quantity.unit || "number"}) by ${factorOf(across).name} across and ${factorOf(down).name} down; the darker, the ${quantity.better === "neither" ? "more" : "better"}.`,
    Plot.plot(options({
      height: 70 + 40 * used(down, "y").length, marginLeft: 24 + (narrow() ? 7 : 8) * d3.max(used(down, "y"), (word) => word.length), marginBottom: 44,
      x: { domain: used(across, "x"), label: factorOf(across).name }, y: { domain: used(down, "y"), label: null },
      color: { scheme: "blues", domain: [0, 1] },
      marks: [
        Plot.cell(cells, { x: (d) => shown(d.x), y: (d) => shown(d.y), fill: (d) => 0.08 + 0.84 * good(d.value), inset: 1, rx: 3 }),
        Plot.text(cells, { x: (d) => shown(d.x), y: (d) => shown(d.y), text: (d) => figure(d.value), fill: (d) => good(d.value) > 0.5 ? "white" : "#111", fontWeight: 600 }),
      ],
    })));
  table(section, [factorOf(across).name, factorOf(down).name, name], cells.map((cell) => [cell.x, cell.y, figure(cell.value)]));
}

const cellLabel = (cell) => cell.short;
const cellTitle = (cell) => `${cell.workload}: ${cell.label}`;
const labelMargin = (cells) => Math.min(narrow() ? 150 : 320, 16 + (narrow() ? 6.2 : 7.2) * d3.max(cells, (cell) => cellLabel(cell).length));
const clip = (text) => { const most = narrow() ? 23 : 44; return text.length > most ? `${text.slice(0, most - 1)}…` : text; };

// More rows than these no chart shows; a note says so.
const ROWS = 60;
const firstOf = (cells) => cells.length > ROWS ? ` The first ${ROWS} of ${cells.length} cells.` : "";

function time() {
  const section = $("#time");
  const all = data.cells.filter((cell) => cell.parts.length > 0);
  const cells = all.slice(0, ROWS);
  section.hidden = cells.length === 0;
  if (section.hidden) return;
  const parts = cells.flatMap((cell) => cell.parts.filter((part) => part.ms > 0).map((part) => ({ cell, ...part })));
  const names = [...new Set(data.cells.flatMap((cell) => cell.parts.map((part) => part.part)))].filter((name) => parts.some((part) => part.part === name));
  draw(section, `In ms a request, from the first moment to the last.${firstOf(all)}`,
    Plot.plot(options({
      height: 70 + 26 * cells.length, marginLeft: labelMargin(cells),
      marginBottom: 44, x: { label: "ms a request", labelAnchor: "center", grid: true }, y: { domain: cells.map(cellLabel), label: null, tickFormat: clip },
      color: { domain: names, legend: true, scheme: "Tableau10" },
      marks: [Plot.barX(parts, Plot.stackX({ y: (d) => cellLabel(d.cell), x: "ms", fill: "part", order: names, inset: 1, tip: true, title: (d) => `${cellTitle(d.cell)}\n${d.part} ${figure(d.ms)} ms` }))],
    })));
  table(section, ["cell", "part", "ms"], parts.map((part) => [cellTitle(part.cell), part.part, figure(part.ms)]));
}

function members() {
  const section = $("#members");
  const all = data.cells.filter((cell) => cell.member_busy.length > 0);
  const cells = all.slice(0, ROWS);
  section.hidden = cells.length === 0;
  if (section.hidden) return;
  const busy = cells.flatMap((cell) => cell.member_busy.map((share, member) => ({ cell, member: String(member), share })));
  const counted = d3.max(cells, (cell) => cell.member_busy.length);
  draw(section, `The share of the time, of each member from 0.${firstOf(all)}`,
    Plot.plot(options({
      height: 70 + 26 * cells.length, marginLeft: labelMargin(cells), marginBottom: 44,
      x: { label: "member", domain: d3.range(counted).map(String) }, y: { domain: cells.map(cellLabel), label: null, tickFormat: clip },
      color: { scheme: "oranges", domain: [0, 1] },
      marks: [
        Plot.cell(busy, { x: "member", y: (d) => cellLabel(d.cell), fill: (d) => 0.05 + 0.85 * d.share, inset: 1, rx: 3 }),
        counted > 24 ? null : Plot.text(busy, { x: "member", y: (d) => cellLabel(d.cell), text: (d) => `${(100 * d.share).toFixed(0)} %`, fill: (d) => d.share > 0.6 ? "white" : "#111" }),
      ],
    })));
  table(section, ["cell", "member", "busy"], busy.map((d) => [cellTitle(d.cell), d.member, d.share.toFixed(3)]));
}

function published() {
  const section = $("#published");
  section.hidden = data.published == null;
  if (section.hidden) return;
  $(".note", section).textContent = data.published.source;
  multiples(section, data.published, varied(data.published.cells)[0]);
}

function show() {
  const now = state();
  $("#scale").value = now.scale;
  const factors = data.factors.map((factor) => [factor.path, factor.name]);
  fill($("#quantity"), data.quantities.map((quantity) => [quantity.name, quantity.name]), now.quantity);
  for (const key of ["factor", "across", "down"]) fill($(`#${key}`), factors, now[key]);
  curves();
  sweep(now);
  heat(now);
  time();
  members();
  published();
}

start(show);
