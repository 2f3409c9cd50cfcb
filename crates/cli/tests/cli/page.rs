//! The pages in a browser: no error, the words are there, factors switch by mouse and by keyboard, on a
//! desk, on a phone, in the dark and on paper.

use super::browser::{self, Browser, DESKTOP, PHONE, Screen};
use super::evidence::{QUICK_TABLES, QuickTables};
use super::validate::folder;
use super::{experiment, is_required, scratch, skipped, stdout, takes_long};
use std::path::Path;
use store::named::NamedSamples;
use store::record::Record;
use verdict::report::html;
use verdict::reproduce::{Comparison, Overview};

/// A browser whose profile is in `directory`; says so where there is none.
fn start(directory: &Path) -> Option<Browser> {
    let Some(name) = browser::name() else {
        skipped("there is no chromium to look at the page with");
        return None;
    };
    Some(Browser::start(name, directory))
}

/// Each size and each scheme; where everything is required, each size in each scheme.
fn screens() -> Vec<Screen> {
    let dark = |screen| Screen { scheme: "dark", ..screen };
    if is_required() {
        vec![DESKTOP, dark(DESKTOP), PHONE, dark(PHONE)]
    } else {
        vec![DESKTOP, dark(PHONE)]
    }
}

/// Nothing complained, nothing sticks out to the side, and the colours are the system's.
fn looks_right(browser: &mut Browser, screen: Screen) {
    assert_eq!(browser.complaints, Vec::<String>::new(), "{screen:?}");
    let error = browser.evaluate("document.documentElement.dataset.error ?? ''");
    assert_eq!(error, "", "{screen:?}");
    let wide = browser.evaluate("document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= u64::from(screen.width), "{wide} wide on {screen:?}");
    let light = browser
        .holds("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) > 128");
    assert_eq!(light, screen.scheme == "light" || screen.medium == "print", "{screen:?}");
}

/// Each value of a second load has a chart that says so; a table that is cut says that, too; one layout alone has its figure as the
/// headline, and what was measured names each layout once.
#[test]
fn loads_tables_and_one_layout() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let loads = "workload.r = { kind = 'random', reads_percent = 100, count = 60, block = ['4KiB', '64KiB'], depth = [1, 4] }\n";
    let run = |name: &str, volume: &str, loads: &str| {
        let text = format!(
            "volume = {{ drives = '4xst18000nm000j', interleave = '64KiB', {volume} }}\n{loads}"
        );
        std::fs::write(directory.join(format!("{name}.toml")), text).unwrap();
        stdout(directory, &["run", &format!("{name}.toml"), "--out", name]);
        stdout(directory, &["report", name, "--html", &format!("{name}.html")]);
    };
    run("two", "level = ['md-raid10', 'md-raid5']", loads);
    run(
        "one",
        "level = 'md-raid5'",
        &loads.replace("['4KiB', '64KiB']", "'4KiB'").replace("[1, 4]", "4"),
    );
    for screen in screens() {
        browser.open(&directory.join("two.html"), "", screen);
        looks_right(&mut browser, screen);
        let titles = "[...document.querySelectorAll('#choice figcaption')].map((of) => of.firstChild.textContent).join('; ')";
        let titles = browser.evaluate(titles);
        let said = titles.as_str().unwrap();
        assert!(said.starts_with("r, ") && said.contains("; r, "), "{said}");
        let is_cut = browser.holds("$('#ranking .scroll').hasAttribute('data-cut')");
        assert!(is_cut || !screen.mobile, "{screen:?}");
        browser.open(&directory.join("one.html"), "", screen);
        looks_right(&mut browser, screen);
        assert!(browser.holds(
            "$('#answer').textContent.startsWith('One layout alone, nothing to choose: r ')"
        ));
    }
    let page = std::fs::read_to_string(directory.join("two.html")).unwrap();
    assert_eq!(page.matches(r#""at":{"volume.level":"md-raid5"},"label""#).count(), 1);
}

/// A hundred lines had no names at all, and a hundred values stood over each other below the axis.
#[test]
fn of_many_lines_those_that_tell_most_are_named() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let chunks: Vec<String> = (1..=100).map(|of| (16 * of).to_string()).collect();
    let text = format!(
        "run = {{ repeats = 1 }}\nvolume = {{ drives = '4xwd740gd', level = 'stripe', interleave = [{}] }}\n\
         workload.w = {{ kind = 'random', count = 5, depth = [1, 4] }}\n",
        chunks.join(", ")
    );
    std::fs::write(directory.join("many.toml"), text).unwrap();
    stdout(directory, &["run", "many.toml", "--out", "many"]);
    stdout(directory, &["report", "many", "--html", "many.html"]);
    for screen in screens() {
        browser.open(&directory.join("many.html"), "", screen);
        looks_right(&mut browser, screen);
        for chart in ["#choice", "#curves"] {
            let named = format!(
                "[...document.querySelectorAll('{chart} svg text')].filter((of) => of.closest('[font-weight]')).length"
            );
            let count = browser.evaluate(&named).as_u64().unwrap();
            assert!((2..=8).contains(&count), "{count} lines are named in {chart} on {screen:?}");
        }
        let ticks = "[...document.querySelectorAll(\"#sweep [aria-label='x-axis tick label'] text\")].length";
        let ticks = browser.evaluate(ticks).as_u64().unwrap();
        assert!((3..=30).contains(&ticks), "{ticks} values below the axis on {screen:?}");
    }
}

#[test]
fn a_published_table() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    stdout(directory, &["import", "brownlee-2005", "--out", "results"]);
    stdout(directory, &["report", "results", "--safe", "--html", "page.html"]);
    let page = directory.join("page.html");
    for screen in screens() {
        browser.open(&page, "factor=fs.mount&quantity=rm", screen);
        looks_right(&mut browser, screen);
        assert!(browser.holds("document.body.innerText.includes('Use drives 2xwd740gd')"));
        assert!(browser.holds("$('#sweep').dataset.factor === 'fs.mount'"));
        assert!(browser.holds("$('#sweep').dataset.quantity === 'rm'"));
        assert!(browser.holds("$('#sweep svg').textContent.includes('softdep')"));
    }
    // Values that tie are of nearly one colour, on an axis that shows how little they differ.
    let four = "[0.659, 0.661, 0.664, 0.666], { better: 'higher', tie: 1.17 }";
    assert!(
        browser.holds(&format!("goodness({four})(0.659) > 0.9 && scaleEnds({four}).low < 0.6"))
    );
    assert!(browser.holds(&format!("ties({four})(0.659) && !ties({four})(0.5)")));
    let times = "[1, 1.02], { better: 'lower', tie: 1.1 }";
    assert!(browser.holds(&format!("goodness({times})(1.02) > 0.75 && ties({times})(1.02)")));
    assert!(browser.holds("data.quantities.every((of) => of.tie >= 1)"));
    browser.open(&page, "factor=fs.block&across=fs.block&down=fs.mount&theme=dark", DESKTOP);
    assert!(browser.holds("$('#sweep svg').textContent.includes('64KiB')"));
    assert!(browser.holds("$('#heat').dataset.down === 'fs.mount' && $('#heat svg')"));
    let dark = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) < 128";
    assert!(browser.holds(dark), "what is chosen comes before what the system has");
}

