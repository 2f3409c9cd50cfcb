// The page of a run: its factors, where the time went, and what was published.
// Rows name their quantity and their layout by place.
data.rows = data.rows.map(([quantity, layout, value, low, high, trials]) => ({ quantity: data.quantities[quantity].name, ...data.layouts[layout], value, low, high, trials }));
// Colours are in page.css, names of d3's scales too.
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const level = (row, path) => String(row.at[path] ?? "");
const factorOf = (path) => data.factors.find((factor) => factor.path === path);
const quantityOf = (name) => data.quantities.find((quantity) => quantity.name === name);
// Of too many layouts `data.all` has what all come to, and the rows are of some of them.
const isAllOf = (name) => data.all && data.quantities[0].name === name;
const middlesOf = (name, factor) => isAllOf(name) ? data.all.middles[data.factors.indexOf(factor)] : undefined;
const pairOf = (name, a, b) => {
  if (!isAllOf(name)) return undefined;
  const [x, y] = [a, b].map((factor) => data.factors.indexOf(factor));
  const pair = data.all.pairs.find(({ factors }) => factors.includes(x) && factors.includes(y));
  return (pair?.cells ?? []).map(([one, other, place, value, median, count]) => {
    const levels = pair.factors[0] === x ? [one, other] : [other, one];
    return { x: shown(a.levels[levels[0]]), y: shown(b.levels[levels[1]]), median, count, best: { ...data.layouts[place], value } };
  });
};
// The cells of a workload; of too many those that stand for each pair of values of two factors.
const cellsOf = (sweep, along, lines) => sweep.pairs ? sweep.pairs.find(({ paths }) => paths.includes(along) && paths.includes(lines))?.cells ?? [] : sweep.cells;
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

// The chart of the choice: of one factor a sweep for each workload, of several an overview of the best in each pair.
function choice() {
  const section = $("#choice");
  // What was not varied among the layouts that were measured tells nothing apart.
  const rows = rowsOf(data.quantities[0]?.name);
  const factors = data.factors.filter((factor) => new Set(rows.map((row) => level(row, factor.path))).size > 1);
  const many = factors.length > 1;
  const most = 6;
  const sweeps = many ? [] : data.sweeps.flatMap((sweep) => ofOneLoad(sweep, factors[0]));
  const plots = many ? [overview(factors)] : sweeps.slice(0, most).map((sweep, _, all) => alongChoice(sweep, factors[0], all.length));
  section.hidden = plots.length === 0;
  if (!section.hidden) {
    $(".note", section).textContent = many ? `${data.quantities[0].name} (${data.quantities[0].unit || "number"}${betterWords(data.quantities[0])}): the best layout for every pair of the two factors that decide most.` : `${choiceNote(factors[0], plots)}${sweeps.length > most ? ` The first ${most} of ${sweeps.length} charts.` : ""}`.trim();
    figures(section, plots, many ? 1 : 2);
    const signs = !many && data.published && plots.some((plot) => plot.published) ? [["ours", "ours, with its 95 % interval"], ["theirs", "published"]] : [];
    $(".legend", section).replaceChildren(...signs.map(([kind, words]) => {
      const item = document.createElement("span"), dot = document.createElement("i");
      dot.className = kind;
      item.append(dot, words);
      return item;
    }));
    const points = plots.flatMap((plot) => plot.rows);
    table(section, plots[0].header, points);
  }
  const panels = $("#factors");
  panels.hidden = !many;
  if (panels.hidden) return;
  $(".note", panels).textContent = `${data.quantities[0].name} (${data.quantities[0].unit || "number"}${betterWords(data.quantities[0])}). Each dot is a layout, the thick line their median.`;
  figures(panels, factors.slice(0, 6).map(panel), 2);
}

// Charts in a grid, each below its name and what it shows.
function figures(section, plots, most) {
  const columns = narrow() ? 1 : Math.min(most, plots.length);
  const place = $(".multiples", section);
  place.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  place.replaceChildren(...plots.map(({ title, words, draw }) => {
    const box = document.createElement("figure");
    const head = document.createElement("figcaption"), small = document.createElement("span");
    head.textContent = title;
    small.textContent = words;
    head.append(small);
    const plot = draw(Math.floor((width() - 16 * (columns - 1)) / columns));
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `${title}: ${words}`);
    box.append(head, plot);
    return box;
  }));
}

const betterWords = ({ better }) => ({ lower: ", less is better", higher: ", more is better" })[better] ?? "";
const choiceNote = (factor, plots) => plots.some((plot) => plot.ringed) ? `${factor ? `By ${factor.axis}. ` : ""}Bars are 95 % intervals; the ringed point is the best that was measured.` : "";

