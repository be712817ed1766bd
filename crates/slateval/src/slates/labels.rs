//! A value for each slate, each different value kept once.

use std::collections::HashMap;

use slateval_stats::Segment;

/// The segments or clusters of slates.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    values: Vec<Segment>,
    /// For each slate, the place of its value.
    places: Vec<usize>,
}

impl Labels {
    pub(crate) fn new<S: Into<Segment>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut known: HashMap<Segment, usize> = HashMap::new();
        let places = values.into_iter().map(|value| {
            let next = known.len();
            *known.entry(value.into()).or_insert(next)
        });
        let places = places.collect();
        let mut values: Vec<(Segment, usize)> = known.into_iter().collect();
        values.sort_unstable_by_key(|(_, place)| *place);
        Labels { values: values.into_iter().map(|(value, _)| value).collect(), places }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn of(&self, row: usize) -> &Segment {
        &self.values[self.places[row]]
    }
}
