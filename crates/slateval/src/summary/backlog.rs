//! Rows of segments that wait, blocks of them.
//! See docs/methods.md, section 3.6.
//!
//! Rows of many segments come in any order, and the sums of all segments are larger than the processor's nearer caches. So
//! full blocks of a segment wait until there are many of them, and are then added one after the other, while the sums of
//! that segment stay near. Blocks are those that there would be if none waited.

use crate::question::field::Field;
use crate::rows::block::Block;
use crate::rows::row_store::{Donor, RowStore, Turned};
use crate::summary::coded_rows::{BlockCodes, CodedRows};

/// Rows of all segments that wait, by the place of their segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backlog {
    queues: Vec<Queue>,
    /// Numbers in full blocks of all segments.
    numbers: usize,
    spare: Spare,
    /// Buffer for the rows of a block.
    turned: Turned,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    /// Fewer rows than a block has.
    open: Lot,
    full: Vec<Lot>,
    /// Numbers in full blocks, however they are kept: how long rows wait depends on the rows alone.
    numbers: usize,
}

/// Up to a block of rows of one segment.
#[derive(Debug, Clone)]
pub(crate) enum Lot {
    Rows(RowStore),
    /// Rows that were recognised with the block that they came in need not be recognised again.
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

impl Default for Lot {
    fn default() -> Self {
        Lot::Rows(RowStore::default())
    }
}

impl Lot {
    fn rows(&self) -> usize {
        match self {
            Lot::Rows(rows) => rows.rows(),
            Lot::Coded(coded) => coded.rows(),
        }
    }

    /// Numbers of a row, given those of rows of the block that came last.
    fn width(&self, of_last: usize) -> usize {
        match self {
            Lot::Rows(rows) => rows.width(),
            Lot::Coded(_) => of_last,
        }
    }
}

impl Spare {
    fn put(&mut self, lot: Lot) {
        match lot {
            Lot::Rows(rows) => self.rows.push(rows),
            Lot::Coded(mut coded) => {
                coded.clear();
                self.coded.push(coded);
            }
        }
    }

    /// An empty lot for rows of a block with these codes, or none.
    fn take(&mut self, codes: Option<&BlockCodes>) -> Lot {
        match codes {
            None => Lot::Rows(self.rows.pop().unwrap_or_default()),
            Some(codes) => {
                let spare = self.coded.pop().filter(|coded| coded.suit(codes));
                Lot::Coded(spare.unwrap_or_else(|| CodedRows::new(codes)))
            }
        }
    }
}

/// Rows of a block that go to their segments.
#[derive(Debug)]
pub(crate) struct RowsOf<'a> {
    pub(crate) block: &'a Block,
    /// If all rows of the block were recognised.
    pub(crate) codes: Option<&'a BlockCodes>,
    /// The first of the rows.
    pub(crate) first: usize,
    /// The place of each row's segment.
    pub(crate) places: &'a [u32],
}

/// A block to take rows from.
struct Source<'a> {
    block: &'a Block,
    /// If all rows were recognised.
    codes: Option<&'a BlockCodes>,
    /// If some rows are wanted as they are.
    donor: Option<Donor<'a>>,
    /// Numbers of a row.
    width: usize,
}

