//! What the header of a Parquet page claims, read before anything is made of the page.
//!
//! The header is a structure in Thrift's compact protocol. Writers put its fields in the order of their numbers, and those
//! needed here come first.

/// Bytes of a header that hold all fields needed here.
pub(crate) const BEGINNING: usize = 64;

/// The number of a page's kind that says that it is a dictionary.
const DICTIONARY: i64 = 2;

/// Thrift's number for a whole number of 32 bits, and for a structure.
const I32: u8 = 5;
const STRUCTURE: u8 = 12;

/// What a page claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) is_dictionary: bool,
    pub(crate) unpacked: u64,
    pub(crate) packed: u64,
    /// Values, nulls included.
    pub(crate) values: u64,
}

impl Claim {
    /// The claim of a header that begins with these bytes; `None` if it makes no sense.
    pub(crate) fn of(bytes: &[u8]) -> Option<Claim> {
        let mut fields = Fields { bytes, last: 0 };
        let [kind, unpacked, packed] = [fields.number(1)?, fields.number(2)?, fields.number(3)?];
        let mut field = fields.next()?;
        if field == (4, I32) {
            fields.varint()?;
            field = fields.next()?;
        }
        if field.1 != STRUCTURE {
            return None;
        }
        // Each kind of page has its own structure, which begins with the number of values. An index page has none.
        let values = Fields { bytes: fields.bytes, last: 0 }.number(1).unwrap_or(0);
        let size = |number: i64| u64::try_from(number).ok();
        Some(Claim {
            is_dictionary: kind == DICTIONARY,
            unpacked: size(unpacked)?,
            packed: size(packed)?,
            values: size(values)?,
        })
    }
}

/// The fields of a structure.
struct Fields<'a> {
    bytes: &'a [u8],
    last: i64,
}

impl Fields<'_> {
    /// The number and the type of the next field.
    fn next(&mut self) -> Option<(i64, u8)> {
        let first = self.byte()?;
        self.last = match first >> 4 {
            0 => self.signed()?,
            step => self.last + i64::from(step),
        };
        Some((self.last, first & 0xf))
    }

    /// The value of the next field, which has to have this number.
    fn number(&mut self, wanted: i64) -> Option<i64> {
        if self.next()? == (wanted, I32) { self.signed() } else { None }
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_pages_claim() {
        // A data page of 300 bytes unpacked and 100 packed, with a checksum and without, of 1000 values.
        let plain = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x2c, 0x15, 0xd0, 15, 0x15, 0];
        let wanted = Claim { is_dictionary: false, unpacked: 300, packed: 100, values: 1000 };
        assert_eq!(Claim::of(&plain), Some(wanted));
        let checked = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x15, 0xff, 0xff, 3, 0x1c, 0x15, 0xd0, 15, 0x15, 0];
        assert_eq!(Claim::of(&checked), Some(wanted));
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 2, 0x4c, 0x15, 2];
        let wanted = Claim { is_dictionary: true, unpacked: 1, packed: 1, values: 1 };
        assert_eq!(Claim::of(&dictionary), Some(wanted));
    }

    #[test]
    fn what_makes_no_sense_claims_nothing() {
        for bytes in [&[][..], &[0x15], &[0x15, 0, 0x25, 2], &[0x15, 0, 0x15, 1, 0x15, 2, 0x2c, 0x15, 2], &[0xff; 64]] {
            assert_eq!(Claim::of(bytes), None, "{bytes:?}");
        }
    }
}
