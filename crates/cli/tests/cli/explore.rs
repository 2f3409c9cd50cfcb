//! `ileave explore`: what its server answers, and its page in a browser.

use super::browser::{self, Browser, DESKTOP, PHONE, Screen};
use super::{ileave, scratch, skipped};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that ends with its test.
struct Served {
    process: Child,
    /// As printed, with the token and a slash at its end.
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ileave"))
            .arg("explore")
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut address = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut address).expect("it prints its address");
        Served { process, address: address.trim().into() }
    }

    /// `127.0.0.1:PORT`, and the path with the token.
    fn parts(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://").expect("an address");
        rest.split_at(rest.find('/').expect("a path"))
    }

    /// The status and the text of an answer.
    fn ask(&self, method: &str, path: &str, host: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.parts().0).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .expect("it listens");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains("Content-Security-Policy: default-src 'none'"), "{head}");
        assert!(
            head.contains(&format!("Content-Length: {}", body.len())),
            "{head}: whole, not in chunks"
        );
        (status.expect("a status"), body.into())
    }

    fn post(&self, what: &str, body: &Json) -> Json {
        let (host, path) = self.parts();
        let (status, text) = self.ask("POST", &format!("{path}{what}"), host, &body.to_string());
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).expect("it answers JSON")
    }
}

fn cell(work: &str, level: &str) -> Json {
    json!({ "drive": "st18000nm000j", "count": 8, "level": level, "chunk": "512KiB", "rows": "256", "work": work })
}

/// Only who knows the token is answered, and only by this machine's own name.
#[test]
fn strangers_are_not_answered() {
    let served = Served::start(&[]);
    let (host, path) = served.parts();
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    assert_eq!(path.len(), 34, "{path}: 32 digits and two slashes");
    let body = cell("vm", "md-raid6").to_string();
    assert_eq!(served.ask("GET", "/", host, "").0, 404);
    assert_eq!(served.ask("POST", "/ask", host, &body).0, 404);
    assert_eq!(served.ask("POST", &format!("{path}ask"), "example.org", &body).0, 403);
    assert_eq!(served.ask("POST", &format!("{path}ask"), host, "{").0, 400);
    let (status, page) = served.ask("GET", path, host, "");
    assert!(status == 200 && page.contains("Explore"), "{status}");
    let other = Served::start(&[]);
    assert_ne!(other.parts().1, path, "a token of its own");
}

/// Every level and every work is answered; what is asked again is answered with the same bytes.
#[test]
fn what_is_asked_is_answered() {
    let served = Served::start(&[]);
    for level in [
        "md-stripe",
        "md-mirror",
        "md-raid10",
        "md-raid10-n3",
        "md-raid10-f3",
        "md-raid5",
        "md-raid6",
    ] {
        let answer = served.post("ask", &cell("vm", level));
        assert!(answer["works"][0]["mb_per_s"].as_f64().unwrap() > 0.0, "{level}: {answer}");
        assert_eq!(answer["works"][0]["member_busy"].as_array().unwrap().len(), 8, "{level}");
        assert!(answer["commands"].as_str().unwrap().contains("mdadm --create"), "{level}");
    }
    let once = served.post("ask", &cell("vm", "md-raid5"));
    assert_eq!(once, served.post("ask", &cell("vm", "md-raid5")));
    let mut deep = cell("vm", "md-raid5");
    deep["knobs"] = json!({ "depth": 1, "reads_percent": 100 });
    let shallow = served.post("ask", &deep);
    assert_eq!(shallow["knobs"], json!({ "depth": 1, "block_kib": null, "reads_percent": 100 }));
    assert_ne!(shallow["works"], once["works"], "knobs turn something");
    let mut priced = cell("vm", "md-raid5");
    priced["price_usd"] = json!(300.0);
    assert_eq!(served.post("ask", &priced)["cost_usd"], 2400.0);
    let refused = |change: fn(&mut Json), why: &str| {
        let mut cell = cell("vm", "md-raid6");
        change(&mut cell);
        let answer = served.post("ask", &cell);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.contains(why), "{answer}");
    };
    refused(|cell| cell["count"] = json!(3), "needs 4 members and has 3");
    refused(|cell| cell["count"] = json!(65), "65 drives; write 1 to 64");
    refused(|cell| cell["drive"] = json!("/etc/passwd"), "is offered");
    refused(|cell| cell["work"] = json!("/etc/passwd"), "is offered");
    refused(|cell| cell["knobs"] = json!({ "depth": 0 }), "write 1 to 1024");
}

