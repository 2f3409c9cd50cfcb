//! Messages of the vhost-user protocol.

use uml::vhost::Request;

pub(crate) fn body(number: u32, payload: &[u8]) {
    let _ = Request::parse(number % 40, payload);
}
