// The page of drive models against traces: cumulative distributions of service times.
function show() {
  const scale = chosen("scale", ["linear", "log"], "linear");
  $("#scale").value = scale;
  for (const trace of data.traces) {
    const section = document.getElementById(`trace-${trace.trace}`);
    section.dataset.scale = scale;
    const columns = narrow() ? 1 : Math.min(trace.curves.length, width() >= 900 ? 3 : 2);
    const wide = Math.floor((width() - 16 * (columns - 1)) / columns);
    const place = $(".multiples", section);
    place.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    place.replaceChildren(...trace.curves.map((curve) => distribution(trace, curve, wide, scale === "log")));
    table(section, ["requests", "share", "measured ms", "modelled ms"],
      trace.curves.flatMap((curve) => curve.shares.map((share, index) => [curve.of, share.toFixed(4), figure(curve.measured_ms[index]), figure(curve.modelled_ms[index])])));
  }
}

function distribution(trace, curve, wide, log) {
  const points = curve.shares.map((share, index) => ({ share, measured: curve.measured_ms[index], modelled: curve.modelled_ms[index] }));
  const sides = points.flatMap(({ share, measured, modelled }) => [{ who: "measured", share, ms: measured }, { who: "modelled", share, ms: modelled }]);
  const positive = sides.map((side) => side.ms).filter((ms) => ms > 0);
  const least = d3.min(positive);
  // The last request in a thousand would make all others narrow.
  const most = d3.max(points.filter((point) => point.share < 0.9985), (point) => Math.max(point.measured, point.modelled));
  const plot = Plot.plot(options({
    width: wide, height: 260, marginLeft: 46, marginBottom: 46,
    x: { type: log ? "log" : "linear", domain: log ? [least, most] : [0, most], clamp: true, grid: true, label: "service time, ms", ticks: 5, tickFormat: log ? "~s" : undefined },
    y: { domain: [0, 1], grid: true, percent: false, label: "share of requests", tickFormat: "%" },
    marks: [
      Plot.areaX(points, { y: "share", x1: "measured", x2: "modelled", fill: "var(--second)", fillOpacity: 0.3, clip: true }),
      Plot.line(points, { x: "measured", y: "share", stroke: "var(--second)", strokeWidth: 3.5, strokeOpacity: 0.75, clip: true }),
      Plot.line(points, { x: "modelled", y: "share", stroke: "var(--accent)", strokeWidth: 1.4, clip: true }),
      Plot.tip(sides, Plot.pointerX({ x: "ms", y: "share", title: (side) => `${(100 * side.share).toFixed(1)} % of ${curve.of}\nwithin ${figure(side.ms)} ms ${side.who}` })),
    ],
  }));
  const box = document.createElement("figure");
  const head = document.createElement("figcaption");
  const words = document.createElement("span");
  head.textContent = `${curve.of}: ${curve.requests}`;
  words.textContent = `mean ${curve.measured_mean_ms.toFixed(3)} ms measured, ${curve.modelled_mean_ms.toFixed(3)} ms modelled; demerit ${curve.demerit_ms.toFixed(3)} ms, ${curve.demerit_percent.toFixed(2)} %`;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${trace.trace}, ${head.textContent}: ${words.textContent}`);
  head.append(words);
  box.append(head, plot);
  return box;
}

start(show);