/// Everything that can be chosen, opened or copied is reached by Tab, in the order of the page, and works
/// by keys alone.
#[test]
fn the_keyboard_alone() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    stdout(directory, &["import", "brownlee-2005", "--out", "results"]);
    stdout(directory, &["report", "results", "--html", "page.html"]);
    browser.open(&directory.join("page.html"), "", DESKTOP);
    let mut reached = Vec::new();
    for _ in 0..45 {
        browser.press("Tab");
        let named =
            browser.evaluate("document.activeElement.id || document.activeElement.textContent");
        reached.push(named.as_str().unwrap().to_string());
        let seen = "document.activeElement.matches(':focus-visible') && \
                    getComputedStyle(document.activeElement).outlineStyle !== 'none'";
        assert!(browser.holds(seen), "{reached:?}: where the focus is must be seen");
        if reached.last().is_some_and(|name| name == "down") {
            break;
        }
    }
    let in_order = [
        "theme",
        "The numbers",
        "drives",
        "curve",
        "along",
        "lines",
        "The numbers",
        "quantity",
        "factor",
        "scale",
        "The numbers",
        "across",
        "down",
    ];
    let mut left = reached.iter();
    assert!(in_order.iter().all(|name| left.any(|reached| reached == name)), "{reached:?}");

    let first = "$('#ranking table').rows[1].textContent";
    let best = browser.evaluate(first);
    browser.evaluate("$('#ranking th:nth-last-child(3) button').focus()");
    browser.press("Enter");
    browser.press("Enter");
    assert!(browser.holds("$('#ranking th[aria-sort=descending]')"), "a heading sorts");
    assert_ne!(browser.evaluate(first), best);

    let factor = "$('#sweep').dataset.factor";
    browser.evaluate("document.getElementById('factor').focus()");
    let before = browser.evaluate(factor);
    browser.press("ArrowDown");
    let after = browser.evaluate(factor);
    assert_ne!(before, after, "an arrow key switches the factor");
    assert!(browser.holds("location.hash.includes('factor=')"));
    assert_eq!(browser.evaluate("document.activeElement.id"), "factor", "the focus stays");
    browser.press("ArrowUp");
    assert_eq!(browser.evaluate(factor), before);

    browser.evaluate("$('#sweep summary').focus()");
    browser.press("Enter");
    assert!(browser.holds("$('#sweep details').open && $('#sweep details td').checkVisibility()"));
    browser.press("Tab");
    browser.press("Enter");
    let copied =
        "new Promise((done) => setTimeout(() => done($('#sweep button').textContent), 200))";
    assert_ne!(browser.evaluate(copied), "Copy", "the button says what it did");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn on_paper() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    stdout(directory, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    stdout(directory, &["report", "results", "--html", "page.html"]);
    let paper = Screen { medium: "print", scheme: "dark", ..DESKTOP };
    browser.open(&directory.join("page.html"), "theme=dark", paper);
    looks_right(&mut browser, paper);
    let shown = |what: &str| {
        format!("[...document.querySelectorAll('{what}')].some((e) => e.checkVisibility())")
    };
    for left_out in ["select", "button", "summary"] {
        assert!(!browser.holds(&shown(left_out)), "nothing to press on paper: {left_out}");
    }
    for kept in ["#answer", "#sweep svg", "#published svg", "#ranking td"] {
        assert!(browser.holds(&shown(kept)), "{kept}");
    }
    assert!(browser.printed() > 20_000);
}

