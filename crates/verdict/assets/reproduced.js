// The page of published tables.
function show() {
  for (const of of data.tables) {
    const section = document.getElementById(`table-${of.name}`);
    const factors = varied(of.cells);
    const select = $(".controls select", section);
    const path = chosen(select.id, factors, factors[0]);
    fill(select, factors.map((factor) => [factor, shortKey(factor)]), path);
    section.dataset.colour = path ?? "";
    multiples(section, of, path);
  }
}

start(show);
