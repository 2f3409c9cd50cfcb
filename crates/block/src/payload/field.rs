//! The field of 256 elements modulo x^8 + x^4 + x^3 + x^2 + 1, in which 2 generates all but zero.
//!
//! Addition is exclusive or. `2 × 0x80 = 0x1d`, because the polynomial reduces x^8 to that.

/// The product of two elements.
pub const fn times(a: u8, b: u8) -> u8 {
    let (mut a, mut b, mut product) = (a, b, 0);
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a >> 7 == 1 { 0x1d } else { 0 };
        b >>= 1;
    }
    product
}

/// 2 to a power.
pub const fn power(exponent: u32) -> u8 {
    // 2 has order 255.
    let (mut left, mut product) = (exponent % 255, 1);
    while left > 0 {
        product = times(product, 2);
        left -= 1;
    }
    product
}

/// The inverse of `a`: their product is 1.
pub fn inverse(a: u8) -> u8 {
    (1..=255).find(|&b| times(a, b) == 1).expect("every element but zero has an inverse")
}

/// Adds `weight` times `bytes` to `sum`, byte by byte.
pub fn add_product(sum: &mut [u8], weight: u8, bytes: &[u8]) {
    assert_eq!(sum.len(), bytes.len(), "sums are of equals");
    if weight == 1 {
        sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum ^= byte);
        return;
    }
    // A product is the sum of the products of the byte's two halves.
    let low: [u8; 16] = std::array::from_fn(|half| times(weight, half as u8));
    let high: [u8; 16] = std::array::from_fn(|half| times(weight, (half as u8) << 4));
    for (sum, &byte) in sum.iter_mut().zip(bytes) {
        *sum ^= low[usize::from(byte & 15)] ^ high[usize::from(byte >> 4)];
    }
}

/// Multiplies every byte by `weight`.
pub fn scale(bytes: &mut [u8], weight: u8) {
    for byte in bytes {
        *byte = times(*byte, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_generates_all_but_zero_and_every_product_can_be_undone() {
        let mut seen = [false; 256];
        (0..255).for_each(|exponent| seen[usize::from(power(exponent))] = true);
        assert!(!seen[0] && seen[1..].iter().all(|&seen| seen));
        assert_eq!((power(255), power(8)), (1, 0x1d));
        for a in 1..=255 {
            assert_eq!(times(a, inverse(a)), 1);
        }
    }

    #[test]
    fn whole_slices_are_multiplied_like_single_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        for weight in 0..=255 {
            let mut sum = vec![0x5a; 256];
            add_product(&mut sum, weight, &bytes);
            let mut scaled = bytes.clone();
            scale(&mut scaled, weight);
            for (index, &byte) in bytes.iter().enumerate() {
                let product = times(weight, byte);
                assert_eq!((sum[index], scaled[index]), (0x5a ^ product, product));
            }
        }
    }
}
