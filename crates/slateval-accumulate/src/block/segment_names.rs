//! Numbers for the values of segments: rows say which segment they belong to by a number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use slateval_stats::{Segment, fold};

/// Gives each segment that it meets a number, from 0 on. Numbers never change.
#[derive(Debug)]
pub(crate) struct SegmentNames {
    /// No two have the same: whoever has seen some numbers of this need not look at them again.
    identity: u64,
    names: Vec<Segment>,
    ids: HashMap<Segment, u32, BuildHasherDefault<NameHasher>>,
    /// Those of texts once more: rows mostly have text, and looking it up should not take a copy.
    texts: HashMap<Box<str>, u32, BuildHasherDefault<NameHasher>>,
}

impl Default for SegmentNames {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        SegmentNames { identity, names: Vec::new(), ids: HashMap::default(), texts: HashMap::default() }
    }
}

impl Clone for SegmentNames {
    fn clone(&self) -> Self {
        // A clone may give the next number to another segment.
        let (names, ids, texts) = (self.names.clone(), self.ids.clone(), self.texts.clone());
        SegmentNames { names, ids, texts, ..SegmentNames::default() }
    }
}

impl SegmentNames {
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// How many numbers were given.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of a segment, new or known.
    pub(crate) fn id(&mut self, segment: &Segment) -> u32 {
        if let Some(&id) = self.ids.get(segment) {
            return id;
        }
        // A block is dropped long before it has met four billion segments: Summary::add refuses 1001.
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(segment.clone());
        self.ids.insert(segment.clone(), id);
        id
    }

    /// The number of a segment with this text, new or known.
    pub(crate) fn text_id(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = self.id(&Segment::Text(text.to_owned()));
        self.texts.insert(text.into(), id);
        id
    }

    /// The segment of a number; no value where nobody said which.
    pub(crate) fn name(&self, id: u32) -> &Segment {
        static NULL: Segment = Segment::Null;
        self.names.get(id as usize).unwrap_or(&NULL)
    }
}

/// Eight bytes a multiplication: this is asked for every row. There are at most a thousand segments, so nobody gains from
/// making them collide.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NameHasher(u64);

impl NameHasher {
    fn mix(&mut self, bits: u64) {
        self.0 = fold(self.0, bits);
    }
}

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            // The length tells "a" from "a" and a zero byte.
            self.mix(u64::from_le_bytes(word) ^ ((chunk.len() as u64) << 56));
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.mix(u64::from(x));
    }

    fn write_i64(&mut self, x: i64) {
        self.mix(x as u64);
    }

    fn write_usize(&mut self, x: usize) {
        self.mix(x as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_clones_are_others() {
        let mut names = SegmentNames::default();
        let text = |text: &str| Segment::Text(text.into());
        let all = [Segment::Null, Segment::Int(7), text("7"), text(""), text("a longer name"), text("a longer name\0")];
        for (id, segment) in all.iter().enumerate() {
            assert_eq!(names.id(segment) as usize, id);
        }
        for (id, segment) in all.iter().enumerate() {
            assert_eq!((names.id(segment) as usize, names.name(id as u32)), (id, segment));
        }
        for _ in 0..2 {
            assert_eq!((names.text_id("7"), names.text_id("new")), (2, 6));
        }
        assert_eq!(names.id(&text("new")), 6);
        assert_eq!(names.name(99), &Segment::Null);
        assert_eq!(names.len(), 7);
        let clone = names.clone();
        assert_eq!(clone.name(4), names.name(4));
        assert_ne!(clone.identity(), names.identity());
    }
}