/// The verdict on what was kept: the cells' figures, what ranks them, and an experiment that has them all.
#[test]
fn what_is_kept_is_judged() {
    let served = Served::start(&[]);
    let judged = served.post("judge", &json!([cell("vm", "md-raid6"), cell("vm", "md-raid10")]));
    assert!(judged["verdict"].as_str().unwrap().contains("md-raid10"), "{judged}");
    assert!(judged["commands"].as_str().unwrap().contains("--level=10"), "{judged}");
    assert_eq!(judged["cells"].as_array().unwrap().len(), 2);
    let directory = scratch();
    std::fs::write(directory.path().join("all.toml"), judged["experiment"].as_str().unwrap())
        .unwrap();
    let ran = ileave(directory.path(), &["run", "all.toml", "--json"]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let refused = served.post("judge", &json!([cell("vm", "md-raid6"), cell("media", "md-raid6")]));
    assert!(refused["error"].as_str().unwrap().contains("different work"), "{refused}");
}

/// By keys alone, on a desk and on a phone: a slider moves and the figures follow; what is kept is compared and judged.
#[test]
fn the_page() {
    let scratch = scratch();
    let Some(name) = browser::name() else {
        skipped("there is no chromium to look at the page with");
        return;
    };
    let mut browser = Browser::start(name, scratch.path());
    let served = Served::start(&["--drives", "8x st18000nm000j", "--workload", "vm"]);
    for screen in [DESKTOP, PHONE, Screen { scheme: "dark", ..DESKTOP }] {
        browser.open_address(&served.address, "", screen);
        browser.wait("document.documentElement.dataset.answered === '1'");
        assert!(browser.holds("$('#answer').textContent.startsWith('md-raid6, 512KiB chunk')"));
        assert!(
            browser.holds("$('#busy svg') && $('#block_kib').disabled && !$('#depth').disabled")
        );
        let rate = browser.evaluate("$('#figures dd').textContent");
        browser.evaluate("$('#depth').focus()");
        browser.press("ArrowRight");
        browser.wait("document.documentElement.dataset.answered === '2'");
        assert!(browser.holds("location.hash.includes('depth=64')"));
        assert_ne!(browser.evaluate("$('#figures dd').textContent"), rate, "the figures follow");
        assert!(
            browser.holds("$('#tried svg') && $('#tried .note').textContent.includes('depth')")
        );
        browser.evaluate("$('#keep').focus()");
        browser.press("Enter");
        assert!(browser.holds("$('#rows-kept table').rows.length === 2"));
        let wide = browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= u64::from(screen.width), "{wide} wide on {screen:?}");
    }
    browser.evaluate("(location.hash = 'level=md-raid10&depth=64', 0)");
    browser.wait("$('#answer').textContent.startsWith('md-raid10,')");
    browser.evaluate("$('#keep').click()");
    browser.evaluate("$('#judge').click()");
    browser.wait("document.documentElement.dataset.judged === 'yes'");
    assert!(browser.holds("$('#verdict').textContent.includes('md-raid10')"));
    assert!(browser.holds("$('#verdict-file').href.startsWith('blob:')"));
    assert!(browser.holds("$('#experiment').textContent.includes('md-raid6')"));
    assert!(
        browser.holds("$('#commands').textContent.includes('mdadm --create /dev/md0 --level=10')")
    );
    if let Some(file) = std::env::var_os("ILEAVE_PICTURE") {
        std::fs::write(file, browser.picture()).unwrap();
    }
    // A layout that cannot be is said, and the page goes on.
    browser.evaluate("(location.hash = 'level=md-raid6&count=3', 0)");
    browser.wait("document.documentElement.dataset.refused === 'yes'");
    assert!(browser.holds("$('#answer').textContent.includes('needs 4 members')"));
    assert!(browser.holds("$('#figures').hidden"));
    assert_eq!(browser.complaints, Vec::<String>::new());
    // It asks nobody else.
    let asked =
        browser.evaluate("performance.getEntriesByType('resource').map((r) => r.name).join()");
    let asked = asked.as_str().unwrap();
    let own = |name: &str| name.starts_with(&served.address) || name.starts_with("data:");
    assert!(
        !asked.is_empty() && asked.split(',').filter(|n| n.contains("://")).all(own),
        "{asked}"
    );
}

