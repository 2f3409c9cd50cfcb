//! `ileave explore`: a page on the loopback address, and the answers that it asks for.

use super::{print, written};
use crate::flags::ExploreFlags;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use lab::catalogue;
use lab::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use store::input::read_bytes;
use tiny_http::{Header, Method, Request, Response, Server};
use tune::explore::{Asked, Explore};
use tune::work::{NAMED, Work};
use tune::{Drives, explore};
use verdict::report::html;

/// Requests that are answered side by side.
const LANES: usize = 4;

/// The largest module that a page takes in, in bytes: one that is not optimized has 16 MiB.
const MODULE_BYTES: u64 = 64 << 20;

/// The longest request, in bytes: twelve cells are a few thousand.
const BODY_MAX: u64 = 64 << 10;

/// Serves the page until the process is ended.
pub(crate) fn explore(flags: &ExploreFlags) -> Result<String> {
    let drives = Drives::read(&flags.drives)?;
    let name = drives.drive.name.clone();
    Work::find(&flags.workload, &drives).map_err(|error| error.context("--workload"))?;
    let mut explore = Explore::default();
    if !catalogue::drive_names().contains(&name.as_str()) {
        explore.drives.push(name.clone());
    }
    if NAMED.iter().all(|(known, _)| *known != flags.workload) {
        explore.works.push(flags.workload.clone());
    }
    let mut choices = explore.choices()?;
    choices["first"] = json!({
        "drive": name, "count": drives.count.to_string(), "spares": "0", "level": explore::FIRST_LEVEL,
        "chunk": explore::FIRST_CHUNK, "rows": explore::FIRST_ROWS, "work": flags.workload,
    });
    if let (Some(page), Some(module)) = (&flags.page, &flags.module) {
        return alone(&explore, &choices, page, module);
    }
    let server = Server::http(("127.0.0.1", flags.port)).map_err(|error| {
        Error::failure(format!(
            "cannot listen on 127.0.0.1:{}: {error}; give another `--port`",
            flags.port
        ))
    })?;
    let port = server.server_addr().to_ip().map_or(flags.port, |address| address.port());
    let site = Site {
        explore,
        page: html::explore(&choices),
        token: token()?,
        port,
        judging: Mutex::default(),
    };
    print(&format!("http://127.0.0.1:{port}/{}/\n", site.token))?;
    print("Open it in a browser; Ctrl-C ends it\n")?;
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| server.incoming_requests().for_each(|request| site.serve(request)));
        }
    });
    Ok(String::new())
}

/// Writes the page with the model in it.
fn alone(explore: &Explore, choices: &Json, page: &Path, module: &Path) -> Result<String> {
    if let Some(file) = explore.drives.iter().chain(&explore.works).next() {
        return Err(Error::input(format!(
            "`{file}` is a file, and a page without a server has the catalogue's drives and the named works only; \
             leave out `--page`"
        )));
    }
    let bytes = read_bytes(module, MODULE_BYTES).map_err(|error| {
        Error::input(format!(
            "--module {}: {error}; `.ci/page DIR` makes DIR/page.wasm",
            module.display()
        ))
    })?;
    if !bytes.starts_with(b"\0asm") {
        return Err(Error::input(format!(
            "--module {}: it is no WebAssembly; `.ci/page DIR` makes DIR/page.wasm",
            module.display()
        )));
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(&bytes).and_then(|()| packed.finish()).map_err(Error::failure)?;
    let html = html::explore_alone(choices, &STANDARD.encode(packed));
    written::ALONE.write(page, html.as_bytes())?;
    Ok(format!("Page: {}, {:.1} MB\n", page.display(), html.len() as f64 / 1e6))
}

/// Sixteen random bytes: who does not know them is not answered.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::failure(format!("the system has no random numbers: {error}")))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string grows");
        text
    }))
}

/// What is served.
struct Site {
    explore: Explore,
    page: String,
    token: String,
    port: u16,
    /// Held while a verdict is measured: one at a time, so that sliders are still answered.
    judging: Mutex<()>,
}

/// What is answered: a status, what it is, and its text.
struct Reply {
    status: u16,
    kind: &'static str,
    text: String,
}

impl Reply {
    fn json(status: u16, json: &Json) -> Self {
        Reply { status, kind: "application/json", text: json.to_string() }
    }

    fn refused(status: u16, why: &str) -> Self {
        Reply::json(status, &json!({ "error": why }))
    }
}

impl Site {
    fn serve(&self, mut request: Request) {
        let reply = self.reply(&mut request);
        let headers = [
            ("Content-Type", reply.kind),
            ("Content-Security-Policy", html::POLICY),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ];
        // Of a known length, whatever it is: who reads the page raw meets no marks of chunks in it.
        let mut response = Response::from_string(reply.text)
            .with_status_code(reply.status)
            .with_chunked_threshold(usize::MAX);
        for (name, value) in headers {
            response.add_header(Header::from_bytes(name, value).expect("both are plain ASCII"));
        }
        // Whoever has gone needs no answer.
        let _ = request.respond(response);
    }

    fn reply(&self, request: &mut Request) -> Reply {
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        // A name that somebody else has pointed to this address is none of ours.
        if host.is_none_or(|host| hosts.iter().all(|own| host.value.as_str() != own)) {
            return Reply::refused(403, "ask for 127.0.0.1");
        }
        let path = request.url().strip_prefix(&format!("/{}/", self.token)).map(String::from);
        match (request.method().clone(), path.as_deref()) {
            (Method::Get | Method::Head, Some("")) => {
                Reply { status: 200, kind: "text/html; charset=utf-8", text: self.page.clone() }
            }
            (Method::Post, Some("ask")) => {
                answered(request, |cell| self.explore.reply(&Asked::Ask(cell)))
            }
            (Method::Post, Some("judge")) => {
                let Ok(_one) = self.judging.try_lock() else {
                    return Reply::refused(429, "another verdict is measured; ask again after it");
                };
                answered(request, |cells| self.explore.reply(&Asked::Judge(cells)))
            }
            _ => Reply::refused(
                404,
                "not here; take the whole address that `ileave explore` printed",
            ),
        }
    }
}

/// Reads what is asked, and answers it.
fn answered<T: DeserializeOwned>(request: &mut Request, answer: impl FnOnce(T) -> Json) -> Reply {
    let mut body = String::new();
    let read = request.as_reader().take(BODY_MAX).read_to_string(&mut body);
    if let Err(error) = read {
        return Reply::refused(400, &error.to_string());
    }
    match serde_json::from_str(&body).map(answer) {
        Err(error) => Reply::refused(400, &format!("not understood: {error}")),
        Ok(json) => Reply::json(200, &json),
    }
}
