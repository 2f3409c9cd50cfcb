//! A fault of the program itself (a panic) that ends one trial, and not the others.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// What is caught on this thread: nothing, or the words of the last fault.
    static WORDS: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What `work` gives; or in words, in one line with its place in the source, the fault that ended it. Where a panic ends
/// the process (`panic = "abort"`), that says so itself.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOKED: Once = Once::new();
    if cfg!(panic = "unwind") {
        HOOKED.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                // Who asks for a backtrace gets it all the same.
                if !note(info) || std::env::var_os("RUST_BACKTRACE").is_some() {
                    before(info);
                }
            }));
        });
    }
    let outer = WORDS.replace(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let words = WORDS.replace(outer).unwrap_or_default();
    result.map_err(|_| words)
}

/// Keeps the words of a fault that somebody on this thread catches; whether somebody does.
fn note(info: &PanicHookInfo<'_>) -> bool {
    WORDS.with_borrow_mut(|words| {
        let Some(words) = words else { return false };
        let payload = info.payload();
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let said: Vec<&str> = said.split_whitespace().collect();
        let place = info.location().map_or_else(String::new, |at| format!(" ({at})"));
        *words = said.join(" ") + &place;
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_with_its_place_and_others_go_on() {
        assert_eq!(caught(|| 7), Ok(7));
        let words = caught(|| assert_eq!(1 + 1, 3, "so it is")).unwrap_err();
        assert!(words.starts_with("assertion `left == right` failed: so it is left: 2"), "{words}");
        assert!(words.contains("caught.rs:") && !words.contains('\n'), "{words}");
        // Within what is caught, something else is.
        let outer = caught(|| {
            let inner = caught(|| panic!("inner")).map_err(|words| words.starts_with("inner"));
            assert_eq!(inner, Err::<(), _>(true));
            panic!("outer");
        });
        assert!(outer.map(|()| 1).unwrap_err().starts_with("outer"));
    }
}
