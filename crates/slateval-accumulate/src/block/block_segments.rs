//! Which segment each row of a block belongs to.

use slateval_stats::Segment;

use crate::block::Block;
use crate::block::segment_names::SegmentNames;

impl Block {
    /// Puts `row` into a segment.
    ///
    /// # Panics
    /// If the specification has no `by`.
    pub fn set_segment(&mut self, row: usize, value: &Segment) {
        self.segments[row] = self.segment_names.id(value);
    }

    /// Puts `row` into the segment of a text: what [`set_segment`](Block::set_segment) does with
    /// [`Segment::Text`], without a copy of the text.
    ///
    /// # Panics
    /// If the specification has no `by`.
    pub fn set_segment_text(&mut self, row: usize, text: &str) {
        self.segments[row] = self.segment_names.text_id(text);
    }

    /// The number by which this block knows a segment, for [`set_segment_ids`](Block::set_segment_ids). Resetting the block
    /// does not change its numbers; another block has others.
    ///
    /// # Panics
    /// If the specification has no `by`.
    pub fn segment_id(&mut self, value: &Segment) -> u32 {
        assert!(self.kinds.segmented, "the specification has no `by`");
        self.segment_names.id(value)
    }

    /// Puts each row into the segment of a number from [`segment_id`](Block::segment_id): a reader that knows which rows have
    /// the same segment asks once for each segment, and the names are not compared row by row.
    ///
    /// ```
    /// use slateval_accumulate::{Accumulator, Block};
    /// use slateval_stats::{Field, Segment, Spec, Structure};
    ///
    /// let mut rows = Accumulator::new(Spec::new(Structure::Additive, ["new"]).by("country"))?;
    /// let mut block = Block::new(rows.spec());
    /// let (de, fr) = (block.segment_id(&"de".into()), block.segment_id(&"fr".into()));
    /// block.reset(3, 1);
    /// block.column_mut(Field::Reward).fill(1.0);
    /// block.column_mut(Field::Logging { slot: 0 }).fill(0.5);
    /// block.column_mut(Field::Target { policy: 0, slot: 0 }).fill(0.5);
    /// block.set_segment_ids(&[de, fr, de]);
    /// rows.add(&block)?;
    /// assert!(rows.finish().segments().eq([&Segment::from("de"), &Segment::from("fr")]));
    /// # Ok::<(), slateval_stats::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the specification has no `by`, if there are fewer or more numbers than rows, or if this block never gave one of the
    /// numbers.
    pub fn set_segment_ids(&mut self, ids: &[u32]) {
        assert!(self.kinds.segmented, "the specification has no `by`");
        assert_eq!(ids.len(), self.rows, "each row has one segment");
        let known = self.segment_names.len();
        // The largest of all rather than a check of each: the compiler takes several at a time.
        let largest = ids.iter().fold(0, |largest, &id| largest.max(id));
        assert!(ids.is_empty() || (largest as usize) < known, "segment {largest} is not one of the block's {known}");
        self.segments.copy_from_slice(ids);
    }

    /// Each row's segment, as a number that [`segment_names`](Self::segment_names) knows the value of.
    pub(crate) fn segment_ids(&self) -> &[u32] {
        &self.segments
    }

    pub(crate) fn segment_names(&self) -> &SegmentNames {
        &self.segment_names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slateval_stats::Spec;
    use slateval_stats::Structure;

    fn by_country() -> Block {
        let mut block = Block::new(&Spec::new(Structure::Additive, ["new"]).by("country"));
        block.reset(2, 1);
        block
    }

    #[test]
    fn numbers_of_segments_are_as_good_as_names() {
        let mut block = by_country();
        let ids = [Segment::Null, Segment::from("de")].map(|segment| block.segment_id(&segment));
        block.set_segment_ids(&ids);
        let by_number = block.segment_ids().to_vec();
        block.reset(2, 1);
        block.set_segment(0, &Segment::Null);
        block.set_segment_text(1, "de");
        assert_eq!(block.segment_ids(), by_number);
        block.reset(0, 1);
        block.set_segment_ids(&[]);
    }

    #[test]
    #[should_panic(expected = "segment 1 is not one of the block's 1")]
    fn numbers_that_the_block_never_gave_are_refused() {
        let mut block = by_country();
        let id = block.segment_id(&Segment::from("de"));
        block.set_segment_ids(&[id, id + 1]);
    }

    #[test]
    #[should_panic(expected = "has no `by`")]
    fn blocks_without_segments_have_no_numbers() {
        Block::new(&Spec::new(Structure::Additive, ["new"])).segment_id(&Segment::Null);
    }
}