#[test]
fn a_simulated_run_shows_where_the_time_went() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    stdout(directory, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    stdout(directory, &["report", "results", "--html", "page.html"]);
    for screen in screens() {
        browser.open(&directory.join("page.html"), "", screen);
        looks_right(&mut browser, screen);
        assert!(browser.holds("document.body.innerText.includes('Use interleave 64')"));
        for id in ["sweep", "time", "members", "published"] {
            assert!(browser.holds(&format!("$('#{id} svg')")), "{id} is drawn");
        }
        assert!(browser.holds("$('#manifest').textContent.includes('fair-2006')"));
        assert!(browser.holds("$('#published').textContent.includes('ours, fitted to this cell')"));
    }
    let note = "$('#sweep .note').textContent";
    for (quantity, way) in [("read", ", more is better)"), ("read.cpu_busy", "(number) by")] {
        browser.open(&directory.join("page.html"), &format!("quantity={quantity}"), DESKTOP);
        let said = browser.evaluate(note);
        assert!(said.as_str().unwrap().contains(way), "{quantity}: {said}");
    }
}

/// The chart of the choice comes first, above the reasons, and on a phone within its first screen and a half.
fn choice_comes_first(browser: &mut Browser, screen: Screen) {
    assert!(browser.holds("$('#choice svg')"), "{screen:?}");
    let before = "$('#choice').compareDocumentPosition($('#reasons')) & 4 && \
                  $('#reasons').compareDocumentPosition($('#ranking')) & 4";
    assert!(browser.holds(before), "the choice, the reasons, the ranking");
    let end = browser.evaluate("$('#choice svg').getBoundingClientRect().bottom + scrollY");
    let most = 1.5 * f64::from(screen.height);
    assert!(end.as_f64().unwrap() < most, "{end} of {most} on {screen:?}");
}

#[test]
fn the_choice_is_drawn_first() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    stdout(directory, &["run", &experiment("fair-2006.toml"), "--out", "one"]);
    stdout(directory, &["import", "brownlee-2005", "--out", "many"]);
    for name in ["one", "many"] {
        stdout(directory, &["report", name, "--html", &format!("{name}.html")]);
    }
    for screen in screens() {
        browser.open(&directory.join("one.html"), "", screen);
        looks_right(&mut browser, screen);
        choice_comes_first(&mut browser, screen);
        // A sweep of each workload, with what was published beside it, and its units at the axes.
        let chart = "$('#choice').innerText + $('#choice .multiples').textContent";
        let said = browser.evaluate(chart);
        for words in ["published", "interleave (sectors)", "MB/s", "26.2 MB/s"] {
            assert!(said.as_str().unwrap().contains(words), "no {words} in {said}");
        }
        assert_eq!(
            browser.evaluate("document.querySelectorAll('#choice svg[role=img]').length"),
            2
        );
        // The ranking has each workload in its own unit.
        assert!(browser.holds("$('#ranking tr').textContent.includes('read MB/s')"));
        assert!(
            browser
                .holds("$('#latencies svg') && $('#latencies .note').textContent.includes('ms')")
        );
        // Of 150 layouts an overview, and no chart of more rows than can be seen.
        browser.open(&directory.join("many.html"), "", screen);
        looks_right(&mut browser, screen);
        choice_comes_first(&mut browser, screen);
        assert!(browser.holds("$('#choice svg [aria-label=cell] rect')"), "a heat map");
        assert!(browser.holds("document.querySelectorAll('#factors svg[role=img]').length > 2"));
    }
}

