//! What the header of a Parquet page claims, read before anything is made of the page.
//!
//! The header is a structure in Thrift's compact protocol. Fields may come in any order, and unknown ones are skipped.

use std::io::{ErrorKind, Read, Result};

/// Bytes of a header at most. Statistics of a text column fill some kilobytes.
pub(crate) const LONGEST: u64 = 1 << 20;

/// The number of a page's kind that says that it is a dictionary.
const DICTIONARY: i64 = 2;

/// Structures within structures at most. The format has three.
const DEEPEST: u32 = 8;

/// What a page claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) is_dictionary: bool,
    pub(crate) unpacked: u64,
    pub(crate) packed: u64,
    /// Values, nulls included. An index page has none.
    pub(crate) values: u64,
    /// Bytes of the header. The page's own bytes follow.
    pub(crate) header: u64,
}

impl Claim {
    /// The claim of the header that these bytes begin with.
    pub(crate) fn read(bytes: &mut impl Read) -> Result<Claim> {
        let mut header = Header { bytes: bytes.take(LONGEST) };
        let [mut kind, mut unpacked, mut packed, mut values] = [None, None, None, None];
        let mut last = 0;
        while let Some((field, kind_of_field)) = header.field(&mut last)? {
            match field {
                1 => kind = Some(header.signed()?),
                2 => unpacked = Some(header.signed()?),
                3 => packed = Some(header.signed()?),
                // Each kind of page has its own structure, which has the number of values as its first field.
                5 | 7 | 8 if kind_of_field == Kind::Structure => values = header.first_number()?,
                _ => header.skip(kind_of_field, DEEPEST)?,
            }
        }
        let size = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok()).ok_or_else(odd);
        Ok(Claim {
            is_dictionary: kind.ok_or_else(odd)? == DICTIONARY,
            unpacked: size(unpacked)?,
            packed: size(packed)?,
            values: size(values.or(Some(0)))?,
            header: LONGEST - header.bytes.limit(),
        })
    }
}

fn odd() -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, "the header of a page makes no sense")
}

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its value is part of the kind.
    Bool,
    Byte,
    Number,
    Double,
    Bytes,
    List,
    Structure,
}

impl Kind {
    /// Maps (11) are none of a page header's.
    fn of(number: u8) -> Result<Kind> {
        Ok(match number {
            1 | 2 => Kind::Bool,
            3 => Kind::Byte,
            4..=6 => Kind::Number,
            7 => Kind::Double,
            8 => Kind::Bytes,
            9 | 10 => Kind::List,
            12 => Kind::Structure,
            _ => return Err(odd()),
        })
    }
}

struct Header<R> {
    bytes: R,
}

impl<R: Read> Header<R> {
    /// The number and the kind of a structure's next field; `None` at its end.
    fn field(&mut self, last: &mut i64) -> Result<Option<(i64, Kind)>> {
        let first = self.byte()?;
        if first == 0 {
            return Ok(None);
        }
        *last = match first >> 4 {
            0 => self.signed()?,
            step => *last + i64::from(step),
        };
        Ok(Some((*last, Kind::of(first & 0xf)?)))
    }

    /// Field 1 of a structure, if it has one. Leaves the rest of it behind.
    fn first_number(&mut self) -> Result<Option<i64>> {
        let (mut last, mut number) = (0, None);
        while let Some((field, kind)) = self.field(&mut last)? {
            match (field, kind) {
                (1, Kind::Number) => number = Some(self.signed()?),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Ok(number)
    }

    fn skip(&mut self, kind: Kind, deepest: u32) -> Result<()> {
        match kind {
            Kind::Bool => {}
            Kind::Byte => self.pass(1)?,
            Kind::Number => drop(self.varint()?),
            Kind::Double => self.pass(8)?,
            Kind::Bytes => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            Kind::List => {
                let first = self.byte()?;
                let length = if first >> 4 == 15 { self.varint()? } else { u64::from(first >> 4) };
                // Alone in a list, a truth value has a byte.
                let kind = Some(Kind::of(first & 0xf)?).filter(|kind| *kind != Kind::Bool).unwrap_or(Kind::Byte);
                let deepest = deepest.checked_sub(1).ok_or_else(odd)?;
                for _ in 0..length {
                    self.skip(kind, deepest)?;
                }
            }
            Kind::Structure => {
                let deepest = deepest.checked_sub(1).ok_or_else(odd)?;
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, deepest)?;
                }
            }
        }
        Ok(())
    }

    fn signed(&mut self) -> Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(odd())
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn pass(&mut self, length: u64) -> Result<()> {
        let passed = std::io::copy(&mut self.bytes.by_ref().take(length), &mut std::io::sink())?;
        if passed == length { Ok(()) } else { Err(odd()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A data page of 300 bytes unpacked and 100 packed, of 1000 values.
    const PLAIN: [u8; 15] = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x2c, 0x15, 0xd0, 15, 0, 0, 0xff];

    fn claim(mut bytes: &[u8]) -> Option<Claim> {
        Claim::read(&mut bytes).ok()
    }

    #[test]
    fn headers_tell_what_pages_claim() {
        let wanted = Claim { is_dictionary: false, unpacked: 300, packed: 100, values: 1000, header: 14 };
        assert_eq!(claim(&PLAIN), Some(wanted));
        let checked = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x15, 0xff, 0xff, 3, 0x1c, 0x15, 0xd0, 15, 0, 0];
        assert_eq!(claim(&checked), Some(Claim { header: 18, ..wanted }));
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 2, 0x4c, 0x15, 2, 0, 0];
        let wanted = Claim { is_dictionary: true, unpacked: 1, packed: 1, values: 1, header: 11 };
        assert_eq!(claim(&dictionary), Some(wanted));
    }

    #[test]
    fn fields_may_come_in_any_order_with_unknown_ones_between() {
        // Field 5 first, with statistics; then a list of a double and a truth value each; then 3, 2 and 1.
        let mut bytes = vec![0x5c, 0x15, 0xd0, 15, 0x4c, 0x18, 2, 7, 7, 0, 0];
        bytes.extend([0x49, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x19, 0x11, 1, 0x13, 9]);
        bytes.extend([0x05, 6, 0xc8, 1, 0x05, 4, 0xd8, 4, 0x05, 2, 0, 0]);
        let wanted =
            Claim { is_dictionary: false, unpacked: 300, packed: 100, values: 1000, header: bytes.len() as u64 };
        assert_eq!(claim(&bytes), Some(wanted));
    }

    #[test]
    fn what_makes_no_sense_claims_nothing() {
        let negative = [0x15, 0, 0x15, 1, 0x15, 2, 0x2c, 0x15, 2, 0, 0];
        for bytes in [&[][..], &[0x15], &[0], &[0x15, 0, 0x15, 2, 0], &negative, &[0xff; 64], &[0x1c; 64], &PLAIN[..13]]
        {
            assert_eq!(claim(bytes), None, "{bytes:?}");
        }
    }
}