/// One file, opened as a file: a slider moves, and its figures are those that the server gives.
#[test]
fn the_page_without_a_server() {
    let scratch = scratch();
    let (Some(name), Some(module)) = (browser::name(), std::env::var_os("ILEAVE_PAGE_MODULE"))
    else {
        skipped("there is no chromium, or ILEAVE_PAGE_MODULE does not name what .ci/page makes");
        return;
    };
    let module = module.to_str().expect("a path in UTF-8");
    let wrote = ileave(scratch.path(), &["explore", "--page", "alone.html", "--module", module]);
    assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
    let served = Served::start(&[]);
    // JavaScript has one kind of number: 1.0 is 1.
    let js = |browser: &mut Browser, json: &Json| browser.evaluate(&format!("({json})"));
    let mut browser = Browser::start(name, scratch.path());
    browser.open(&scratch.path().join("alone.html"), "", DESKTOP);
    browser.wait("document.documentElement.dataset.answered === '1'");
    let mut deep = cell("vm", "md-raid6");
    deep["knobs"] = json!({});
    assert_eq!(browser.evaluate("last.answer"), js(&mut browser, &served.post("ask", &deep)));
    browser.evaluate("$('#depth').focus()");
    browser.press("ArrowRight");
    browser.wait("document.documentElement.dataset.answered === '2'");
    deep["knobs"] = json!({ "depth": 64 });
    assert_eq!(browser.evaluate("last.answer"), js(&mut browser, &served.post("ask", &deep)));
    for (work, level) in [("backup", "md-raid5"), ("postgres", "md-raid10"), ("mail", "md-mirror")]
    {
        let cell = cell(work, level);
        let asked = browser.evaluate(&format!("post('ask', {cell})"));
        assert!(asked["works"][0]["mb_per_s"].as_f64().unwrap() > 0.0, "{asked}");
        assert_eq!(asked, js(&mut browser, &served.post("ask", &cell)));
    }
    let cells = json!([cell("vm", "md-raid6"), cell("vm", "md-raid10")]);
    let judged = browser.evaluate(&format!("post('judge', {cells})"));
    assert_eq!(judged, js(&mut browser, &served.post("judge", &cells)));
    assert!(judged["verdict"].as_str().unwrap().contains("md-raid10"), "{judged}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// What cannot be in a page is said before it is written.
#[test]
fn a_page_that_cannot_be_is_refused() {
    let scratch = scratch();
    std::fs::write(scratch.path().join("page.wasm"), "text").unwrap();
    let refused = |arguments: &[&str], why: &str| {
        let ran = ileave(scratch.path(), &[&["explore", "--page", "a.html"], arguments].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && said.contains(why), "{said}");
        assert!(!scratch.path().join("a.html").exists());
    };
    refused(&[], "--module");
    refused(&["--module", "none.wasm"], ".ci/page DIR");
    refused(&["--module", "page.wasm"], "it is no WebAssembly");
}
