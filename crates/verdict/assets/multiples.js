// Published numbers against ours in small multiples: a chart for each quantity of a table.
const middle = (quoted) => quoted == null ? null : typeof quoted === "number" ? quoted : (quoted.low + quoted.high) / 2;
const quotedWords = (quoted) => quoted == null ? "" : typeof quoted === "number" ? figure(quoted) : `${figure(quoted.low)}–${figure(quoted.high)}`;
const predicted = (cell) => cell.remark === "";
const tick = (x) => Math.abs(x) >= 10000 ? d3.format("~s")(x) : String(Number(x.toPrecision(3)));
const shortKey = (path) => path.split(".").pop();

// The factors of these cells that take more than one value.
const varied = (cells) => [...new Set(cells.flatMap((cell) => Object.keys(cell.at)))].filter((path) => new Set(cells.map((cell) => cell.at[path])).size > 1);
const cellName = (cell, paths) => paths.length ? paths.map((path) => `${shortKey(path)} ${shown(cell.at[path] ?? "")}`).join(" · ") : cell.quantity;

// One chart's cells: of a quantity, or where nothing was varied, of all quantities of a unit.
function charts(cells) {
  const plain = varied(cells).length === 0;
  return d3.groups(cells, (cell) => plain ? cell.unit : cell.quantity).map(([name, cells]) => ({ name: plain ? cells.map((cell) => cell.quantity).filter((q, i, all) => all.indexOf(q) === i).join(", ") : name, cells, plain }));
}

const tip = (cell, paths) => `${cellName(cell, paths)}\npublished ${quotedWords(cell.published) || "nothing"} ${cell.unit}\nours ${figure(cell.ours) || "nothing"} ${cell.unit}${cell.error_words ? ` (${cell.error_words})` : ""}${cell.remark ? `\n${cell.remark}` : ""}`;
const theirs = { stroke: "var(--quiet)", strokeWidth: 2, r: 6 };
const ours = { fill: (cell) => predicted(cell) ? "var(--accent)" : "var(--card)", stroke: "var(--accent)", strokeWidth: 2, r: 4 };
const withOurs = (cells) => cells.filter((cell) => cell.ours != null);
const withTheirs = (cells) => cells.filter((cell) => cell.published != null);
const number = (cell) => middle(cell.published);

// One factor: both as curves over it.
function curve({ cells }, wide, path) {
  const words = [...new Set(cells.map((cell) => cell.at[path]))];
  if (words.every((word) => !Number.isNaN(Number(word)))) words.sort((a, b) => a - b);
  const x = (cell) => shown(cell.at[path]);
  const inOrder = (of) => of.slice().sort((a, b) => words.indexOf(a.at[path]) - words.indexOf(b.at[path]));
  return Plot.plot(options({
    width: wide, height: 240, marginLeft: 58, marginBottom: 46,
    x: { type: "point", domain: words.map(shown), label: shortKey(path), padding: 0.3 },
    y: { grid: true, zero: true, label: cells[0].unit, ticks: 5, tickFormat: tick },
    marks: [
      Plot.line(inOrder(withTheirs(cells)), { x, y: number, stroke: "var(--quiet)", strokeDasharray: "4 3" }),
      Plot.line(inOrder(withOurs(cells)), { x, y: "ours", stroke: "var(--accent)", strokeWidth: 1.8 }),
      Plot.dot(withTheirs(cells), { x, y: number, ...theirs }),
      Plot.dot(withOurs(cells), { x, y: "ours", ...ours, tip: true, title: (cell) => tip(cell, [path]) }),
    ],
  }));
}

// Few cells: a line each, with the error at its end.
function pairs({ cells, plain }, wide) {
  const paths = plain ? [] : varied(cells);
  const most = wide < 420 ? 20 : 34;
  // The names of the factors are in the numbers beneath.
  const label = (cell) => paths.length ? paths.map((path) => shown(cell.at[path] ?? "")).join(" · ") : cell.quantity;
  const clipped = (text) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
  const names = [...new Set(cells.map(label))];
  const ranges = withTheirs(cells).filter((cell) => typeof cell.published === "object");
  return Plot.plot(options({
    width: wide, height: 64 + 28 * names.length, marginLeft: 20 + (narrow() ? 6.4 : 7.6) * Math.min(most, d3.max(names, (name) => name.length)), marginRight: 66, marginBottom: 46,
    x: { grid: true, zero: true, label: cells[0].unit, labelAnchor: "center", ticks: wide < 420 ? 2 : 5, tickFormat: tick },
    y: { domain: names, label: null, tickFormat: clipped },
    marks: [
      Plot.ruleY(cells.filter((cell) => cell.published != null && cell.ours != null), { y: label, x1: number, x2: "ours", stroke: "var(--quiet)" }),
      Plot.ruleY(ranges, { y: label, x1: (cell) => cell.published.low, x2: (cell) => cell.published.high, stroke: "var(--quiet)", strokeWidth: 5, strokeOpacity: 0.5 }),
      Plot.dot(withTheirs(cells), { y: label, x: number, ...theirs }),
      Plot.dot(withOurs(cells), { y: label, x: "ours", ...ours, tip: true, title: (cell) => tip(cell, paths) }),
      Plot.text(cells, { y: label, frameAnchor: "right", dx: 62, textAnchor: "end", text: (cell) => cell.ours == null ? "none" : cell.error_words, fill: "var(--quiet)" }),
    ],
  }));
}