// The axis and the lines of a workload's chart, and what else was varied.
function axesOf(sweep, factor) {
  const most = (factors) => d3.greatest(factors, (f) => f.levels.length);
  const own = factor && sweep.factors.find((f) => f.path === factor.path);
  const load = most(sweep.factors.filter((f) => f.load));
  const along = load ?? own ?? most(sweep.factors);
  const lines = load ? own ?? most(sweep.factors.filter((f) => f !== load)) : undefined;
  return { load, along, lines, others: sweep.factors.filter((f) => f !== along && f !== lines) };
}

// A workload with one value of whatever is neither axis nor line: a chart for each says of what it is.
function ofOneLoad(sweep, factor) {
  const { others } = axesOf(sweep, factor);
  if (others.length === 0 && !sweep.pairs) return [sweep];
  if (sweep.pairs) {
    const { along, lines } = axesOf(sweep, factor);
    return [{ ...sweep, title: `${sweep.workload}${others.length ? `, medians over every ${others.map((f) => f.name).join(", ")}` : ""}`, cells: cellsOf(sweep, along.path, lines?.path) }];
  }
  const key = (cell) => others.map((f) => f.levels.indexOf(cell.at[f.path] ?? ""));
  const words = (cell) => others.map((f) => `${f.name} ${shown(cell.at[f.path] ?? "")}`).join(", ");
  const groups = d3.groups(sweep.cells, words);
  groups.sort(([, [a]], [, [b]]) => d3.ascending(key(a).map((place) => String.fromCharCode(32 + place)).join(""), key(b).map((place) => String.fromCharCode(32 + place)).join("")));
  return groups.map(([title, cells]) => ({ ...sweep, title: `${sweep.workload}, ${title}`, cells }));
}

// One workload along the factor that is chosen; along a load where one was varied, with a line for each choice.
function alongChoice(sweep, factor, panels) {
  const sample = sweep.samples[0];
  const { load, along, lines } = axesOf(sweep, factor);
  const levels = along.levels.map(shown), kinds = lines ? lines.levels.map(shown) : [];
  // Of several cells at a place the middle one.
  const points = d3.flatGroup(sweep.cells.filter((cell) => cell.values[0][0] != null), (cell) => shown(cell.at[along.path] ?? ""), (cell) => lines ? shown(cell.at[lines.path] ?? "") : "").map(([x, z, cells]) => {
    const middle = cells.slice().sort((a, b) => a.values[0][0] - b.values[0][0])[cells.length >> 1];
    return { x, z, value: middle.values[0][0], low: middle.interval?.[0], high: middle.interval?.[1] };
  }).sort((a, b) => levels.indexOf(a.x) - levels.indexOf(b.x));
  const best = sample.better === "neither" || load ? undefined : d3.greatest(points, (p) => sample.better === "lower" ? -p.value : p.value);
  const theirs = load ? [] : publishedOf(sweep.workload, along.path);
  const all = [...points.flatMap((p) => [p.low ?? p.value, p.high ?? p.value]), ...theirs.map((cell) => middle(cell.published))];
  const [low, high] = d3.extent(all), log = low > 0 && high / low > 8;
  const stroke = lines ? "z" : "var(--accent)";
  const told = notable(points, kinds, sample), isTold = (p) => !lines || told.includes(p.z);
  const ends = told.map((z) => points.filter((p) => p.z === z).at(-1)).filter(Boolean);
  const spread = points.filter((p) => p.low != null && p.high > p.low);
  const draw = (wide) => Plot.plot(options({
    width: wide, height: narrow() ? 230 : panels > 1 ? 270 : 320, marginLeft: 56, marginBottom: 44, marginTop: 26, marginRight: lines ? 20 + (narrow() ? 6.5 : 7.5) * d3.max(told, (z) => z.length) : 24,
    x: { type: "point", domain: levels, label: along.axis, padding: 0.25, ticks: ticksOf(levels, wide) },
    y: { type: log ? "log" : "linear", grid: true, label: sample.unit, zero: !log, nice: !log, domain: log ? [low * 0.85, high * 1.15] : undefined, tickFormat: log ? "~s" : undefined, ticks: 5 },
    color: { domain: told, scheme: told.length > 10 ? "Turbo" : "Observable10" },
    marks: [
      faint(points.filter((p) => !isTold(p))),
      Plot.line(theirs, { x: (c) => shown(c.at[along.path]), y: (c) => middle(c.published), stroke: "var(--quiet)", strokeDasharray: "4 3" }),
      Plot.dot(theirs, { x: (c) => shown(c.at[along.path]), y: (c) => middle(c.published), stroke: "var(--quiet)", strokeWidth: 2, r: 6 }),
      lines ? null : Plot.ruleX(spread, { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 2, strokeOpacity: 0.5 }),
      Plot.line(points.filter(isTold), { x: "x", y: "value", z: "z", stroke, strokeWidth: 2 }),
      Plot.dot(points.filter(isTold), { x: "x", y: "value", fill: stroke, r: 4, tip: true, title: (p) => `${along.name} ${p.x}${lines ? `, ${lines.name} ${p.z}` : ""}\n${figure(p.value)} ${sample.unit}` }),
      best ? Plot.dot([best], { x: "x", y: "value", stroke: "var(--good)", strokeWidth: 2.5, r: 8 }) : null,
      best ? Plot.text([best], { x: "x", y: "value", text: () => `${figure(best.value)} ${sample.unit}`, dy: -16, fill: "var(--good)", fontWeight: 700 }) : null,
      lines ? Plot.text(apart(ends, log), { x: "x", y: "label", text: "z", fill: "z", dx: 9, textAnchor: "start", fontWeight: 600 }) : null,
    ],
  }));
  return { title: sweep.title ?? sweep.workload, words: `${sample.words}${sample.unit ? ` in ${sample.unit}` : ""}${betterWords(sample)}${lines ? `; a line for each ${lines.axis}${namedOf(told, kinds)}` : ""}`, draw, published: theirs.length > 0, ringed: best !== undefined,
    header: ["workload", along.axis, ...(lines ? [lines.axis] : []), "value", "low", "high", "unit"],
    rows: points.map((p) => [sweep.title ?? sweep.workload, p.x, ...(lines ? [p.z] : []), figure(p.value), figure(p.low), figure(p.high), sample.unit]) };
}

