//! A column of labels that says each value once, and of each row which value it has.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use slateval::{Block, Segment};

use crate::error::Result;
use crate::slates::labels::Labels;

#[derive(Debug)]
pub(crate) struct Dictionary {
    /// For each row its value's place; behind the last value where the row has none.
    keys: Vec<usize>,
    values: Box<Labels>,
    /// The block's numbers for the values, and for no value, as far as rows had them: a dictionary may have values that no
    /// row has.
    ids: Vec<Option<u32>>,
}

impl Dictionary {
    pub(crate) fn new(array: &ArrayRef, file: &Path) -> Result<Self> {
        let array = array.as_any_dictionary();
        let (values, no_value) = (Box::new(Labels::new(array.values(), false, file)?), array.values().len());
        let mut keys = if no_value == 0 { vec![no_value; array.len()] } else { array.normalized_keys() };
        if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
            keys.iter_mut().zip(nulls).filter(|(_, valid)| !valid).for_each(|(key, _)| *key = no_value);
        }
        Ok(Dictionary { keys, values, ids: vec![None; no_value + 1] })
    }

    /// Reads one label into `out`, whose memory is used again.
    pub(crate) fn read(&self, row: usize, out: &mut Segment) {
        self.read_value(self.keys[row], out);
    }

    fn read_value(&self, key: usize, out: &mut Segment) {
        if key + 1 == self.ids.len() { *out = Segment::Null } else { self.values.read(key, out) }
    }

    /// Puts the rows of a block, which begin at `start`, into their segments. It has to be the same block each time.
    pub(crate) fn set_segments(&mut self, start: usize, block: &mut Block) {
        let mut ids = [0; Block::ROWS];
        let ids = &mut ids[..block.rows()];
        for (row, id) in (start..).zip(ids.iter_mut()) {
            let key = self.keys[row];
            *id = match self.ids[key] {
                Some(id) => id,
                None => self.ask(key, block),
            };
        }
        block.set_segment_ids(ids);
    }

    #[cold]
    fn ask(&mut self, key: usize, block: &mut Block) -> u32 {
        let mut value = Segment::Null;
        self.read_value(key, &mut value);
        *self.ids[key].insert(block.segment_id(&value))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, Int32Array, StringArray};
    use slateval::{Spec, Structure};

    use super::*;

    fn dictionary(keys: Vec<Option<i32>>, values: Vec<Option<&str>>) -> Dictionary {
        let values = Arc::new(StringArray::from(values));
        let array: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(keys), values));
        Dictionary::new(&array, Path::new("log")).unwrap()
    }

    #[test]
    fn only_values_that_rows_have_become_segments() {
        let keys = vec![Some(2), None, Some(3), Some(2), Some(1)];
        let mut dictionary = dictionary(keys, vec![Some("unused"), Some("a"), Some("b"), None]);
        let mut block = Block::new(&Spec::new(Structure::Additive, ["new"]).by("x"));
        for rows in [0..2, 2..5] {
            block.reset(rows.len(), 1);
            dictionary.set_segments(rows.start, &mut block);
        }
        // Null is a segment, whether the row or its value is.
        let ids = ["b", "a", "unused"].map(|text| block.segment_id(&text.into()));
        assert_eq!((ids, block.segment_id(&Segment::Null)), ([0, 2, 3], 1));
    }

    #[test]
    fn a_dictionary_may_be_empty() {
        let dictionary = dictionary(vec![None, None], Vec::new());
        let mut out = Segment::Int(7);
        dictionary.read(1, &mut out);
        assert_eq!(out, Segment::Null);
    }
}
