//! How much memory summaries may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use slateval::{Accumulator, Spec, Summary};

use crate::error::{Error, Result, megabytes};
use crate::formats::Room;

/// The memory that all summaries of a run may take together. It decides whether a log is read, and how many parts of it
/// at a time, but never what comes of it.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    bytes: u64,
    /// Of the slates that were read.
    known: Arc<Needs>,
    /// Of the longest slates that the columns have room for: it counts until there is a slate.
    foreseen: Arc<Needs>,
}

/// The memory of a part, in bytes; 0 before anything is known.
#[derive(Debug, Default)]
struct Needs {
    /// What the largest summary may take.
    largest: AtomicU64,
    /// What its rows may take that wait while a part is read.
    waiting: AtomicU64,
}

impl Needs {
    fn largest(&self) -> u64 {
        self.largest.load(Ordering::Acquire)
    }

    /// For slates of so many slots in so many segments.
    fn add(&self, spec: &Spec, slots: usize, segments: usize) {
        let expected = segments.max(EXPECTED_SEGMENTS);
        // Whoever finds the one known also finds the other.
        self.waiting.fetch_max(Accumulator::most_waiting_bytes(spec, slots), Ordering::Relaxed);
        self.largest.fetch_max(Summary::most_bytes(spec, slots, expected), Ordering::Release);
    }
}

/// The total and a copy of it.
const TOTALS: u64 = 2;

/// Bytes of a part that is large: parts of such a size cost more time to merge than is won by having many of them ready.
const LARGE: u64 = 48_000_000;

/// Segments that a log is taken to have when it is decided how many parts are read at a time. Segments share bins, so
/// that more of them take hardly more memory.
const EXPECTED_SEGMENTS: usize = 100;

impl Budget {
    /// So many bytes; half of the machine's memory if `None`.
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.or_else(|| machine().map(|all| all / 2)).unwrap_or(u64::MAX);
        Budget { bytes, known: Arc::default(), foreseen: Arc::default() }
    }

    /// Room for what readers on so many threads hold of the log beside the sums.
    pub(crate) fn room(&self, threads: usize) -> Room {
        Room::new(self.bytes, threads)
    }

    /// No slate has more slots than these: others need not wait for the first one.
    pub(crate) fn foresee(&self, spec: &Spec, slots: usize) {
        if self.known.largest() == 0 {
            self.foreseen.add(spec, slots, 0);
        }
    }

    /// Refuses slates of so many slots in so many segments if the sums may take too much memory, though only one part of
    /// the log is read at a time.
    pub(crate) fn check(&self, spec: &Spec, slots: usize, segments: usize) -> Result<()> {
        self.known.add(spec, slots, segments);
        let waiting = Accumulator::most_waiting_bytes(spec, slots);
        let needed = Summary::most_bytes(spec, slots, segments).saturating_mul(TOTALS + 1).saturating_add(waiting);
        if needed <= self.bytes {
            return Ok(());
        }
        let (targets, needed, limit) = (spec.policies.len(), megabytes(needed), megabytes(self.bytes));
        Err(Error::TooMuchMemory { slots, targets, segments, needed, limit })
    }

    /// The same for an accumulator that is to take slates of so many slots. `checked` are the slots and segments that there is
    /// memory for: nothing is checked twice.
    pub(crate) fn check_more(&self, sums: &Accumulator, slots: usize, checked: &mut (usize, usize)) -> Result<()> {
        let most = (slots.max(checked.0), sums.segment_count().max(checked.1));
        if self.is_known() && most == *checked {
            return Ok(());
        }
        self.check(sums.spec(), most.0, most.1)?;
        *checked = most;
        Ok(())
    }

    /// Whether it is known how large parts are.
    pub(crate) fn is_known(&self) -> bool {
        self.known.largest() > 0
    }

    /// How many of so many parts may be in memory at a time, beside the totals. One has to tell how large parts are.
    pub(crate) fn parts(&self, wanted: usize) -> usize {
        let needs = if self.is_known() { &self.known } else { &self.foreseen };
        match needs.largest() {
            0 => 1,
            largest => {
                let part = largest.saturating_add(needs.waiting.load(Ordering::Relaxed));
                let fitting = self.bytes.saturating_sub(largest.saturating_mul(TOTALS)) / part;
                let worthwhile = wanted as u64 * LARGE / largest;
                usize::try_from(fitting.min(worthwhile)).unwrap_or(usize::MAX).clamp(1, wanted)
            }
        }
    }
}