const publishedOf = (workload, path) => (data.published?.cells ?? []).filter((cell) => cell.published != null && cell.quantity === workload && Object.keys(cell.at).length === 1 && path in cell.at).sort((a, b) => factorOf(path).levels.indexOf(a.at[path]) - factorOf(path).levels.indexOf(b.at[path]));

// Of every pair of values of the two factors that decide most the best layout.
function overview(factors) {
  const quantity = data.quantities[0];
  const order = [...data.decisive.map(factorOf).filter((f) => f && f.levels.length > 1), ...factors];
  const pair = [...new Set(order)].slice(0, 2).sort((a, b) => a.levels.length - b.levels.length);
  const long = (f) => d3.max(f.levels, (word) => word.length) * f.levels.length;
  // Short words stand across, long ones down.
  const [across, down] = long(pair[0]) <= long(pair[1]) ? pair : [pair[1], pair[0]];
  const rows = rowsOf(quantity.name);
  const better = (rows) => quantity.better === "lower" ? d3.least(rows, (row) => row.value) : d3.greatest(rows, (row) => row.value);
  const medians = pairOf(quantity.name, across, down);
  const cells = medians?.length ? medians : d3.flatRollup(rows, (rows) => ({ best: better(rows), count: rows.length }), (row) => level(row, across.path), (row) => level(row, down.path)).map(([x, y, of]) => ({ x: shown(x), y: shown(y), ...of }));
  const winner = better(cells.map((cell) => cell.best));
  const values = cells.map((cell) => cell.best.value), good = goodness(values, quantity), near = ties(values, quantity);
  const tied = cells.filter((cell) => cell.best !== winner && near(cell.best.value));
  const used = (factor, key) => factor.levels.map(shown).filter((word) => cells.some((cell) => cell[key] === word));
  const draw = (wide) => Plot.plot(options({
    width: wide, height: 64 + 38 * used(down, "y").length, marginLeft: Math.min(wide / 2.6, 20 + (narrow() ? 6.4 : 7.6) * d3.max(used(down, "y"), (word) => word.length)), marginBottom: 44, marginTop: 8,
    x: { domain: used(across, "x"), label: across.axis }, y: { domain: used(down, "y"), label: null },
    color: { scheme: css("--better-scheme"), domain: [0, 1] },
    marks: [
      Plot.cell(cells, { x: "x", y: "y", fill: (d) => 0.08 + 0.84 * good(d.best.value), inset: 1, rx: 3, tip: true, title: (d) => `${d.best.label}\n${figure(d.best.value)} ${quantity.unit}, the best of ${d.count}` }),
      Plot.cell(cells.filter((d) => d.best === winner), { x: "x", y: "y", stroke: "var(--good)", strokeWidth: 3, inset: 2, rx: 3 }),
      Plot.cell(tied, { x: "x", y: "y", stroke: "var(--good)", strokeWidth: 2, strokeDasharray: "6 4", inset: 2, rx: 3 }),
      Plot.text(cells, { x: "x", y: "y", text: (d) => figure(d.best.value), fill: (d) => good(d.best.value) > 0.5 ? "var(--on-dark)" : "var(--on-pale)", fontWeight: 600 }),
    ],
  }));
  return { title: `${down.name} by ${across.name}`, words: `the best of all layouts with both; darker is better, the best is framed${tied.length ? ", and what ties with it has a dashed frame" : ""}`, draw,
    header: [down.axis, across.axis, quantity.unit, "layouts", "the best of them"],
    rows: cells.map((cell) => [cell.y, cell.x, figure(cell.best.value), String(cell.count), cell.best.label]) };
}

