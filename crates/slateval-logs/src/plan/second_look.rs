//! What a log looks like, beside its sums.

use std::ops::ControlFlow;
use std::sync::Arc;

use slateval::{Evaluation, Spec};

use crate::columns::Columns;
use crate::plan::log::Log;
use crate::plan::progress::Progress;
use crate::survey::{AlikeRows, Survey, Suspicion};

impl Log {
    /// Rows of a second look, but for the rest of a batch: an advice need not take longer than the evaluation that it is
    /// about.
    pub const SECOND_LOOK: u64 = 100_000;

    /// The same log, of which every row is looked at for what [`suspicions`](Log::suspicions) and
    /// [`alike_rows`](Log::alike_rows) tell. It takes longer to read.
    pub fn with_every_row_looked_at(mut self) -> Self {
        self.survey = Arc::new(Survey::thorough());
        self
    }

    /// The same log, of which only some rows are read, and looked at for what [`suspicions`](Log::suspicions) tell.
    pub fn with_some_rows_looked_at(self) -> Self {
        self.survey.deepen();
        self
    }

    /// Whether a look at some rows would tell more than the checks of an evaluation do.
    pub fn asks_for_a_second_look(evaluation: &Evaluation) -> bool {
        Survey::asks_for_more(evaluation)
    }

    /// What the rows that were read suggest about the columns, given how the checks went. Where propensities failed their
    /// check, some rows are read again, if they can be.
    pub fn suspicions(&self, columns: &Columns, spec: &Spec, evaluation: &Evaluation) -> Vec<Suspicion> {
        let can_be_read = self.files.iter().all(|file| file.identity.is_some());
        if can_be_read && !self.survey.is_deep() && Survey::asks_for_more(evaluation) {
            self.survey.deepen();
            let enough = |now: Progress| match now.rows {
                rows if rows < Self::SECOND_LOOK => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            };
            // One thread reads the first rows of the plan; many would each begin a task of their own. Stopping early is no error
            // here, and a file that is gone by now takes only the advice with it.
            let _ = self.summarize_while(columns, spec, Some(1), &enough);
        }
        self.survey.suspicions(evaluation)
    }

    /// How many rows are alike in all columns that were read; none unless
    /// [every row was looked at](Log::with_every_row_looked_at).
    pub fn alike_rows(&self) -> Option<AlikeRows> {
        self.survey.alike_rows()
    }

    /// How many slates are shorter than the longest; none unless
    /// [every row was looked at](Log::with_every_row_looked_at).
    pub fn shorter_slates(&self) -> Option<u64> {
        self.survey.shorter_slates()
    }
}