/// No label is cut to what another is cut to as well.
#[test]
fn labels_differ_wherever_they_are_cut() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let run =
        ["run", &experiment("fair-2006.toml"), "--set", "workload.read.block=64KiB,128KiB,256KiB"];
    stdout(
        directory,
        &[&run[..], &["--set", "workload.write.depth=1,2,4,8", "--out", "results"]].concat(),
    );
    stdout(directory, &["report", "results", "--html", "page.html"]);
    for screen in [DESKTOP, PHONE] {
        browser.open(&directory.join("page.html"), "", screen);
        for section in ["time", "members"] {
            let labels = format!(
                "(() => {{ const all = [...document.querySelectorAll('#{section} [aria-label=\"y-axis tick label\"] text')].map((t) => t.textContent); \
                 return all.length > 3 && all.length <= 16 && new Set(all).size === all.length; }})()"
            );
            assert!(browser.holds(&labels), "{section} on {screen:?}");
        }
    }
}

/// Each quantity of a table has its chart, fitted cells are marked, and the numbers are there to copy.
#[test]
fn published_tables() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let QuickTables { said, page: text, .. } = &*QUICK_TABLES;
    assert!(said.contains("predicted cells are within 15 %"), "{said}");
    assert!(said.contains("ipi-read") && said.ends_with("Page: page.html\n"), "{said}");
    let page = directory.join("page.html");
    std::fs::write(&page, text).unwrap();
    for screen in screens() {
        browser.open(&page, "", screen);
        looks_right(&mut browser, screen);
        let charts = "[...document.querySelectorAll('section')].map((s) => s.querySelectorAll('.multiples svg').length).join()";
        assert_eq!(
            browser.evaluate(charts),
            "0,2,1,27",
            "read and write; KB/s; 12 of Bonnie, 2 of iozone, 12 of touch, untar"
        );
        assert!(browser.holds("$('#overview').innerText.includes('retouch')"));
        // Hollow points: two of the reads, and one of the writes.
        let fitted = "document.querySelectorAll('#table-fair-2006 svg [aria-label=dot] circle[fill=\"var(--card)\"]').length";
        assert_eq!(browser.evaluate(fitted), 4);
        let numbers = "[...document.querySelectorAll('#table-mcvoy-1990 details td')].map((td) => td.textContent).join('|')";
        let numbers = browser.evaluate(numbers);
        assert!(
            numbers.as_str().unwrap().contains("ipi-read|2200–2300|2149|KB/s|-2.3 %|"),
            "{numbers}"
        );
    }
    browser.open(&page, "colour-tao-1996=volume.controller", DESKTOP);
    assert!(
        browser.holds(
            "document.getElementById('table-tao-1996').dataset.colour === 'volume.controller'"
        )
    );
}

/// A published table beside numbers that are its own, but for every other one, which is off. To run all
/// of them takes minutes, and what is looked at is the same.
fn made_up(name: &str) -> Comparison {
    let published = lab::published::find(name).unwrap();
    let records = published.cells.iter().zip([1.0, 1.7].into_iter().cycle()).map(|(cell, off)| {
        let value = cell.published.middle().map(|middle| off * middle);
        Record {
            trial: 0,
            at: cell.at.clone(),
            workload: cell.trial.clone(),
            repeat: 0,
            samples: NamedSamples::from_iter([(cell.sample.clone(), value.unwrap_or(f64::NAN))]),
            member_busy: Vec::new(),
            requests: 0,
            latency_hdr: String::new(),
            series: None,
            commands: Vec::new(),
            curve: Vec::new(),
            window: None,
            note: String::new(),
        }
    });
    let records: Vec<Record> = records.collect();
    Comparison::new(&published, std::iter::empty(), &records)
}