// Where a scale ends. It is no shorter than the difference that counts: else values that tie would look far apart.
function scaleEnds(values, quantity) {
  let [low, high] = d3.extent(values);
  const log = low > 0 && high / low > 8, tie = quantity.tie ?? 1;
  if (low > 0 && quantity.better === "lower") high = Math.max(high, low * tie);
  else if (low > 0) low = Math.min(low, high / tie);
  return { low, high, log };
}

// From 0, the worst, to 1, the best.
function goodness(values, quantity) {
  const { low, high, log } = scaleEnds(values, quantity);
  const place = (value) => high === low ? 0 : log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return (value) => quantity.better === "lower" ? 1 - place(value) : place(value);
}

// Whether a value is so near the best that the difference does not count.
function ties(values, quantity) {
  const [low, high] = d3.extent(values), tie = (quantity.tie ?? 1) * (1 + 1e-9);
  if (quantity.better === "neither" || !(low > 0) || tie < 1.001) return () => false;
  return (value) => quantity.better === "lower" ? value <= low * tie : value >= high / tie;
}

// All layouts by one factor.
function panel(factor) {
  const quantity = data.quantities[0], rows = rowsOf(quantity.name);
  const levels = factor.levels.filter((word) => rows.some((row) => level(row, factor.path) === word));
  const { low, high, log } = scaleEnds(rows.map((row) => row.value), quantity), zero = !log && high / low > 1.6;
  const all = middlesOf(quantity.name, factor);
  const middles = levels.map((word) => ({ word, value: all ? all[factor.levels.indexOf(word)] : d3.median(rows.filter((row) => level(row, factor.path) === word), (row) => row.value) }));
  const x = (row) => shown(level(row, factor.path));
  const upright = levels.length * d3.max(levels, (word) => word.length) * 7;
  const draw = (wide) => Plot.plot(options({
    width: wide, height: narrow() ? 210 : 240, marginLeft: 58, marginBottom: upright > wide - 70 ? 96 : 44,
    x: { type: "point", domain: levels.map(shown), label: upright > wide - 70 ? null : factor.axis, padding: 0.4, tickRotate: upright > wide - 70 ? -35 : 0, ticks: 16 * levels.length > wide ? ticksOf(levels.map(shown), wide) : levels.map(shown) },
    y: { type: log ? "log" : "linear", grid: true, label: quantity.unit, nice: !log, zero, domain: log ? [low * 0.85, high * 1.15] : zero || !(low < high) ? undefined : [low, high], tickFormat: log ? "~s" : undefined, ticks: 4 },
    marks: [
      Plot.dot(rows, { x, y: "value", r: 2.6, fill: "var(--quiet)", fillOpacity: 0.55, tip: true, title: (row) => `${row.label}\n${figure(row.value)} ${quantity.unit}` }),
      Plot.line(middles, { x: (d) => shown(d.word), y: "value", stroke: "var(--accent)", strokeWidth: 3 }),
      Plot.dot(middles, { x: (d) => shown(d.word), y: "value", fill: "var(--accent)", r: 4.5 }),
    ],
  }));
  return { title: factor.name, words: "", draw };
}

