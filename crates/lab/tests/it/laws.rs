//! The laws, asked about cells drawn at random. `ileave check --cells 100000` asks about more.

use lab::laws;

#[test]
fn no_cell_drawn_at_random_breaks_a_law() {
    // Each law is asked of some of the first 560.
    let cells = if std::env::var_os("ILEAVE_REQUIRE").is_some() { 2_000 } else { 560 };
    let found = laws::search(cells, 1, &mut |_| ());
    assert!(found.cells >= cells);
    let unasked: Vec<&str> =
        laws::laws().map(|law| law.name).filter(|law| !found.asked.contains_key(law)).collect();
    assert!(unasked.is_empty(), "nothing was drawn for {unasked:?}");
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
}
