//! Rows of segments that wait, blocks of them.
//! See docs/methods.md, section 3.6.
//!
//! Rows of many segments come in any order, and the sums of all segments are larger than the processor's nearer caches. So
//! full blocks of a segment wait until there are many of them, and are then added one after the other, while the sums of
//! that segment stay near.
//!
//! Rows that were recognised wait as codes, apart from others: the whole log has counted them already, and only their
//! segment waits for them. All other rows wait for both.

use std::sync::Arc;

use crate::question::field::Field;
use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore, Turned};
use crate::summary::coded_rows::{BlockCodes, CodedRows};
use crate::summary::repeats::KnownPatterns;

/// Rows of all segments that wait, by the place of their segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    queues: Vec<Queue>,
    /// Numbers in full blocks of all segments.
    numbers: usize,
    /// Rows that the whole log waits for too.
    rows: usize,
    /// The patterns of all open blocks of coded rows.
    known: Option<Arc<KnownPatterns>>,
    spare: Spare,
    /// Buffer for the rows of a block.
    turned: Turned,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    /// Fewer rows than a block has.
    open: RowStore,
    /// The same of rows that were recognised.
    open_coded: Option<CodedRows>,
    full: Vec<Lot>,
    /// Numbers in full blocks.
    numbers: usize,
}

/// Up to a block of rows of one segment.
#[derive(Debug, Clone)]
enum Lot {
    Rows(RowStore),
    Coded(CodedRows),
}

/// Memory to be used again.
#[derive(Debug, Default)]
struct Spare {
    rows: Vec<RowStore>,
    coded: Vec<CodedRows>,
}

/// A copy has no use for what nobody uses.
impl Clone for Spare {
    fn clone(&self) -> Self {
        Spare::default()
    }
}

/// Blocks of one segment that wait at most: more of them would save little.
const MOST_OF_ONE: usize = 32;

/// Numbers of all segments that wait in full blocks at most.
pub(crate) const MOST_NUMBERS: usize = 3 << 20;

/// A block whose rows go to their segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsOf<'a> {
    pub(crate) block: &'a Block,
    /// If all rows were recognised.
    pub(crate) codes: Option<&'a BlockCodes>,
    /// The place of each row's segment.
    pub(crate) places: &'a [u32],
}