// A line for each value of one factor, along another: a load where one was varied, for a load is no choice but an axis.
function curves() {
  const section = $("#curves");
  const all = data.sweeps.filter((sweep) => sweep.factors.length > 1 || sweep.factors.some((factor) => factor.load));
  section.hidden = all.length === 0;
  if (section.hidden) return;
  const names = all.map((curve) => curve.workload);
  const curve = all[names.indexOf(chosen("curve", names, names[0]))];
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
  const groups = d3.groups(cellsOf(curve, along, lines).filter((cell) => cell.values[index][0] != null), (cell) => cell.at[along] ?? "", (cell) => lines ? cell.at[lines] ?? "" : "");
  const points = groups.flatMap(([x, inner]) => inner.map(([z, cells]) => {
    const of = (place) => d3.median(cells, (cell) => cell.values[index][place]);
    return { x: shown(x), z: shown(z), value: of(0), low: of(1), high: of(2), cells: d3.sum(cells, (cell) => cell.count ?? 1) };
  }));
  const levels = named(along).levels.map(shown), kinds = lines ? named(lines).levels.map(shown).filter((z) => points.some((p) => p.z === z)) : [];
  const place = (point) => levels.indexOf(point.x);
  const sorted = points.slice().sort((a, b) => place(a) - place(b));
  const told = notable(sorted, kinds, sample), isTold = (p) => kinds.length < 2 || told.includes(p.z);
  const ends = told.map((z) => sorted.filter((p) => p.z === z).at(-1));
  const [low, high] = [d3.min(points, (p) => p.low), d3.max(points, (p) => p.high)];
  const log = low > 0 && high / low > 8;
  const merged = d3.max(points, (p) => p.cells) > 1;
  const spread = points.filter((p) => p.high > p.low);
  const better = { lower: ", less is better", higher: ", more is better" }[sample.better] ?? "";
  const stroke = kinds.length > 1 ? "z" : "var(--accent)";
  draw(section, `${curve.workload}: ${sample.words} (${sample.unit || "number"}${better}) along ${named(along).name}${lines ? `, a line for each ${named(lines).name}${namedOf(told, kinds)}` : ""}.${merged ? " Points are medians over all other factors." : ""}${spread.length ? " Bars are the range of the repeats." : ""}`,
    Plot.plot(options({
      height: narrow() ? 300 : 380, marginLeft: 56, marginBottom: 44, marginRight: kinds.length > 1 ? 20 + (narrow() ? 6.5 : 7.5) * d3.max(told, (z) => z.length) : 20,
      x: { type: "point", domain: levels, label: named(along).axis, padding: 0.2, ticks: ticksOf(levels, width()) },
      y: { type: log ? "log" : "linear", grid: true, label: sample.unit, nice: !log, zero: !log, domain: log ? [low * 0.85, high * 1.15] : undefined, tickFormat: log ? "~s" : undefined, ticks: 6 },
      color: { domain: told, scheme: told.length > 10 ? "Turbo" : "Observable10" },
      marks: [
        faint(sorted.filter((p) => !isTold(p))),
        Plot.ruleX(spread.filter(isTold), { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 2, strokeOpacity: 0.5 }),
        Plot.line(sorted.filter(isTold), { x: "x", y: "value", z: "z", stroke, strokeWidth: 2 }),
        Plot.dot(sorted.filter(isTold), { x: "x", y: "value", fill: stroke, r: 4, tip: true, title: (p) => `${named(along).name} ${p.x}${lines ? `, ${named(lines).name} ${p.z}` : ""}\n${figure(p.value)} ${sample.unit}` }),
        kinds.length > 1 ? Plot.text(apart(ends, log), { x: "x", y: "label", text: "z", fill: "z", dx: 9, textAnchor: "start", fontWeight: 600 }) : null,
      ],
    })));
  table(section, [named(along).name, ...(lines ? [named(lines).name] : []), sample.words, "low", "high"],
    sorted.map((p) => [p.x, ...(lines ? [p.z] : []), figure(p.value), figure(p.low), figure(p.high)]));
}

// More names than these at the ends of lines would take the place of the lines: then the lines that tell most have theirs, and the
// others are faint.
const NAMED = 24, NOTABLE = 8;

// The lines that are named: of too many those that are the best somewhere, the most often first, and the worst.
function notable(points, kinds, sample) {
  if (kinds.length <= NAMED) return kinds;
  const better = sample.better === "lower" ? -1 : 1;
  const firsts = d3.groups(points, (p) => p.x).map(([, at]) => d3.greatest(at, (p) => better * p.value).z);
  const wins = d3.groups(firsts, (z) => z).sort(([, a], [, b]) => b.length - a.length).map(([z]) => z).slice(0, NOTABLE - 1);
  const worst = d3.least(d3.groups(points, (p) => p.z), ([, own]) => better * d3.mean(own, (p) => p.value))[0];
  return kinds.filter((z) => wins.includes(z) || z === worst);
}

const namedOf = (told, kinds) => told.length < kinds.length ? ` (${kinds.length}); named are those that are best somewhere, and the worst` : "";
const faint = (points) => Plot.line(points, { x: "x", y: "value", z: "z", stroke: "var(--quiet)", strokeWidth: 1, strokeOpacity: 0.3 });

