//! The library as the command uses it. In one binary with the tests of its parts, so that what both ask for is simulated once.

mod answers;
mod confirm;
#[cfg(target_os = "linux")]
mod explore;
mod race;

/// Whether a search is left for where everything is required, since it takes seconds that who only builds the program need not
/// wait for. Shorter tests fail for most of the same reasons.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub(crate) fn takes_long() -> bool {
    let is_left = std::env::var_os("ILEAVE_REQUIRE").is_none();
    if is_left {
        eprintln!("SKIPPED: it takes long; ILEAVE_REQUIRE=1 runs it");
    }
    is_left
}
