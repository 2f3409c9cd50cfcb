//! Messages of the kernel's time-travel protocol: what was read is written as it was.

use uml::calendar::Message;

pub(crate) fn body(bytes: [u8; Message::BYTES]) {
    if let Ok(message) = Message::parse(bytes) {
        assert_eq!(message.bytes(), bytes);
    }
}