// As many of the words below an axis as have room there.
function ticksOf(words, wide) {
  const room = (d3.max(words, (word) => word.length) ?? 0) * (narrow() ? 6 : 7.5) + 8;
  const each = Math.max(1, Math.ceil((words.length * room) / (wide - 80)));
  return words.filter((_, at) => at % each === 0);
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
  const all = middlesOf(name, factor);
  const middles = levels.map((word) => ({ word, value: all ? all[factor.levels.indexOf(word)] : d3.median(rows.filter((row) => level(row, path) === word), (row) => row.value) }));
  const x = (row) => shown(level(row, path));
  const colour = few && lines.size > 1 ? (row) => line(row, path) || name : () => "each layout";
  const better = { lower: ", less is better", higher: ", more is better" }[quantity.better] ?? "";
  const intervals = rows.filter((row) => row.low != null && row.high != null);
  draw(section, `${name} (${quantity.unit || "number"}${better}) by ${factor.name}; ${!few ? "each line is one setting of all else, the thick one their median" : intervals.length ? "bars are 95 % intervals" : "nothing says how wide the intervals are"}.`,
    Plot.plot(options({
      height: narrow() ? 300 : 380, marginLeft: 56, marginBottom: 44,
      x: { type: "point", domain: levels.map(shown), label: factor.axis, padding: 0.4, ticks: ticksOf(levels.map(shown), width()) },
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
  const all = pairOf(name, factorOf(across), factorOf(down));
  const cells = all ? all.map(({ x, y, median }) => ({ x, y, value: median })) : groups.flatMap(([x, inner]) => inner.map(([y, value]) => ({ x: shown(x), y: shown(y), value })));
  section.hidden = cells.length === 0;
  if (section.hidden) return;
  const values = cells.map((cell) => cell.value), good = goodness(values, quantity), near = ties(values, quantity);
  const tied = cells.filter((cell) => near(cell.value)).length > 1 ? cells.filter((cell) => near(cell.value)) : [];
  const used = (path, key) => factorOf(path).levels.map(shown).filter((word) => cells.some((cell) => cell[key] === word));
  draw(section, `The median of ${name} (${quantity.unit || "number"}) by ${factorOf(across).name} across and ${factorOf(down).name} down; the darker, the ${quantity.better === "neither" ? "more" : "better"}${tied.length ? "; no difference counts between those with a dashed frame" : ""}.`,
    Plot.plot(options({
      height: 70 + 40 * used(down, "y").length, marginLeft: 24 + (narrow() ? 7 : 8) * d3.max(used(down, "y"), (word) => word.length), marginBottom: 44,
      x: { domain: used(across, "x"), label: factorOf(across).axis }, y: { domain: used(down, "y"), label: null },
      color: { scheme: css("--better-scheme"), domain: [0, 1] },
      marks: [
        Plot.cell(cells, { x: "x", y: "y", fill: (d) => 0.08 + 0.84 * good(d.value), inset: 1, rx: 3 }),
        Plot.cell(tied, { x: "x", y: "y", stroke: "var(--good)", strokeWidth: 2, strokeDasharray: "6 4", inset: 2, rx: 3 }),
        Plot.text(cells, { x: "x", y: "y", text: (d) => figure(d.value), fill: (d) => good(d.value) > 0.5 ? "var(--on-dark)" : "var(--on-pale)", fontWeight: 600 }),
      ],
    })));
  table(section, [factorOf(across).name, factorOf(down).name, name], cells.map((cell) => [cell.x, cell.y, figure(cell.value)]));
}

const cellTitle = (cell) => `${cell.workload}: ${cell.label}`;
const labelMargin = (cells) => Math.min(narrow() ? 150 : 320, 16 + (narrow() ? 6.2 : 7.2) * d3.max(cells, (cell) => cellLabel(cell).length));
// Labels tell each cell from the others; one that is too long keeps its end, in which neighbours differ.
const cellLabel = (cell) => cell.short;
const clip = (text) => { const most = narrow() ? 22 : 44; return text.length > most ? `…${text.slice(text.length - most + 1)}` : text; };

// More rows than these are no picture: the best and the last of them stand for all, which are in the numbers.
const ROWS = 16;
const someOf = (cells) => cells.length > ROWS ? [...cells.slice(0, ROWS - 4), ...cells.slice(-4)] : cells;
const someWords = (cells) => cells.length > ROWS ? ` ${ROWS} of ${cells.length} cells: the first and the last; all are in the numbers.` : "";

function time() {
  const section = $("#time");
  const all = data.cells.filter((cell) => cell.parts.length > 0);
  const cells = someOf(all);
  section.hidden = cells.length === 0;
  if (section.hidden) return;
  const parts = cells.flatMap((cell) => cell.parts.filter((part) => part.ms > 0).map((part) => ({ cell, ...part })));
  const names = data.parts.filter((name) => parts.some((part) => part.part === name));
  draw(section, `In ms a request, from the first moment to the last.${someWords(all)}`,
    Plot.plot(options({
      height: 70 + 26 * cells.length, marginLeft: labelMargin(cells),
      marginBottom: 44, x: { label: "ms a request", labelAnchor: "center", grid: true }, y: { domain: cells.map(cellLabel), label: null, tickFormat: clip },
      color: { domain: names, legend: true, scheme: "Tableau10" },
      marks: [Plot.barX(parts, Plot.stackX({ y: (d) => cellLabel(d.cell), x: "ms", fill: "part", order: names, inset: 1, tip: true, title: (d) => `${cellTitle(d.cell)}\n${d.part} ${figure(d.ms)} ms` }))],
    })));
  const every = all.flatMap((cell) => cell.parts.filter((part) => part.ms > 0).map((part) => ({ cell, ...part })));
  table(section, ["cell", "part", "ms"], every.map((part) => [cellTitle(part.cell), part.part, figure(part.ms)]));
}

function members() {
  const section = $("#members");
  const all = data.cells.filter((cell) => cell.member_busy.length > 0);
  const cells = someOf(all);
  section.hidden = cells.length === 0;
  if (section.hidden) return;
  const busy = cells.flatMap((cell) => cell.member_busy.map((share, member) => ({ cell, member: String(member), share })));
  const counted = d3.max(cells, (cell) => cell.member_busy.length);
  draw(section, `The share of the time, of each member from 0.${someWords(all)}`,
    Plot.plot(options({
      height: 70 + 26 * cells.length, marginLeft: labelMargin(cells), marginBottom: 44,
      x: { label: "member", domain: d3.range(counted).map(String) }, y: { domain: cells.map(cellLabel), label: null, tickFormat: clip },
      color: { scheme: css("--busy-scheme"), domain: [0, 1] },
      marks: [
        Plot.cell(busy, { x: "member", y: (d) => cellLabel(d.cell), fill: (d) => 0.05 + 0.85 * d.share, inset: 1, rx: 3 }),
        counted > 24 ? null : Plot.text(busy, { x: "member", y: (d) => cellLabel(d.cell), text: (d) => `${(100 * d.share).toFixed(0)} %`, fill: (d) => d.share > 0.6 ? "var(--on-dark)" : "var(--on-pale)" }),
      ],
    })));
  const every = all.flatMap((cell) => cell.member_busy.map((share, member) => ({ cell, member: String(member), share })));
  table(section, ["cell", "member", "busy"], every.map((d) => [cellTitle(d.cell), d.member, d.share.toFixed(3)]));
}

// Of a workload's cells, the best first, some for a chart of lines: the best three, one in the middle and the last.
function someLines(cells) {
  const most = 5;
  if (cells.length <= most) return cells;
  return [...cells.slice(0, 3), cells[cells.length >> 1], cells.at(-1)];
}
const linesWords = (cells) => cells.length > 5 ? ` The best three of ${cells.length} cells, the middle one and the last; all are in the numbers.` : "";

// The workloads to choose among, and the cells of the one that is chosen.
function ofWorkload(section, id, cells) {
  section.hidden = cells.length === 0;
  if (section.hidden) return [];
  const names = [...new Set(cells.map((cell) => cell.workload))];
  const name = chosen(id, names, names[0]);
  fill($(`#${id}`), names.map((n) => [n, n]), name);
  $(`#${id}`).parentElement.hidden = names.length < 2;
  return cells.filter((cell) => cell.workload === name);
}

// The 99th percentile at each rate that was tried; what was overloaded has none.
function againstLoad() {
  const section = $("#against-load");
  const cells = ofWorkload(section, "loaded", data.against_load);
  if (section.hidden) return;
  const some = someLines(cells);
  const points = some.flatMap((cell) => cell.points.filter((p) => p.state !== "overloaded" && p.p99_ms > 0).map((p) => ({ ...p, cell })));
  const several = some.length > 1;
  const colour = several ? (p) => p.cell.short : "var(--accent)";
  draw(section, `99th percentile of latency where so many requests come a second; rings: the limit that was asked for is exceeded.${linesWords(cells)}`,
    Plot.plot(options({
      height: narrow() ? 280 : 340, marginLeft: 56, marginBottom: 44, marginRight: 24,
      x: { label: "requests that come per second", labelAnchor: "center", zero: true, tickFormat: "~s" },
      y: { type: "log", grid: true, label: "ms", ticks: 6, tickFormat: "~s" },
      color: several ? { legend: true, domain: some.map((cell) => cell.short), scheme: "Observable10" } : undefined,
      marks: [
        Plot.line(points, { x: "requests_per_s", y: "p99_ms", z: (p) => p.cell.short, stroke: colour, strokeWidth: 2 }),
        Plot.dot(points.filter((p) => p.state === "holds"), { x: "requests_per_s", y: "p99_ms", r: 3, fill: colour }),
        Plot.dot(points, { x: "requests_per_s", y: "p99_ms", r: 3, stroke: colour, tip: true, title: (p) => `${cellTitle(p.cell)}\n${figure(p.requests_per_s)} a second: ${figure(p.p99_ms)} ms, ${p.state}` }),
      ],
    })));
  const ms = (p, value) => p.state === "overloaded" ? "" : figure(value);
  table(section, ["cell", "requests/s", "mean ms", "p50 ms", "p99 ms", ""], cells.flatMap((cell) => cell.points.map((p) => [cellTitle(cell), figure(p.requests_per_s), ms(p, p.mean_ms), ms(p, p.p50_ms), ms(p, p.p99_ms), p.state])));
}

// Percentiles, the rare ones as far apart as the usual ones (as HdrHistogram draws them).
function latencies() {
  const section = $("#latencies");
  const cells = ofWorkload(section, "latency", data.latencies.cells);
  if (section.hidden) return;
  const shares = data.latencies.shares;
  const nines = (share) => -Math.log10(1 - Math.min(share, 0.99995));
  const some = someLines(cells);
  const points = some.flatMap((cell) => shares.slice(1, -1).map((share, index) => ({ x: nines(share), share, ms: cell.ms[index + 1], cell })));
  const [low, high] = d3.extent(points, (p) => p.ms), log = low > 0 && high / low > 8;
  const ticks = [0.5, 0.9, 0.99, 0.999, 0.9999];
  const words = (share) => `${Number((100 * share).toFixed(2))} %`;
  const several = some.length > 1;
  draw(section, `Latency in ms at each share of the requests; less is better.${linesWords(cells)}`,
    Plot.plot(options({
      height: narrow() ? 280 : 340, marginLeft: 56, marginBottom: 44, marginRight: 24,
      x: { domain: [0, 4.2], ticks: ticks.map(nines), tickFormat: (x) => words(1 - 10 ** -x), label: "share of requests that take at most so long", labelAnchor: "center" },
      y: { type: log ? "log" : "linear", grid: true, label: "ms", zero: !log, tickFormat: log ? "~s" : undefined, ticks: 6 },
      color: several ? { legend: true, domain: some.map((cell) => cell.short), scheme: "Observable10" } : undefined,
      marks: [
        Plot.line(points, { x: "x", y: "ms", z: (p) => p.cell.short, stroke: several ? (p) => p.cell.short : "var(--accent)", strokeWidth: 2 }),
        Plot.dot(points, { x: "x", y: "ms", r: 2.5, fill: several ? (p) => p.cell.short : "var(--accent)", tip: true, title: (p) => `${cellTitle(p.cell)}\n${words(p.share)} take at most ${figure(p.ms)} ms` }),
      ],
    })));
  const told = [0.5, 0.9, 0.99, 0.999, 1];
  table(section, ["cell", ...told.map((share) => share === 1 ? "longest ms" : `${words(share)} ms`)], cells.map((cell) => [cellTitle(cell), ...told.map((share) => figure(cell.ms[shares.indexOf(share)]))]));
}

// What the first repeat completed over time; the warm-up that the figures leave out is marked.
function overTime() {
  const section = $("#over-time");
  const cells = ofWorkload(section, "series", data.over_time);
  if (section.hidden) return;
  const some = someLines(cells);
  const points = some.flatMap((cell) => cell.mb_per_s.map((rate, index) => ({ s: (index + 1) * cell.step_s, rate, cell })));
  const ends = some.filter((cell) => cell.warm_up_s > 0);
  const several = some.length > 1;
  const stroke = several ? (p) => p.cell.short : "var(--accent)";
  draw(section, `MB/s of the first repeat of each cell.${ends.length ? " Dashed: the end of the warm-up, which is left out." : ""}${linesWords(cells)}`,
    Plot.plot(options({
      height: narrow() ? 260 : 320, marginLeft: 56, marginBottom: 44, marginRight: 24,
      x: { label: "s", labelAnchor: "center" }, y: { grid: true, label: "MB/s", zero: true, ticks: 6 },
      color: several ? { legend: true, domain: some.map((cell) => cell.short), scheme: "Observable10" } : undefined,
      marks: [
        Plot.ruleX(ends, { x: "warm_up_s", stroke: several ? "short" : "var(--accent)", strokeDasharray: "4 3" }),
        Plot.line(points, { x: "s", y: "rate", z: (p) => p.cell.short, stroke, strokeWidth: 1.8 }),
      ],
    })));
  table(section, ["cell", "s", "MB/s"], points.map((p) => [cellTitle(p.cell), figure(p.s), figure(p.rate)]));
}

// A heading of the ranking sorts by its column: numbers by their size, the other way round when it is pressed again.
function sortable() {
  const table = $("#ranking table");
  $("#ranking").hidden = !table;
  if (!table || table.dataset.sortable) return;
  table.dataset.sortable = "yes";
  [...table.rows[0].cells].forEach((cell, index) => {
    if (cell.textContent === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = cell.getAttribute("aria-sort") !== "ascending";
      for (const other of table.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[index].textContent;
      const value = (row) => { const number = parseFloat(key(row).replace(/^about /, "")); return Number.isNaN(number) ? Infinity : /times/.test(key(row)) ? 100 * number : number; };
      const numeric = [...table.rows].slice(1).some((row) => !Number.isNaN(parseFloat(key(row))));
      const rows = [...table.rows].slice(1).sort((a, b) => (numeric ? value(a) - value(b) : key(a).localeCompare(key(b))) * (up ? 1 : -1));
      table.tBodies[0].append(...rows);
    });
  });
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
  choice();
  sortable();
  curves();
  sweep(now);
  heat(now);
  againstLoad();
  latencies();
  overTime();
  time();
  members();
  published();
}

start(show);