/// Rows that need not wait any longer.
pub(crate) enum Ready<'a> {
    Block(&'a Block),
    Coded(&'a CodedRows),
}

impl Lot {
    /// Whether the rows of a block can be kept by their codes.
    #[inline(always)]
    fn takes_coded(&self, codes: &BlockCodes) -> bool {
        match self {
            Lot::Rows(rows) => rows.rows() == 0,
            Lot::Coded(coded) => coded.rows() == 0 || coded.suit(codes),
        }
    }

    /// Takes a row in.
    #[inline(always)]
    fn push(&mut self, source: &Source<'_>, row: usize, spare: &mut Spare, like: &Block) {
        if let (Lot::Coded(coded), Some(codes)) = (&mut *self, source.codes)
            && coded.suit(codes)
        {
            return coded.push(codes, source.block.whole_column(Field::Reward), row);
        }
        if let (Lot::Rows(rows), Some(donor)) = (&mut *self, &source.donor)
            && (rows.rows() > 0 || source.codes.is_none())
        {
            return rows.push(donor, row);
        }
        self.change(source.codes, spare, like);
        self.push(source, row, spare, like);
    }

    /// Becomes what rows of a block can be added to.
    #[cold]
    fn change(&mut self, codes: Option<&BlockCodes>, spare: &mut Spare, like: &Block) {
        let before = std::mem::replace(self, Lot::Rows(RowStore::default()));
        match before {
            Lot::Coded(coded) if coded.rows() > 0 => *self = Lot::Rows(spell_out(&coded, like)),
            before => {
                spare.put(before);
                *self = spare.take(codes);
            }
        }
    }

    /// Shows the rows, in `block` if need be, and forgets them.
    fn show(&mut self, block: &mut Block, mut take: impl FnMut(Ready<'_>)) {
        match self {
            Lot::Rows(rows) => {
                rows.move_to(block);
                take(Ready::Block(block));
            }
            Lot::Coded(coded) => {
                take(Ready::Coded(coded));
                coded.clear();
            }
        }
    }
}

/// Coded rows with all their numbers.
fn spell_out(coded: &CodedRows, like: &Block) -> RowStore {
    let (block, mut turned, mut rows) = (coded.block(), Turned::default(), RowStore::default());
    let donor = Donor::new(&block, like, &mut turned);
    (0..block.rows()).for_each(|row| rows.push(&donor, row));
    rows
}

impl Backlog {
    /// Makes room for one more segment.
    pub(crate) fn add_segment(&mut self) {
        self.queues.push(Queue::default());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.open.rows() == 0 && queue.full.is_empty())
    }

    /// Takes in some rows. Rows that need not wait any longer are moved to `full` if need be, and shown.
    pub(crate) fn add(&mut self, rows: &RowsOf<'_>, full: &mut Block, mut take: impl FnMut(usize, Ready<'_>)) {
        let &RowsOf { block, codes, first, places } = rows;
        let is_coded = |codes| places.iter().all(|&place| self.queues[place as usize].open.takes_coded(codes));
        let mut turned = std::mem::take(&mut self.turned);
        let donor = (!codes.is_some_and(is_coded)).then(|| Donor::new(block, full, &mut turned));
        let source = Source { block, codes, donor, width: full.width_of(block.slots()) };
        for (row, &place) in (first..).zip(places) {
            let open = &mut self.queues[place as usize].open;
            open.push(&source, row, &mut self.spare, full);
            if open.rows() == Block::ROWS
                && let Some(place) = self.close(place as usize, &source)
            {
                self.empty(place, full, |rows| take(place, rows));
            }
        }
        self.turned = turned;
    }

    /// Begins another block of a segment. Says whose full blocks should wait no longer, if there are many.
    fn close(&mut self, place: usize, source: &Source<'_>) -> Option<usize> {
        let Queue { open, full, numbers: of_queue } = &mut self.queues[place];
        let numbers = Block::ROWS * open.width(source.width);
        let lot = std::mem::replace(open, self.spare.take(source.codes));
        full.push(lot);
        *of_queue += numbers;
        self.numbers += numbers;
        if full.len() >= MOST_OF_ONE {
            return Some(place);
        }
        let waiting = |place: &usize| self.queues[*place].numbers;
        if self.numbers >= MOST_NUMBERS { (0..self.queues.len()).max_by_key(waiting) } else { None }
    }

    /// Shows the full blocks of a segment.
    fn empty(&mut self, place: usize, block: &mut Block, mut take: impl FnMut(Ready<'_>)) {
        let queue = &mut self.queues[place];
        self.numbers -= std::mem::take(&mut queue.numbers);
        for mut lot in queue.full.drain(..) {
            lot.show(block, &mut take);
            self.spare.put(lot);
        }
    }

    /// Shows all rows, segment by segment, and keeps no memory.
    pub(crate) fn empty_all(&mut self, block: &mut Block, mut take: impl FnMut(usize, Ready<'_>)) {
        for (place, queue) in self.queues.iter_mut().enumerate() {
            let Queue { open, full, .. } = std::mem::take(queue);
            for mut lot in full.into_iter().chain((open.rows() > 0).then_some(open)) {
                lot.show(block, |rows| take(place, rows));
            }
        }
        (self.numbers, self.spare) = (0, Spare::default());
    }
}
