//! The hash of a name, by which directories are indexed and directories of the root are spread.
//!
//! After Linux 6.1 `fs/ext4/hash.c` (`str2hashbuf_signed`, `half_md4_transform`, `__ext4fs_dirhash`).

/// A file system's own start of the hash (`s_hash_seed`), as little-endian words.
pub(super) type Seed = [u32; 4];

/// Where the seed of the superblock is all zeros.
const MD4_SEED: Seed = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
/// The largest position in a directory (`EXT4_HTREE_EOF_32BIT`) stands for its end.
const END: u32 = 0x7fff_ffff << 1;

/// The hash of a name, by which it lies in its directory. Its lowest bit is always 0.
pub(super) fn name_hash(name: &str, seed: Seed) -> u32 {
    let mut state = if seed == [0; 4] { MD4_SEED } else { seed };
    let mut rest = name.as_bytes();
    while !rest.is_empty() {
        half_md4(&mut state, &words(rest));
        rest = &rest[rest.len().min(32)..];
    }
    match state[1] & !1 {
        END => END - 2,
        hash => hash,
    }
}

/// The next 32 bytes of a name as words; what is missing is filled up with the number of bytes left.
fn words(rest: &[u8]) -> [u32; 8] {
    let length = rest.len() as u32 & 0xff;
    let pad = length | length << 8;
    let pad = pad | pad << 16;
    let mut words = [pad; 8];
    for (word, bytes) in words.iter_mut().zip(rest[..rest.len().min(32)].chunks(4)) {
        // Bytes are signed, as the flag signed_directory_hash says.
        let add = |value: u32, &byte: &u8| (byte.cast_signed() as u32).wrapping_add(value << 8);
        *word = bytes.iter().fold(pad, add);
    }
    words
}

fn half_md4(state: &mut [u32; 4], input: &[u32; 8]) {
    type Mix = fn(u32, u32, u32) -> u32;
    let select: Mix = |x, y, z| z ^ (x & (y ^ z));
    let majority: Mix = |x, y, z| (x & y).wrapping_add((x ^ y) & z);
    let parity: Mix = |x, y, z| x ^ y ^ z;
    let rounds: [(Mix, u32, [usize; 8], [u32; 4]); 3] = [
        (select, 0, [0, 1, 2, 3, 4, 5, 6, 7], [3, 7, 11, 19]),
        (majority, 0x5a82_7999, [1, 3, 5, 7, 0, 2, 4, 6], [3, 5, 9, 13]),
        (parity, 0x6ed9_eba1, [3, 7, 2, 6, 1, 5, 0, 4], [3, 9, 11, 15]),
    ];
    let [mut a, mut b, mut c, mut d] = *state;
    for (mix, constant, order, shifts) in rounds {
        for (step, index) in order.into_iter().enumerate() {
            let sum =
                a.wrapping_add(mix(b, c, d)).wrapping_add(input[index].wrapping_add(constant));
            (a, b, c, d) = (d, sum.rotate_left(shifts[step % 4]), b, c);
        }
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(value);
    }
}

/// The seed of a UUID as `mke2fs -E hash_seed` takes it.
#[cfg(test)]
pub(super) const MEASURED_SEED: Seed = [0x2143_6587, 0x2143_2143, 0xa9cb_2143, 0x2143_6587];

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four went to the flex groups 30, 6, 17 and 10: the journal is in 16, which had less room
    /// than the mean.
    #[test]
    fn names_in_the_root_start_where_the_real_ones_did() {
        for (name, flex) in [("top00", 30), ("top01", 6), ("top02", 16), ("top03", 10)] {
            assert_eq!(name_hash(name, MEASURED_SEED) % 32, flex, "{name}");
        }
    }
}