// Many cells: ours over theirs, with the line where both are equal and the band that counts as reproduced.
function scatter({ cells }, most, colour) {
  const wide = Math.min(most, 520);
  const both = cells.filter((cell) => cell.published != null && cell.ours != null);
  const values = both.flatMap((cell) => [number(cell), cell.ours]);
  const [low, high] = d3.extent(values);
  const log = low > 0 && high / low > 8;
  const domain = log ? [low / 1.15, high * 1.15] : [Math.min(0, low), high * 1.05];
  const axis = { type: log ? "log" : "linear", domain, grid: true, ticks: 5, tickFormat: tick };
  const paths = varied(cells);
  const level = colour.path ? (cell) => shown(cell.at[colour.path] ?? "") : () => "var(--accent)";
  return Plot.plot(options({
    width: wide, height: 0.9 * wide, marginLeft: 52, marginBottom: 46,
    x: { ...axis, label: `published, ${cells[0].unit}` }, y: { ...axis, label: `ours, ${cells[0].unit}` },
    color: colour.path ? { domain: colour.levels, scheme: "Observable10" } : { type: "identity" },
    marks: [
      Plot.areaY(domain, { x: (d) => d, y1: (d) => d * (1 - data.within), y2: (d) => d * (1 + data.within), fill: "var(--quiet)", fillOpacity: 0.14, clip: true }),
      Plot.line(domain, { x: (d) => d, y: (d) => d, stroke: "var(--quiet)" }),
      Plot.dot(both.filter(predicted), { x: number, y: "ours", r: 4, fill: level, tip: true, title: (cell) => tip(cell, paths) }),
      Plot.dot(both.filter((cell) => !predicted(cell)), { x: number, y: "ours", r: 3.5, strokeWidth: 1.6, stroke: level, tip: true, title: (cell) => tip(cell, paths) }),
    ],
  }));
}

const caption = (summary) => !summary || summary.median_error == null ? "no predictions" : `median error ${(100 * summary.median_error).toFixed(1)} %, at most ${(100 * summary.max_error).toFixed(1)} %${summary.rank_correlation == null ? "" : `; rank correlation ${summary.rank_correlation.toFixed(2)}`}${summary.off_cells ? `; ${summary.off_cells} of ${summary.predicted_cells} off by over ${100 * data.within} %` : ""}`;

// Draws all charts of a table into its section; `path` is the factor that colours tell apart.
function multiples(section, of, path) {
  const cells = of.cells;
  const colour = { path, levels: path ? [...new Set(cells.map((cell) => shown(cell.at[path] ?? "")))] : [] };
  const all = charts(cells);
  const columns = narrow() ? 1 : Math.min(all.length, width() >= 900 ? 3 : 2, all.some((chart) => chart.cells.length > 6 && chart.plain) ? 2 : 3);
  const wide = Math.floor((width() - 16 * (columns - 1)) / columns);
  let scattered = false;
  const figures = all.map((chart) => {
    const paths = varied(chart.cells);
    const many = chart.cells.length > 14;
    const plot = paths.length === 1 && chart.cells.length > 2 ? curve(chart, wide, paths[0]) : many ? scatter(chart, wide, colour) : pairs(chart, wide);
    scattered ||= many && paths.length !== 1;
    const box = document.createElement("figure");
    const head = document.createElement("figcaption");
    const words = document.createElement("span");
    head.textContent = chart.plain ? `in ${chart.cells[0].unit}` : chart.name;
    words.textContent = caption(chart.plain ? of.summary : of.groups[chart.cells[0].quantity]);
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `${chart.name}: ${words.textContent}`);
    head.append(words);
    box.append(head, plot);
    return box;
  });
  const place = $(".multiples", section);
  place.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  place.replaceChildren(...figures);
  $(".legend", section).replaceChildren(...legend(cells, scattered, colour));
  const controls = $(".controls", section);
  if (controls) controls.hidden = !scattered;
  const factors = [...new Set(cells.flatMap((cell) => Object.keys(cell.at)))];
  table(section, ["quantity", ...factors.map(shortKey), "published", "ours", "unit", "error", ""],
    cells.map((cell) => [cell.quantity, ...factors.map((path) => cell.at[path] ?? ""), quotedWords(cell.published), figure(cell.ours), cell.unit, cell.error_words, cell.remark]));
}

// What the signs are, and what the colours are.
function legend(cells, scattered, colour) {
  const sign = (kind, words) => {
    const item = document.createElement("span");
    const dot = document.createElement("i");
    dot.className = kind;
    item.append(dot, words);
    return item;
  };
  const signs = [];
  if (charts(cells).some((chart) => chart.cells.length <= 14 || varied(chart.cells).length === 1)) signs.push(sign("theirs", "published"));
  signs.push(sign("ours", "ours, predicted"));
  if (cells.some((cell) => cell.remark === "fitted")) signs.push(sign("fitted", "ours, fitted to this cell"));
  if (scattered) signs.push(sign("band", `equal, and within ${100 * data.within} %`));
  if (scattered && colour.path) signs.push(Plot.legend({ color: { type: "ordinal", domain: colour.levels, scheme: "Observable10" }, label: shortKey(colour.path) }));
  return signs;
}
