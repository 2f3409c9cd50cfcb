//! THE PAGE: what `ileave explore` answers, as a module of WebAssembly for a page that has no server.
//!
//! A question is JSON, `{"ask": cell}` or `{"judge": [cell, …]}`, and so is its answer: [`Explore::reply`], which the
//! server gives too. The page writes the question where [`ileave_room`] says, calls [`ileave_answer`], and reads
//! the answer where [`ileave_answered`] says. One buffer serves both, and numbers alone cross the border, so nothing here
//! reads memory that it does not own.

use serde_json::json;
use std::sync::{Mutex, PoisonError};
use tune::explore::{Asked, Explore};

/// The question, and then its answer.
static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Works on the buffer. Whoever has panicked has ended the module.
fn buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    work(&mut BUFFER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Answers a question in JSON; where it is none, says so as `error`.
pub fn answer(question: &[u8]) -> String {
    let reply = match serde_json::from_slice::<Asked>(question) {
        Ok(asked) => Explore::default().reply(&asked),
        Err(error) => json!({ "error": format!("not understood: {error}") }),
    };
    reply.to_string()
}

/// Makes room for a question of so many bytes; gives the address of the first.
#[expect(unsafe_code, reason = "the page calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn ileave_room(bytes: usize) -> *mut u8 {
    buffer(|buffer| {
        buffer.clear();
        buffer.resize(bytes, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the question that is in the room, and puts the answer in its place; gives its length in bytes.
#[expect(unsafe_code, reason = "the page calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn ileave_answer() -> usize {
    buffer(|buffer| {
        *buffer = answer(buffer).into_bytes();
        buffer.len()
    })
}

/// The address of the answer's first byte.
#[expect(unsafe_code, reason = "the page calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn ileave_answered() -> *const u8 {
    buffer(|buffer| buffer.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn asked(question: &str) -> Json {
        serde_json::from_str(&answer(question.as_bytes())).unwrap()
    }

    #[test]
    fn a_question_is_answered_and_nonsense_is_refused() {
        let cell = r#"{"drive":"st18000nm000j","count":8,"level":"md-raid6","chunk":"512KiB","rows":"256","work":"media"}"#;
        let done = asked(&format!(r#"{{"ask":{cell}}}"#));
        assert!(done["works"][0]["mb_per_s"].as_f64().unwrap() > 0.0, "{done}");
        let judged = asked(&format!(r#"{{"judge":[{cell}]}}"#));
        assert!(judged["verdict"].as_str().is_some_and(|verdict| !verdict.is_empty()), "{judged}");
        for (wrong, why) in [
            ("{", "not understood"),
            (r#"{"ask":{}}"#, "missing field `drive`"),
            (r#"{"judge":[]}"#, "keep 1 to 12 cells"),
            (r#"{"write":1}"#, "unknown variant `write`"),
        ] {
            let refused = asked(wrong);
            assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
        }
    }

    /// As a page does it, but for the copying from and to its memory.
    #[test]
    fn the_answer_takes_the_place_of_the_question() {
        assert!(!ileave_room(3).is_null());
        let bytes = ileave_answer();
        assert!(!ileave_answered().is_null());
        assert_eq!(bytes, answer(&[0; 3]).len());
    }
}
