//! A browser without a screen, driven through a pipe by the `DevTools` protocol
//! (chromedevtools.github.io/devtools-protocol): messages of JSON, each ended by a zero byte.

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Looks at a page until it is drawn: for 40 s, for the machine may be busy.
const TRIES: usize = 2000;

/// The name of a browser that starts, if there is one.
pub(super) fn name() -> Option<&'static str> {
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    BROWSERS.into_iter().find(|name| starts(name))
}

/// What a page is looked at with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Whether it is a phone.
    pub(super) mobile: bool,
    /// `light` or `dark`, as the system has it.
    pub(super) scheme: &'static str,
    /// `screen` or `print`.
    pub(super) medium: &'static str,
}

pub(super) const DESKTOP: Screen =
    Screen { width: 1280, height: 900, mobile: false, scheme: "light", medium: "screen" };
pub(super) const PHONE: Screen = Screen { width: 390, height: 844, mobile: true, ..DESKTOP };

/// A page in a browser. It is ended with the test.
pub(super) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The page's session.
    session: String,
    last: u64,
    /// What the page has complained of.
    pub(super) complaints: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.send("Browser.close", &json!({}), false);
        let _ = self.process.wait();
    }
}

impl Browser {
    /// Starts `name` with a profile of its own in `directory`.
    pub(super) fn start(name: &str, directory: &Path) -> Self {
        // The protocol is spoken on the descriptors 3 and 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", name])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", directory.join("profile").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let to = process.stdin.take().expect("it is piped");
        let from = BufReader::new(process.stdout.take().expect("it is piped"));
        let (session, complaints) = (String::new(), Vec::new());
        let mut browser = Browser { process, to, from, session, last: 0, complaints };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().expect("a session").into();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn send(&mut self, method: &str, parameters: &Json, to_page: bool) -> std::io::Result<u64> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if to_page && !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        write!(self.to, "{message}\0")?;
        self.to.flush()?;
        Ok(self.last)
    }

    /// The next message.
    fn receive(&mut self) -> Json {
        let mut message = Vec::new();
        let read = self.from.read_until(0, &mut message).expect("the browser is there");
        assert!(read > 0, "the browser has ended");
        message.pop();
        let message: Json = serde_json::from_slice(&message).expect("it speaks JSON");
        let complains = match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" => true,
            "Runtime.consoleAPICalled" => message["params"]["type"] != "log",
            _ => false,
        };
        if complains {
            self.complaints.push(message["params"].to_string());
        }
        message
    }

    /// Sends a command and waits for what comes of it.
    fn ask(&mut self, method: &str, parameters: &Json) -> Json {
        let id = self.send(method, parameters, true).expect("the browser is there");
        loop {
            let message = self.receive();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// Opens the page at this address and waits until it is drawn.
    pub(super) fn open(&mut self, page: &Path, hash: &str, screen: Screen) {
        self.open_address(&format!("file://{}", page.display()), hash, screen);
    }

    /// The same of a page that is served.
    pub(super) fn open_address(&mut self, page: &str, hash: &str, screen: Screen) {
        let size = json!({ "width": screen.width, "height": screen.height, "deviceScaleFactor": 1,
            "mobile": screen.mobile });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let scheme = json!([{ "name": "prefers-color-scheme", "value": screen.scheme }]);
        let media = json!({ "media": screen.medium, "features": scheme });
        self.ask("Emulation.setEmulatedMedia", &media);
        // An address that differs behind the # only would not be loaded again.
        self.ask("Page.navigate", &json!({ "url": "about:blank" }));
        self.ask("Page.navigate", &json!({ "url": format!("{page}#{hash}") }));
        self.wait("location.protocol !== 'about:' && document.documentElement?.dataset.drawn");
    }

    /// Waits until this expression holds.
    pub(super) fn wait(&mut self, expression: &str) {
        for _ in 0..TRIES {
            if self.holds(expression) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("never: {expression}; {:?}", self.complaints);
    }

    /// The value of an expression in the page.
    pub(super) fn evaluate(&mut self, expression: &str) -> Json {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.ask("Runtime.evaluate", &parameters);
        assert!(found.get("exceptionDetails").is_none(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Whether the expression holds.
    pub(super) fn holds(&mut self, expression: &str) -> bool {
        self.evaluate(&format!("Boolean({expression})")) == true
    }

    /// Presses a key and lets it go: `Tab`, `ArrowDown`, `Enter`.
    pub(super) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => panic!("no code is known for {key}"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "text": text,
                "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// A picture of the whole page, as a PNG in base64.
    pub(super) fn picture(&mut self) -> String {
        let shot = self.ask("Page.captureScreenshot", &json!({ "captureBeyondViewport": true }));
        shot["data"].as_str().expect("a picture").into()
    }

    /// The pages that come out of the printer, as bytes of a PDF.
    pub(super) fn printed(&mut self) -> usize {
        let printed = self.ask("Page.printToPDF", &json!({}));
        printed["data"].as_str().map_or(0, str::len) / 4 * 3
    }
}