/// All of the overview is to be seen without scrolling at 1200 px, its last column too; on a phone the
/// table scrolls and the page does not.
#[test]
fn the_overview_of_all_tables() {
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let compared: Vec<Comparison> = lab::published::names().into_iter().map(made_up).collect();
    let overview = Overview::new(&compared);
    let page = directory.join("page.html");
    std::fs::write(&page, html::reproduced(&compared, &overview)).unwrap();
    let room =
        "(() => { const s = $('#overview .scroll'); return s.scrollWidth - s.clientWidth; })()";
    let narrow = Screen { width: 1200, ..DESKTOP };
    for screen in [DESKTOP, narrow, PHONE] {
        browser.open(&page, "", screen);
        looks_right(&mut browser, screen);
        let hidden = browser.evaluate(room).as_u64().unwrap();
        assert!(hidden == 0 || screen.mobile, "{hidden} px are hidden on {screen:?}");
        let columns = "$('#overview tr').children.length";
        assert_eq!(browser.evaluate(columns), Overview::header().len());
    }
}

/// Many cells of several factors: colours tell one of them apart, and the arrow keys choose which.
#[test]
fn colours_by_a_factor() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    let compared = [made_up("brownlee-2005")];
    let page = directory.join("page.html");
    let overview = Overview::new(&compared);
    std::fs::write(&page, html::reproduced(&compared, &overview)).unwrap();
    browser.open(&page, "colour-brownlee-2005=fs.version", DESKTOP);
    looks_right(&mut browser, DESKTOP);
    let path = "document.getElementById('table-brownlee-2005').dataset.colour";
    let legend = "$('#table-brownlee-2005 .legend').innerText";
    assert_eq!(browser.evaluate(path), "fs.version");
    let versions = browser.evaluate(legend);
    browser.evaluate("document.getElementById('colour-brownlee-2005').focus()");
    browser.press("ArrowUp");
    let other = browser.evaluate(path);
    assert_ne!(other, "fs.version", "an arrow key chooses another factor");
    assert_ne!(browser.evaluate(legend), versions);
    assert!(browser.holds("location.hash.includes('colour-brownlee-2005=')"));
    assert_eq!(browser.evaluate("document.activeElement.id"), "colour-brownlee-2005");
    browser.press("ArrowDown");
    assert_eq!((browser.evaluate(path), browser.evaluate(legend)), ("fs.version".into(), versions));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// All requests, reads and writes, measured and modelled.
#[test]
fn distributions_of_a_trace() {
    if takes_long() {
        return;
    }
    let scratch = scratch();
    let directory = scratch.path();
    let Some(mut browser) = start(directory) else { return };
    folder(directory, "elite = \"st41601n\"");
    let said = stdout(directory, &["validate", "traces", "--html", "page.html"]);
    assert!(said.contains("second half") && said.contains("Page: page.html"), "{said}");
    for screen in screens() {
        browser.open(&directory.join("page.html"), "", screen);
        looks_right(&mut browser, screen);
        let of = "[...document.querySelectorAll('#trace-elite figcaption')].map((f) => f.firstChild.textContent).join('; ')";
        assert_eq!(browser.evaluate(of), "all requests: 400; reads: 266; writes: 134");
        let curves = "document.querySelectorAll('#trace-elite svg [aria-label=line] path').length";
        assert_eq!(browser.evaluate(curves), 6);
        // A tenth was measured at 3 ms: a step of the measured curve.
        let measured = "data.traces[0].curves[0].measured_ms.filter((ms) => ms === 3).length / data.traces[0].curves[0].shares.length";
        assert!((browser.evaluate(measured).as_f64().unwrap() - 0.1).abs() < 0.01);
    }
    browser.open(&directory.join("page.html"), "", DESKTOP);
    browser.evaluate("$('#scale').focus()");
    browser.press("ArrowDown");
    assert!(browser.holds("$('#trace-elite').dataset.scale === 'log'"));
}

#[test]
fn the_page_needs_nothing_else() {
    let scratch = scratch();
    stdout(scratch.path(), &["import", "rosen-1999", "--out", "results"]);
    stdout(scratch.path(), &["report", "results", "--html", "report.html"]);
    stdout(scratch.path(), &["reproduce", "fair-2006", "--html", "reproduce.html"]);
    for name in ["report.html", "reproduce.html"] {
        let page = std::fs::read_to_string(scratch.path().join(name)).unwrap();
        // Two libraries stand between our page and our script; what they could load, nothing asks for.
        let parts: Vec<&str> = page.split("<script>").collect();
        let own = [parts[0], parts[parts.len() - 1]].concat();
        for needs in ["<script src", "<link rel=\"stylesheet\"", "@import", "url(http", "fetch("] {
            assert!(!own.contains(needs), "{name}: {needs}");
        }
        assert!(!page.contains("{{"), "{name}");
    }
    let report = std::fs::read_to_string(scratch.path().join("report.html")).unwrap();
    assert!(report.contains("Use interleave 2048"));
}
