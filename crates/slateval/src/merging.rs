//! How two summaries become one.
//! See docs/methods.md, section 3.6.

use slateval_stats::Result;

use crate::summary::Summary;

impl Summary {
    /// Takes in another summary, as if its rows had been added here. A refused summary leaves this one as it was.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch), saying what differs, if the two are not summaries of the same thing;
    /// [`Error::Duplicate`](crate::Error::Duplicate) if both have rows of the same file;
    /// [`Error::TooManySegments`](crate::Error::TooManySegments).
    pub fn merge(&mut self, other: &Summary) -> Result<()> {
        self.sums.check_mergeable(&other.sums)?;
        self.provenance.check_duplicates(&other.provenance)?;
        self.merge_duplicates(other)
    }

    /// As [`merge`](Summary::merge), for summaries that may have rows of the same file: these are then counted twice.
    ///
    /// # Errors
    /// As [`merge`](Summary::merge), but for duplicates.
    pub fn merge_duplicates(&mut self, other: &Summary) -> Result<()> {
        self.check_mergeable(other)?;
        self.absorb(other.clone())
    }

    /// As [`merge_duplicates`](Summary::merge_duplicates), for a summary that is no longer needed: sums of which
    /// there are none here are moved, not copied.
    ///
    /// # Errors
    /// As [`merge`](Summary::merge), but for duplicates.
    ///
    /// ```
    /// use slateval::{Slates, Summary};
    ///
    /// let part = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    /// let mut total = Summary::new(part.spec().clone())?;
    /// total.absorb(part)?;
    /// assert_eq!(total.rows(), 2);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn absorb(&mut self, other: Summary) -> Result<()> {
        self.check_mergeable(&other)?;
        self.provenance.merge(&other.provenance);
        self.sums.merge(other.sums)
    }

    /// Refuses a summary that cannot be taken in, whichever files its rows came from.
    fn check_mergeable(&self, other: &Summary) -> Result<()> {
        self.sums.check_mergeable(&other.sums)?;
        self.provenance.check_positions(&other.provenance)
    }
}
