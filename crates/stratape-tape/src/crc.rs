//! crc32c, the checksum of slabs and files: with vector instructions, or a byte at a time without the feature `spill`.

#[cfg(not(feature = "spill"))]
pub(crate) use by_table::Checksum;
#[cfg(feature = "spill")]
pub(crate) use vectorised::Checksum;

/// The checksum of the tape's files and slabs: crc32c.
///
/// ```
/// assert_eq!(stratape_tape::checksum(b"123456789"), 0xe306_9283);
/// ```
pub fn checksum(bytes: &[u8]) -> u32 {
    let mut checksum = Checksum::new();
    checksum.add(bytes);
    checksum.value()
}

#[cfg(feature = "spill")]
mod vectorised {
    use crc_fast::{CrcAlgorithm, Digest};

    /// [`checksum`](super::checksum) of bytes that come in pieces.
    pub(crate) struct Checksum(Digest);

    impl Checksum {
        pub(crate) fn new() -> Self {
            Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
        }

        pub(crate) fn add(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        pub(crate) fn value(&self) -> u32 {
            self.0.finalize() as u32
        }
    }
}

#[cfg(any(test, not(feature = "spill")))]
mod by_table {
    /// The polynomial, lowest power first.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    /// How many bytes are looked up at once.
    const AT_ONCE: usize = 8;

    /// `TABLES[n][byte]`: what a byte becomes that is followed by `n` zeros.
    static TABLES: [[u32; 256]; AT_ONCE] = tables();

    const fn tables() -> [[u32; 256]; AT_ONCE] {
        let mut tables = [[0; 256]; AT_ONCE];
        let mut byte = 0;
        while byte < 256 {
            let mut value = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                value = (value >> 1) ^ (POLYNOMIAL * (value & 1));
                bit += 1;
            }
            tables[0][byte] = value;
            byte += 1;
        }
        let mut zeros = 1;
        while zeros < AT_ONCE {
            let mut byte = 0;
            while byte < 256 {
                let before = tables[zeros - 1][byte];
                tables[zeros][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
                byte += 1;
            }
            zeros += 1;
        }
        tables
    }

    /// [`checksum`](super::checksum) of bytes that come in pieces.
    pub(crate) struct Checksum(u32);

    impl Checksum {
        pub(crate) fn new() -> Self {
            Self(!0)
        }

        pub(crate) fn add(&mut self, bytes: &[u8]) {
            let (words, rest) = bytes.as_chunks::<AT_ONCE>();
            for word in words {
                let [a, b, c, d, ..] = *word;
                let first = (self.0 ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
                let bytes = first.iter().chain(&word[4..]);
                let looked_up = bytes.zip(TABLES.iter().rev());
                self.0 = looked_up.fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)]);
            }
            for byte in rest {
                let index = (self.0 ^ u32::from(*byte)) & 0xff;
                self.0 = (self.0 >> 8) ^ TABLES[0][index as usize];
            }
        }

        pub(crate) fn value(&self) -> u32 {
            !self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{by_table, checksum};

    fn by_table(pieces: &[&[u8]]) -> u32 {
        let mut checksum = by_table::Checksum::new();
        pieces.iter().for_each(|piece| checksum.add(piece));
        checksum.value()
    }

    /// From the standard that defines it.
    #[test]
    fn known_sums() {
        let ascending: Vec<u8> = (0..32).collect();
        for (bytes, wanted) in [
            (&b""[..], 0),
            (b"123456789", 0xe306_9283),
            (&[0; 32], 0x8a91_36aa),
            (&[0xff; 32], 0x62a8_ab43),
            (&ascending, 0x46dd_794e),
        ] {
            assert_eq!(checksum(bytes), wanted);
            assert_eq!(by_table(&[bytes]), wanted);
        }
    }

    /// A file is read by a build with other features than the one that wrote it.
    #[test]
    fn both_agree_on_pieces_of_every_length() {
        let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * i % 251) as u8).collect();
        for len in 0..100 {
            let all = &bytes[len..len * 9 + 7];
            let (first, second) = all.split_at(len * 3);
            assert_eq!(by_table(&[first, second]), checksum(all));
        }
    }
}
