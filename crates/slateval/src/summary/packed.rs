//! Summaries rearranged, so that a compressor makes little of them.
//! See docs/methods.md, section 3.7.
//!
//! Most bins of a log with many different rewards hold one row. All sums of such a bin are products of the row's own
//! numbers: each is replaced by its distance, in steps of the last bit, from the product that the sums before it foretell,
//! which is nearly always 0 or 1. Where there are segments, the sums of the whole log are foretold by theirs. The bytes of
//! each sum then stand together, the highest bytes of all bins first. Nothing is lost: [`Summary::from_packed`] gives back
//! the same bits.
//!
//! The bytes are as many as those of a file, in the same order but for the bins of the whole log and of each segment:
//!
//! | bytes | what |
//! |---|---|
//! | 8 per bin | its number of rows |
//! | … | bins of one row: byte by byte, for each sum the bytes of all bins |
//! | … | other bins, likewise |

use crate::question::error::Result;
use crate::summary::Summary;
use crate::summary::cell::Cell;
use crate::summary::format::{CHECKSUM, PREAMBLE, broken, expect_room, open};
use crate::summary::header::{CellHeader, Header};
use crate::summary::index::{Basis, BinLayout, BinSum, Layout, Left, Power, Right, Shared};
use crate::summary::tally::Tally;

/// Numbers before the bins of a segment: the origin and the range.
const BEFORE_BINS: usize = 3;

impl Summary {
    /// The bytes of [`to_bytes`](Summary::to_bytes), rearranged: compressed, they take about half the room.
    ///
    /// ```
    /// use slateval::{Slates, Summary};
    ///
    /// let summary = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    /// let again = Summary::from_packed(&summary.to_packed()?)?;
    /// assert_eq!(again.to_bytes(), summary.to_bytes());
    /// # Ok::<(), slateval::Error>(())
    /// ```
    ///
    /// # Errors
    /// None that a summary can cause: [`Error::Format`](crate::Error::Format) would be a defect of this library.
    pub fn to_packed(&self) -> Result<Vec<u8>> {
        rearranged(&self.to_bytes(), Way::Pack)
    }

    /// The summary that [`to_packed`](Summary::to_packed) wrote.
    ///
    /// # Errors
    /// As [`from_bytes`](Summary::from_bytes).
    pub fn from_packed(bytes: &[u8]) -> Result<Summary> {
        Summary::from_bytes(&rearranged(bytes, Way::Unpack)?)
    }
}

/// Whether bytes are packed or unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Pack,
    Unpack,
}

/// A summary's bytes with the bins of each cell rearranged.
fn rearranged(bytes: &[u8], way: Way) -> Result<Vec<u8>> {
    let (header, payload) = open(bytes)?;
    let contents = Header::parse(header).map_err(|why| broken(&format!("its header is odd: {why}")))?;
    contents.spec.check()?;
    let mut numbers: Vec<u64> = payload.chunks_exact(8).map(number).collect();
    let (spec, count) = (&contents.spec, contents.segments.len());
    let of_log: Empty<'_> = &|slots| Cell::of_log(spec, slots);
    let of_segment: Empty<'_> = &|slots| Cell::of_segment(spec, count, slots);
    let segments = contents.segments.iter().map(|segment| (&segment.cell, of_segment));
    let cells: Vec<(&CellHeader, Empty<'_>)> =
        contents.whole.iter().map(|whole| (whole, of_log)).chain(segments).collect();
    let mut rest = &mut numbers[..];
    let mut all = Vec::with_capacity(cells.len());
    for (cell, empty) in cells {
        expect_room(spec, cell, rest.len())?;
        let (rules, length) = shape(empty, cell, rest.len())?;
        let (own, others) = std::mem::take(&mut rest).split_at_mut(length);
        let bins = cell.bins * rules.width();
        all.push(CellBins { rules, bins: &mut own[BEFORE_BINS..BEFORE_BINS + bins] });
        rest = others;
    }
    if !rest.is_empty() {
        return Err(broken("it is longer than its header says"));
    }
    rearrange(&mut all, way);
    let mut out = Vec::with_capacity(bytes.len());
    out.extend_from_slice(&bytes[..PREAMBLE + header.len()]);
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    if numbers.len() * 8 != payload.len() {
        return Err(broken("it is longer than its header says"));
    }
    out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
    debug_assert_eq!(out.len(), PREAMBLE + header.len() + payload.len() + CHECKSUM);
    Ok(out)
}

/// The bins of the whole log or of a segment, and what foretells the sums in them.
struct CellBins<'n> {
    rules: Rules,
    bins: &'n mut [u64],
}