/// Rows that need not wait any longer.
pub(crate) enum Ready<'a> {
    /// For the whole log and their segment.
    Block(&'a Block),
    /// For their segment.
    Coded(&'a CodedRows),
}

/// Takes rows that need not wait any longer.
pub(crate) trait Taker {
    /// Whether no rows of the segment at this place were taken yet.
    fn is_new(&self, place: usize) -> bool;

    /// Looks at the rewards of rows that will be taken next.
    fn foresee(&mut self, place: usize, rewards: &[f64]);

    /// Takes rows of the segment at this place.
    fn take(&mut self, place: usize, rows: Ready<'_>);
}

impl Queue {
    fn is_empty(&self) -> bool {
        let no_coded = self.open_coded.as_ref().is_none_or(|coded| coded.rows() == 0);
        self.full.is_empty() && self.open.rows() == 0 && no_coded
    }
}

impl Lot {
    fn numbers(&self) -> usize {
        Block::ROWS
            * match self {
                Lot::Rows(rows) => rows.width(),
                Lot::Coded(coded) => CodedRows::width(coded.codes().len()),
            }
    }

    /// Rows that the whole log waits for too.
    fn uncounted(&self) -> usize {
        match self {
            Lot::Rows(rows) => rows.rows(),
            Lot::Coded(_) => 0,
        }
    }

    /// Adds the rewards to a list, given how many kinds of columns a slot has.
    fn list_rewards(&self, kinds: usize, list: &mut Vec<f64>) {
        match self {
            Lot::Rows(rows) => rows.list_column(kinds * rows.slots(), list),
            Lot::Coded(coded) => list.extend_from_slice(coded.rewards().first(coded.rows())),
        }
    }

    /// Shows the rows, in `block` if need be, and forgets them.
    fn show(&mut self, place: usize, block: &mut Block, taker: &mut impl Taker) {
        match self {
            Lot::Rows(rows) => {
                rows.move_to(block);
                // Those that other segments' slates have are no slots of this one's.
                block.drop_absent_slots();
                taker.take(place, Ready::Block(block));
            }
            Lot::Coded(coded) => {
                taker.take(place, Ready::Coded(coded));
                coded.clear();
            }
        }
    }
}

impl Spare {
    fn put(&mut self, lot: Lot) {
        match lot {
            Lot::Rows(rows) => self.rows.push(rows),
            Lot::Coded(coded) => self.coded.push(coded),
        }
    }

    fn coded(&mut self, codes: &BlockCodes) -> CodedRows {
        let spare = self.coded.pop().filter(|coded| codes.are_of(coded.known()));
        spare.unwrap_or_else(|| CodedRows::new(codes))
    }
}

impl Backlog {
    /// Makes room for one more segment.
    pub(crate) fn add_segment(&mut self) {
        self.queues.push(Queue::default());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.iter().all(Queue::is_empty)
    }

    /// How many rows the whole log waits for.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes in the rows of a block. Rows that need not wait any longer are moved to `full` if need be, and handed on.
    pub(crate) fn add(&mut self, rows: RowsOf<'_>, full: &mut Block, taker: &mut impl Taker) {
        match rows.codes {
            Some(codes) => self.add_coded(rows, codes, full, taker),
            None => self.add_rows(rows, full, taker),
        }
    }

    fn add_rows(&mut self, RowsOf { block, places, .. }: RowsOf<'_>, full: &mut Block, taker: &mut impl Taker) {
        let mut turned = std::mem::take(&mut self.turned);
        let donor = Donor::new(block, full, &mut turned);
        self.rows += places.len();
        for (row, &place) in places.iter().enumerate() {
            let place = place as usize;
            let open = &mut self.queues[place].open;
            open.push(&donor, row);
            if open.rows() == Block::ROWS {
                let lot = std::mem::replace(open, self.spare.rows.pop().unwrap_or_default());
                self.close(place, Lot::Rows(lot), full, taker);
            }
        }
        self.turned = turned;
    }

    fn add_coded(
        &mut self,
        RowsOf { block, places, .. }: RowsOf<'_>,
        codes: &BlockCodes,
        full: &mut Block,
        taker: &mut impl Taker,
    ) {
        if !self.known.as_ref().is_some_and(|known| codes.are_of(known)) {
            self.close_coded(full, taker);
            self.known = Some(codes.known().clone());
        }
        let rewards = block.whole_column(Field::Reward);
        for (row, &place) in places.iter().enumerate() {
            let place = place as usize;
            let open = self.queues[place].open_coded.get_or_insert_with(|| self.spare.coded(codes));
            open.push(codes, rewards, row);
            if open.rows() == Block::ROWS {
                let lot = std::mem::replace(open, self.spare.coded(codes));
                self.close(place, Lot::Coded(lot), full, taker);
            }
        }
    }

    /// Lets all coded rows wait as they are: those to come have codes of other patterns.
    #[cold]
    fn close_coded(&mut self, full: &mut Block, taker: &mut impl Taker) {
        for place in 0..self.queues.len() {
            if let Some(open) = self.queues[place].open_coded.take().filter(|open| open.rows() > 0) {
                self.close(place, Lot::Coded(open), full, taker);
            }
        }
    }

    /// Lets a block of a segment wait. If there are many, those of one segment wait no longer.
    fn close(&mut self, place: usize, lot: Lot, full: &mut Block, taker: &mut impl Taker) {
        let (numbers, queue) = (lot.numbers(), &mut self.queues[place]);
        queue.full.push(lot);
        queue.numbers += numbers;
        self.numbers += numbers;
        if queue.full.len() >= MOST_OF_ONE {
            self.empty(place, full, taker);
        } else if self.numbers >= MOST_NUMBERS {
            let waiting = |place: &usize| self.queues[*place].numbers;
            let longest = (0..self.queues.len()).max_by_key(waiting).unwrap_or(place);
            self.empty(longest, full, taker);
        }
    }

    /// Hands on the full blocks of a segment.
    fn empty(&mut self, place: usize, block: &mut Block, taker: &mut impl Taker) {
        let queue = &mut self.queues[place];
        if taker.is_new(place) {
            let mut rewards = Vec::with_capacity(Block::ROWS * queue.full.len());
            queue.full.iter().for_each(|lot| lot.list_rewards(block.kinds(), &mut rewards));
            taker.foresee(place, &rewards);
        }
        self.numbers -= std::mem::take(&mut queue.numbers);
        let mut lots = queue.full.drain(..).peekable();
        while let Some(mut lot) = lots.next() {
            if let Some(Lot::Rows(rows)) = lots.peek() {
                rows.fetch();
            }
            self.rows -= lot.uncounted();
            lot.show(place, block, taker);
            self.spare.put(lot);
        }
    }

    /// Hands on all rows, segment by segment, and keeps no memory.
    pub(crate) fn empty_all(&mut self, block: &mut Block, taker: &mut impl Taker) {
        for (place, queue) in self.queues.iter_mut().enumerate() {
            let Queue { open, open_coded, full, .. } = std::mem::take(queue);
            let open = (open.rows() > 0).then_some(Lot::Rows(open));
            let open_coded = open_coded.filter(|coded| coded.rows() > 0).map(Lot::Coded);
            for mut lot in full.into_iter().chain(open).chain(open_coded) {
                lot.show(place, block, taker);
            }
        }
        (self.numbers, self.rows, self.known, self.spare) = (0, 0, None, Spare::default());
    }
}
