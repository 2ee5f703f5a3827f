//! A field as a picture inside a page: a bitmap, in base 64.

/// The `src` of an image of a square field; black is 0, white is `white`.
pub(super) fn data_uri(field: &[f64], side: usize, white: f64) -> String {
    format!("data:image/bmp;base64,{}", base64(&bitmap(field, side, white)))
}

/// A bitmap of 24 bits a pixel, rows from the bottom, each padded to four bytes.
fn bitmap(field: &[f64], side: usize, white: f64) -> Vec<u8> {
    let row = (3 * side).next_multiple_of(4);
    let (header, size) = (54_u32, (row * side) as u32);
    let mut bytes = Vec::from(*b"BM");
    for number in [header + size, 0, header, 40, side as u32, side as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend([1, 0, 24, 0]);
    for number in [0, size, 2835, 2835, 0, 0] {
        bytes.extend(u32::to_le_bytes(number));
    }
    for line in field.chunks_exact(side).rev() {
        let begun = bytes.len();
        for value in line {
            let [red, green, blue] = colour(value / white);
            bytes.extend([blue, green, red]);
        }
        bytes.resize(begun + row, 0);
    }
    bytes
}

/// From black through red and yellow to white.
fn colour(heat: f64) -> [u8; 3] {
    let part = |from: f64, to: f64| (255.0 * ((heat - from) / (to - from)).clamp(0.0, 1.0)) as u8;
    [part(0.0, 0.4), part(0.3, 0.8), part(0.7, 1.0)]
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_remainder() {
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"Ma"), "TWE=");
        assert_eq!(base64(b"M"), "TQ==");
    }

    #[test]
    fn a_bitmap_is_as_long_as_it_says() {
        let bytes = bitmap(&[0.0; 9], 3, 1.0);
        assert_eq!(bytes.len(), 54 + 36);
        assert_eq!(bytes[2..6], 90_u32.to_le_bytes());
    }
}