/// Rearranges the whole log, which comes first, and its segments. The whole log needs them as they are.
fn rearrange(cells: &mut [CellBins<'_>], way: Way) {
    let Some((whole, segments)) = cells.split_first_mut() else { return };
    let each = |segments: &mut [CellBins<'_>]| {
        for CellBins { rules, bins } in segments {
            match way {
                Way::Pack => pack(rules.width(), bins, |bins| rules.leave(bins)),
                Way::Unpack => unpack(rules.width(), bins, |bins| rules.enter(bins)),
            }
        }
    };
    if segments.is_empty() {
        return each(std::slice::from_mut(whole));
    }
    if way == Way::Unpack {
        each(segments);
    }
    let width = whole.rules.width();
    let replace = |bins: &mut [u64], by: fn(u64, u64) -> u64| {
        let sums = added_up(width, bins, segments);
        for (bin, sums) in bins.chunks_exact_mut(width).zip(sums.chunks_exact(width)) {
            bin.iter_mut().zip(sums).skip(FIRST_SUM).for_each(|(number, sum)| *number = by(*number, *sum));
        }
    };
    match way {
        Way::Pack => pack(width, whole.bins, |bins| replace(bins, distance)),
        Way::Unpack => unpack(width, whole.bins, |bins| replace(bins, at_distance)),
    }
    if way == Way::Pack {
        each(segments);
    }
}

/// What the segments foretell of the whole log's bins, by the rewards in them.
fn added_up(width: usize, bins: &[u64], segments: &[CellBins<'_>]) -> Vec<u64> {
    let least = |bin: &[u64]| f64::from_bits(bin[1 + Shared::Least.place()]);
    let begins: Vec<f64> = bins.chunks_exact(width).map(least).collect();
    let mut sums = vec![0.0; bins.len()];
    // A segment of shorter slates has other sums.
    for segment in segments.iter().filter(|segment| segment.rules.width() == width) {
        for bin in segment.bins.chunks_exact(width) {
            let after = begins.partition_point(|begin| *begin <= least(bin));
            let Some(place) = after.checked_sub(1) else { continue };
            let to = &mut sums[place * width..(place + 1) * width];
            to.iter_mut().zip(bin).skip(FIRST_SUM).for_each(|(sum, x)| *sum += f64::from_bits(*x));
        }
    }
    sums.into_iter().map(f64::to_bits).collect()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// Makes a cell without rows, for so many slots.
type Empty<'a> = &'a dyn Fn(usize) -> Cell;

/// What foretells the sums of a cell's bins, and how many numbers the cell has, of those that are left.
fn shape(empty: Empty<'_>, header: &CellHeader, left: usize) -> Result<(Rules, usize)> {
    let short = || broken("it is cut short");
    let cell = empty(header.slots);
    let rules = Rules::new(&cell);
    let tally = Tally::numbers(header.slots, cell.kept.basis.len());
    let policies: usize = cell.policies.iter().map(|policy| policy.moments.sums.len() + tally).sum();
    let cross: usize = cell.cross.iter().map(|cross| cross.rows * cross.columns).sum();
    let in_bins = rules.width() + cell.clusters.as_ref().map_or(0, |groups| groups.table.width);
    let clusters: usize = cell.clusters.iter().flat_map(|groups| &groups.features).map(Vec::len).sum();
    let bins = header.bins.checked_mul(in_bins).ok_or_else(short)?;
    let length = bins.checked_add(BEFORE_BINS + policies + cross + clusters).ok_or_else(short)?;
    if length > left { Err(short()) } else { Ok((rules, length)) }
}

/// How the sums of a bin of one row follow from those before them. Places count from the bin's key, which is 0.
struct Rules {
    rules: Vec<Rule>,
}

/// What a sum of a bin of one row is, given the sums before it.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Nothing foretells it.
    Free,
    /// What stands at another place, with or without its sign.
    Same(usize),
    Minus(usize),
    /// The square of what stands at another place.
    Square(usize),
    /// `e_order` of the ratios that begin at a place.
    Elementary {
        ratios: usize,
        slots: usize,
        order: usize,
    },
    /// `W_i` times what stands at a place.
    Weighted {
        weight: WeightAt,
        right: usize,
    },
    /// `G (G Z_k - chi_k)`.
    ChiError {
        weight: WeightAt,
        ratio: usize,
        chi: usize,
    },
}

/// Where a weight of a row is read.
#[derive(Debug, Clone, Copy)]
enum WeightAt {
    /// A number at a place.
    Place(usize),
    /// The sum of the ratios that begin at a place.
    Ratios { ratios: usize, slots: usize },
    /// 1, the sum of the ratios, and some numbers that begin at another place.
    Orders { ratios: usize, slots: usize, above: usize, count: usize },
}

impl WeightAt {
    fn read(self, row: &[u64]) -> f64 {
        let sum = |from: usize, count: usize| row[from..from + count].iter().map(|x| f64::from_bits(*x)).sum::<f64>();
        match self {
            WeightAt::Place(place) => f64::from_bits(row[place]),
            WeightAt::Ratios { ratios, slots } => sum(ratios, slots),
            WeightAt::Orders { ratios, slots, above, count } => 1.0 + sum(ratios, slots) + sum(above, count),
        }
    }
}

impl Rules {
    fn new(cell: &Cell) -> Self {
        // The key, and what all policies share.
        let mut rules = vec![Rule::Free; FIRST_SUM];
        rules[1 + Shared::Least.place()] = Rule::Same(1 + Shared::Reward.place());
        rules[1 + Shared::MinusMost.place()] = Rule::Minus(1 + Shared::Least.place());
        for (own, witnesses) in cell.layout.own.iter().zip(&cell.layout.witnesses) {
            let policy = Policy { layout: own.layout, keys: own.layout.keys(), start: rules.len() };
            rules.extend(policy.keys.iter().map(|&key| policy.rule(key)));
            for (_, power) in witnesses.layout.keys() {
                rules.push(if power == Power::Second { Rule::Square(rules.len() - 1) } else { Rule::Free });
            }
        }
        rules.resize(1 + cell.layout.places().len(), Rule::Free);
        Rules { rules }
    }

    /// Numbers of a bin, with its key.
    fn width(&self) -> usize {
        self.rules.len()
    }

    /// Puts distances in place of what is foretold in bins of one row.
    fn leave(&self, bins: &mut [u64]) {
        for bin in bins.chunks_exact_mut(self.width()).filter(|bin| bin[ROWS] == ONE) {
            // From the last on, so that what foretells is still there.
            for place in (0..self.width()).rev() {
                if let Some(foretold) = self.foretold(place, bin) {
                    bin[place] = distance(bin[place], foretold);
                }
            }
        }
    }

    /// Puts back what lies at these distances.
    fn enter(&self, bins: &mut [u64]) {
        for bin in bins.chunks_exact_mut(self.width()).filter(|bin| bin[ROWS] == ONE) {
            for place in 0..self.width() {
                if let Some(foretold) = self.foretold(place, bin) {
                    bin[place] = at_distance(bin[place], foretold);
                }
            }
        }
    }

    /// What is foretold of a number by those before it; 0 for nothing.
    fn foretold(&self, place: usize, row: &[u64]) -> Option<u64> {
        let at = |place: usize| f64::from_bits(row[place]);
        let value = match self.rules[place] {
            Rule::Free => return None,
            Rule::Same(other) => at(other),
            Rule::Minus(other) => -at(other),
            Rule::Square(other) => at(other) * at(other),
            Rule::Elementary { ratios, slots, order } => elementary(&row[ratios..ratios + slots], order),
            Rule::Weighted { weight, right } => weight.read(row) * at(right),
            Rule::ChiError { weight, ratio, chi } => {
                let g = weight.read(row);
                g * (g * at(ratio) - at(chi))
            }
        };
        Some(value.to_bits())
    }
}

/// The sums of one policy.
struct Policy {
    layout: BinLayout,
    keys: Vec<BinSum>,
    /// The place of the first.
    start: usize,
}

impl Policy {
    fn place(&self, key: BinSum) -> Option<usize> {
        self.keys.iter().position(|other| *other == key).map(|position| self.start + position)
    }

    fn right(&self, right: Right) -> Option<usize> {
        self.place(BinSum::Product(Left::One, right))
    }

    fn rule(&self, key: BinSum) -> Rule {
        self.known(key).unwrap_or(Rule::Free)
    }

    fn known(&self, key: BinSum) -> Option<Rule> {
        let (slots, orders) = (self.layout.shape.slots, matches!(self.layout.shape.basis, Basis::Orders(_)));
        match key {
            BinSum::Product(Left::One, Right::Weight(j)) if orders => {
                Some(Rule::Elementary { ratios: self.right(Right::Ratio(0))?, slots, order: j + 1 })
            }
            BinSum::Product(Left::One, _) | BinSum::Chi(_) => None,
            BinSum::Product(Left::Weight(i), right) => {
                Some(Rule::Weighted { weight: self.weight(i)?, right: self.right(right)? })
            }
            BinSum::ChiError { m, k } => Some(Rule::ChiError {
                weight: self.order(m)?,
                ratio: self.right(Right::Ratio(k))?,
                chi: self.place(BinSum::Chi(k))?,
            }),
        }
    }

    /// `W_i`.
    fn weight(&self, i: usize) -> Option<WeightAt> {
        match self.right(Right::Weight(i)) {
            Some(place) => Some(WeightAt::Place(place)),
            None => Some(WeightAt::Ratios { ratios: self.right(Right::Ratio(0))?, slots: self.layout.shape.slots }),
        }
    }

    /// `G_m`.
    fn order(&self, m: usize) -> Option<WeightAt> {
        if self.layout.shape.basis == Basis::Single {
            return self.weight(0);
        }
        let ratios = self.right(Right::Ratio(0))?;
        let above = self.right(Right::Weight(1)).unwrap_or(ratios);
        Some(WeightAt::Orders { ratios, slots: self.layout.shape.slots, above, count: m })
    }
}

/// The elementary symmetric polynomial of some ratios.
fn elementary(ratios: &[u64], order: usize) -> f64 {
    let mut sums = vec![0.0; order + 1];
    sums[0] = 1.0;
    for ratio in ratios {
        for j in (1..=order).rev() {
            sums[j] += sums[j - 1] * f64::from_bits(*ratio);
        }
    }
    sums[order]
}

/// The place of the number of rows in a bin with its key.
const ROWS: usize = 1 + Shared::Rows as usize;

/// The place of the first sum of a policy, behind the key and what all policies share.
const FIRST_SUM: usize = 1 + Shared::ALL.len();

/// One row.
const ONE: u64 = 1.0_f64.to_bits();

/// Rearranges bins, in which `leave` first puts distances in place of sums.
fn pack(width: usize, bins: &mut [u64], leave: impl FnOnce(&mut [u64])) {
    let rows: Vec<u64> = bins.chunks_exact(width).map(|bin| bin[ROWS]).collect();
    leave(bins);
    let mut packed = Vec::with_capacity(bins.len());
    packed.extend_from_slice(&rows);
    for part in parts(&rows) {
        let columns = (0..width).filter(|&place| place != ROWS);
        let bytes: Vec<u8> = columns
            .flat_map(|place| (0..8).map(move |byte| (place, byte)))
            .flat_map(|(place, byte)| part.iter().map(move |&bin| (bin * width + place, byte)))
            .map(|(at, byte)| bins[at].to_be_bytes()[byte])
            .collect();
        packed.extend(bytes.chunks_exact(8).map(number));
    }
    bins.copy_from_slice(&packed);
}

/// Puts bins in order again, in which `enter` then puts sums in place of distances.
fn unpack(width: usize, bins: &mut [u64], enter: impl FnOnce(&mut [u64])) {
    let count = bins.len() / width;
    let (rows, packed) = bins.split_at(count);
    let rows = rows.to_vec();
    let bytes: Vec<u8> = packed.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut found = vec![[0; 8]; count * width];
    let mut next = bytes.into_iter();
    for part in parts(&rows) {
        for place in (0..width).filter(|&place| place != ROWS) {
            let planes = (0..8).flat_map(|byte| part.iter().map(move |bin| (bin * width + place, byte)));
            planes.zip(&mut next).for_each(|((at, byte), value)| found[at][byte] = value);
        }
    }
    bins.iter_mut().zip(found).for_each(|(number, bytes)| *number = u64::from_be_bytes(bytes));
    bins.chunks_exact_mut(width).zip(rows).for_each(|(bin, rows)| bin[ROWS] = rows);
    enter(bins);
}

/// The bins of one row, and the others.
fn parts(rows: &[u64]) -> [Vec<usize>; 2] {
    let (one, more) = (0..rows.len()).partition(|&bin| rows[bin] == ONE);
    [one, more]
}

/// How far a number lies from another, in steps of the last bit; small both ways.
fn distance(number: u64, from: u64) -> u64 {
    let steps = number.wrapping_sub(from).cast_signed();
    ((steps << 1) ^ (steps >> 63)).cast_unsigned()
}

fn at_distance(distance: u64, from: u64) -> u64 {
    let steps = (distance >> 1) ^ (distance & 1).wrapping_neg();
    from.wrapping_add(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_lead_back() {
        for (number, from) in [(0, 0), (1, 0), (0, 1), (u64::MAX, 5), (5, u64::MAX), (1 << 63, 0), (7, 1 << 62)] {
            assert_eq!(at_distance(distance(number, from), from), number, "{number} {from}");
        }
        assert_eq!([distance(9, 9), distance(8, 9), distance(10, 9)], [0, 1, 2]);
    }
}