/// The memory of this machine, or of the container that this program runs in, where the system tells it.
fn machine() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    smallest(&info, &limits.map(|file| std::fs::read_to_string(file).unwrap_or_default()))
}

/// What the machine has, or the smallest limit. Where there is no limit, files say `max` or a number beyond all memory.
fn smallest(info: &str, limits: &[String]) -> Option<u64> {
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let all = total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    limits.iter().filter_map(|limit| limit.trim().parse().ok()).chain([all]).min()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use slateval::Structure;

    use super::*;

    #[test]
    fn many_slots_are_refused_before_their_sums_are_made() {
        let spec = Spec::new(Structure::Auto, ["a", "b"]);
        let budget = Budget::new(Some(100_000_000));
        budget.check(&spec, 5, 0).unwrap();
        let error = budget.check(&spec, 1000, 0).unwrap_err().to_string();
        assert!(error.contains("1000 slots") && error.contains("100 MB"), "{error}");
    }

    /// However many threads there are: they wait for each other where memory is scarce.
    #[test]
    fn the_number_of_parts_follows_from_the_memory() {
        let mut spec = Spec::new(Structure::Auto, ["a", "b", "c", "d", "e"]).by("city");
        spec.policies.iter_mut().for_each(|policy| policy.chi = true);
        let of = |bytes| {
            let budget = Budget::new(Some(bytes));
            assert_eq!(budget.parts(1000), 1, "nothing is known yet");
            budget.foresee(&spec, 20);
            assert!(!budget.is_known());
            let foreseen = budget.parts(1000);
            budget.check(&spec, 5, 1).unwrap();
            assert!(budget.is_known() && budget.parts(1000) >= foreseen, "{foreseen} for slates that are longer");
            budget.parts(1000)
        };
        let one = Summary::most_bytes(&spec, 5, EXPECTED_SEGMENTS);
        let part = one + Accumulator::most_waiting_bytes(&spec, 5);
        assert_eq!([of(one), of(2 * one + 8 * part), of(2 * one + 128 * part)], [1, 8, 128]);
        let plenty = Budget::new(Some(1 << 50));
        plenty.check(&spec, 5, 1).unwrap();
        assert_eq!(plenty.parts(1) as u64, 1);
        assert_eq!(plenty.parts(1000) as u64, 1000 * LARGE / one);
        plenty.check(&Spec::new(Structure::Auto, ["a"]), 5, 1).unwrap();
        assert!(Summary::most_bytes(&Spec::new(Structure::Auto, ["a"]), 5, EXPECTED_SEGMENTS) < LARGE);
        let error = Budget::new(Some(one)).check(&spec, 5, 1000).unwrap_err().to_string();
        assert!(error.contains("each of 1000 segments"), "{error}");
    }

    #[test]
    fn a_container_may_have_less_than_its_machine() {
        let info = "MemFree: 1 kB\nMemTotal:       16000 kB\n";
        let of = |limits: [&str; 2]| smallest(info, &limits.map(str::to_owned));
        assert_eq!(of(["", ""]), Some(16_384_000));
        assert_eq!(of(["max\n", ""]), Some(16_384_000));
        assert_eq!(of(["4096000\n", ""]), Some(4_096_000));
        assert_eq!(of(["", "2048000\n"]), Some(2_048_000));
        assert_eq!(of(["", "9223372036854771712\n"]), Some(16_384_000));
    }
}
