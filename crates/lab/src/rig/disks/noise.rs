//! What is written where nobody says what: bytes that no disk can shorten, and that are no signature.

/// Numbers that look random (SplitMix64), the top bit of every byte set: nearly every mark of a file
/// system has a byte without, so that what a trial wrote is not taken for one.
#[derive(Clone, Debug)]
pub struct Noise(u64);

impl Noise {
    /// The same bytes for the same seed.
    pub fn new(seed: u64) -> Self {
        Noise(seed)
    }

    /// Fills `bytes` with the next of it.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed = (mixed ^ (mixed >> 31)) | 0x8080_8080_8080_8080;
            word.copy_from_slice(&mixed.to_le_bytes()[..word.len()]);
        }
    }
}
