//! The laws, asked about cells drawn at random. `ileave check --cells 100000` asks about more.

use lab::laws;

#[test]
fn no_cell_drawn_at_random_breaks_a_law() {
    // Each law is asked of some of these: with seed 24 already of the first 150, with seed 1 of the first 2,000.
    let is_required = std::env::var_os("ILEAVE_REQUIRE").is_some();
    let (cells, seed) = if is_required { (2_000, 1) } else { (150, 24) };
    let found = laws::search(cells, seed, &mut |_| ());
    assert!(found.cells >= cells);
    let unasked: Vec<&str> =
        laws::laws().map(|law| law.name).filter(|law| !found.asked.contains_key(law)).collect();
    assert!(unasked.is_empty(), "nothing was drawn for {unasked:?}");
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
}
