//! The page in a browser: no error, the verdict's text, factors that switch, both sizes and colours.

use super::{experiment, scratch, skipped, stdout};
use std::path::Path;
use std::process::Command;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser that starts, if there is one.
fn browser() -> Option<&'static str> {
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    BROWSERS.into_iter().find(|name| starts(name))
}

/// What the browser makes of the page at this address; it must not complain.
fn visit(browser: &str, directory: &Path, hash: &str, size: &str) -> String {
    let page = directory.join("page.html");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=5000", "--dump-dom", &format!("--window-size={size}")])
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .arg(format!("file://{}#{hash}", page.display()))
        .output()
        .expect("the browser starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{hash} at {size}: {complaints:?}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("data-drawn=\"yes\"") && !dom.contains("data-error="), "{hash} at {size}");
    dom
}

/// The part of the page with this id.
fn section<'a>(dom: &'a str, id: &str) -> &'a str {
    let start = dom.find(&format!("id=\"{id}\"")).expect("the section is there");
    let start = dom[..start].rfind("<section").expect("it is a section");
    &dom[start..start + dom[start..].find("</section>").expect("it ends")]
}

#[test]
fn a_published_table() {
    let Some(browser) = browser() else {
        return skipped("there is no chromium to look at the page with");
    };
    let scratch = scratch();
    let directory = scratch.path();
    stdout(directory, &["import", "brownlee-2005", "--out", "results"]);
    stdout(directory, &["report", "results", "--safe", "--html", "page.html"]);
    for (size, theme) in
        [("1280,900", "light"), ("1280,900", "dark"), ("500,844", "light"), ("500,844", "dark")]
    {
        let hash = format!("theme={theme}&factor=fs.mount&quantity=rm");
        let dom = visit(browser, directory, &hash, size);
        assert!(dom.contains(&format!("data-theme=\"{theme}\"")));
        assert!(dom.contains("Choose volume.drives = 2xwd740gd"));
        let sweep = section(&dom, "sweep");
        assert!(
            sweep.contains("data-factor=\"fs.mount\"") && sweep.contains("data-quantity=\"rm\"")
        );
        assert!(sweep.contains("<svg") && sweep.contains("softdep"));
    }
    let dom =
        visit(browser, directory, "factor=fs.block&across=fs.block&down=fs.mount", "1280,900");
    let sweep = section(&dom, "sweep");
    assert!(sweep.contains("data-factor=\"fs.block\"") && sweep.contains("64KiB"));
    let heat = section(&dom, "heat");
    assert!(heat.contains("data-down=\"fs.mount\"") && heat.contains("<svg"));
    // Everything that can be chosen or copied is a control that the keyboard reaches.
    assert!(
        dom.matches("<select id=").count() == 6
            && dom.matches("<button type=\"button\"").count() == 7
    );
}

#[test]
fn a_simulated_run_shows_where_the_time_went() {
    let Some(browser) = browser() else {
        return skipped("there is no chromium to look at the page with");
    };
    let scratch = scratch();
    let directory = scratch.path();
    stdout(directory, &["run", &experiment("fair-2006.toml"), "--out", "results"]);
    stdout(directory, &["report", "results", "--html", "page.html"]);
    let dom = visit(browser, directory, "", "1280,900");
    assert!(dom.contains("Choose volume.interleave = 64"));
    for id in ["sweep", "time", "members", "published"] {
        assert!(section(&dom, id).contains("<svg"), "{id} is drawn");
    }
    assert!(section(&dom, "manifest").contains("fair-2006"));
}

#[test]
fn the_page_needs_nothing_else() {
    let scratch = scratch();
    stdout(scratch.path(), &["import", "rosen-1999", "--out", "results"]);
    stdout(scratch.path(), &["report", "results", "--html", "page.html"]);
    let page = std::fs::read_to_string(scratch.path().join("page.html")).unwrap();
    for needs in ["<script src", "<link rel=\"stylesheet\"", "@import", "url(http", "fetch("] {
        let own = page.split("<script>").next().unwrap_or_default();
        assert!(!own.contains(needs), "{needs}");
    }
    assert!(page.contains("Choose volume.interleave = 2048") && !page.contains("{{"));
}
