//! The laws, asked about cells drawn at random. `ileave check --cells 100000` asks about more.

use lab::laws;

#[test]
fn no_cell_drawn_at_random_breaks_a_law() {
    let found = laws::search(2_000, 1, &mut |_| ());
    assert!(found.cells >= 2_000);
    let unasked: Vec<&str> =
        laws::laws().map(|law| law.name).filter(|law| !found.asked.contains_key(law)).collect();
    assert!(unasked.is_empty(), "nothing was drawn for {unasked:?}");
    assert!(found.findings.is_empty(), "{:#?}", found.findings);
}
