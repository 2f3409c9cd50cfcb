//! The published tables beside ours, as far as the documentation says that they agree.

mod tables {
    mod brownlee;
    pub(crate) mod results;
    mod tao;
}
