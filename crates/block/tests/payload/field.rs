//! The field of 256 elements modulo x^8 + x^4 + x^3 + x^2 + 1, in which 2 generates all but zero.

/// The product of two elements.
pub(crate) fn times(a: u8, b: u8) -> u8 {
    let (mut a, mut product) = (a, 0);
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a >> 7 == 1 { 0x1d } else { 0 };
    }
    product
}

/// 2 to a power.
pub(crate) fn power(exponent: u32) -> u8 {
    (0..exponent).fold(1, |product, _| times(product, 2))
}

/// The element that times `a` gives 1.
pub(crate) fn inverse(a: u8) -> u8 {
    (1..=255).find(|&b| times(a, b) == 1).expect("every element but zero has an inverse")
}
