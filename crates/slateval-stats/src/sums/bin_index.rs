//! Where the sums of a bin stand in a table.
//! See docs/methods.md, section 3.1.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::math::fold::fold;
use crate::sums::bins::Resolution;

/// From a bin's key to its row.
#[derive(Debug, Clone)]
pub(super) enum Index {
    /// Rows in order of first appearance.
    Scattered(HashMap<i64, u32, BuildHasherDefault<KeyHasher>>),
    /// Row `key mod 2^bits`: bins that span at most `capacity` keys never collide, wherever the first one lies.
    Ring { mask: i64, keys: Option<(i64, i64)> },
}

impl Index {
    pub(super) fn new(resolution: Resolution, capacity: usize) -> Self {
        match resolution {
            Resolution::Width(_) => Index::Ring { mask: capacity.next_power_of_two() as i64 - 1, keys: None },
            _ => Index::Scattered(HashMap::default()),
        }
    }

    /// The row of a key, new or known.
    pub(super) fn insert(&mut self, key: i64) -> u32 {
        match self {
            Index::Scattered(rows) => {
                let next = rows.len() as u32;
                *rows.entry(key).or_insert(next)
            }
            Index::Ring { mask, keys } => {
                *keys = Some(keys.map_or((key, key), |(lo, hi)| (lo.min(key), hi.max(key))));
                (key & *mask) as u32
            }
        }
    }
}

/// Keys are the bits of floats: one multiplication spreads them, and nobody gains from making them collide.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_i64(i64::from(byte));
        }
    }

    fn write_i64(&mut self, key: i64) {
        self.0 = fold(self.0, key as u64);
    }
}
