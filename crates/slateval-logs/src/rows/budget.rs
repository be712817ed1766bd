//! How much memory summaries may take.

use slateval::{Spec, Summary};

use crate::error::{Error, Result};

/// The memory that all summaries of a run may take together. It decides whether a log is read, and never what comes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    bytes: u64,
    /// Summaries that may be in memory at a time.
    summaries: u64,
}

impl Budget {
    /// So many bytes for a run on so many threads; half of the machine's memory if `None`. At most two parts for each
    /// thread are waiting to be merged, beside the total and a copy of it.
    pub(crate) fn new(bytes: Option<u64>, threads: usize) -> Self {
        let bytes = bytes.or_else(|| machine().map(|all| all / 2)).unwrap_or(u64::MAX);
        Budget { bytes, summaries: 2 * threads as u64 + 2 }
    }

    /// Refuses slates of so many slots if their sums may take too much memory.
    pub(crate) fn check(&self, spec: &Spec, slots: usize) -> Result<()> {
        let needed = |segments| Summary::most_bytes(spec, slots, segments).saturating_mul(self.summaries);
        // How many segments there will be is not known; a few are expected where there are any.
        let needed = needed(EXPECTED_SEGMENTS);
        if needed <= self.bytes {
            return Ok(());
        }
        let (targets, by) = (spec.policies.len(), spec.by.is_some());
        Err(Error::TooMuchMemory { slots, targets, by, needed: megabytes(needed), limit: megabytes(self.bytes) })
    }
}

/// Segments that a log is taken to have before it is read.
const EXPECTED_SEGMENTS: usize = 100;

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1_000_000)
}

/// The memory of this machine, or of the container that this program runs in, where the system tells it.
fn machine() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let all = total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    Some(container.and_then(|limit| limit.trim().parse::<u64>().ok()).map_or(all, |limit| limit.min(all)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use slateval::Structure;

    use super::*;

    #[test]
    fn many_slots_are_refused_before_their_sums_are_made() {
        let spec = Spec::new(Structure::Auto, ["a", "b"]);
        let budget = Budget::new(Some(100_000_000), 2);
        budget.check(&spec, 5).unwrap();
        let error = budget.check(&spec, 1000).unwrap_err().to_string();
        assert!(error.contains("1000 slots") && error.contains("100 MB"), "{error}");
    }
}
