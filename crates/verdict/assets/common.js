"use strict";
// What every page of ileave's shares. What is chosen is in the address behind the #, so that a view can
// be kept, sent and tested.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (selector, within = document) => within.querySelector(selector);
window.addEventListener("error", (event) => (document.documentElement.dataset.error = event.message));

const figure = (x) => x == null ? "" : Math.abs(x) >= 1000 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : Math.abs(x) >= 1 ? x.toFixed(2) : x.toFixed(3);
const shown = (word) => word === "" ? "–" : word;
const narrow = () => document.documentElement.clientWidth < 640;
const width = () => Math.max(280, Math.min(1060, $("main").clientWidth - (narrow() ? 26 : 34)));
const options = (more) => ({ width: width(), style: { background: "transparent", fontSize: narrow() ? "11px" : "13px", fontFamily: "inherit" }, ...more });

function fill(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

function table(section, headings, rows) {
  const table = document.createElement("table");
  const numeric = (index) => rows.length > 0 && rows.every((row) => row[index] === "" || !Number.isNaN(Number(row[index])));
  const line = (cells, tag) => {
    const tr = document.createElement("tr");
    cells.forEach((cell, index) => {
      const td = document.createElement(tag);
      td.textContent = cell;
      if (tag === "th") td.scope = "col";
      if (numeric(index)) td.className = "n";
      tr.append(td);
    });
    return tr;
  };
  table.append(line(headings, "th"), ...rows.map((row) => line(row, "td")));
  const region = $("details .scroll", section);
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", `The numbers: ${$("h2", section).textContent}`);
  region.replaceChildren(table);
}

function draw(section, note, plot) {
  $(".note", section).textContent = note;
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${$("h2", section).textContent}: ${note}`);
  $(".chart", section).replaceChildren(plot);
}

// One of the choices: what the address says, or else this one.
function chosen(key, choices, otherwise) {
  const said = new URLSearchParams(location.hash.slice(1)).get(key);
  return choices.includes(said) ? said : otherwise;
}

// A table that is wider than its place says so.
function markCut() {
  for (const region of document.querySelectorAll(".scroll")) region.toggleAttribute("data-cut", region.scrollWidth > region.clientWidth + 1);
}

// Draws the page, and again whenever something else is chosen.
function start(show) {
  const again = () => {
    const theme = chosen("theme", ["auto", "light", "dark"], "auto");
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    $("#theme").value = theme;
    show();
    markCut();
    document.documentElement.dataset.drawn = "yes";
  };
  for (const select of document.querySelectorAll("select, input")) {
    select.addEventListener(select.type === "range" ? "input" : "change", () => {
      const said = new URLSearchParams(location.hash.slice(1));
      said.set(select.id, select.said ? select.said() : select.value);
      for (const other of select.clears ?? []) said.delete(other);
      history.replaceState(null, "", `#${said}`);
      again();
      select.focus();
    });
  }
  for (const button of document.querySelectorAll("section button:not([data-does])")) {
    button.addEventListener("click", async () => {
      const place = button.nextElementSibling;
      const lines = [...place.querySelectorAll("tr")].map((tr) => [...tr.children].map((cell) => cell.textContent).join("\t"));
      try {
        await navigator.clipboard.writeText(lines.length ? lines.join("\n") : place.textContent);
        button.textContent = "Copied";
      } catch {
        // Where the clipboard is not allowed, as from a file: select it, and Ctrl-C copies it.
        getSelection().selectAllChildren(place);
        button.textContent = "Selected: press Ctrl-C";
      }
    });
  }
  addEventListener("hashchange", again);
  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", markCut);
  let wait;
  let wide = document.documentElement.clientWidth;
  addEventListener("resize", () => {
    if (wide === document.documentElement.clientWidth) return;
    wide = document.documentElement.clientWidth;
    clearTimeout(wait);
    wait = setTimeout(again, 150);
  });
  addEventListener("beforeprint", () => document.querySelectorAll("#manifest details").forEach((details) => (details.open = true)));
  again();
}
