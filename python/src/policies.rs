//! Policies over whole slates: what rankers show in each slot, and pseudo-inverse weights.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use slateval_policies::{Continue, Effort, Error, Goals, Logging, Shown, weigh};
use slateval_sim::on_threads;

use crate::arrays::numbers_of;
use crate::errors::{Failure, raise};
use crate::request::read;
use crate::watch::{Shared, interruptible};

/// What Python says beside its arrays.
#[derive(Debug, Deserialize)]
struct Request {
    slots: usize,
    items: usize,
    /// What logging is: `uniform`, `rankers`, `listed` or `drawn`.
    #[serde(default)]
    logging: String,
    /// In how many parts the targets were drawn.
    #[serde(default)]
    goal_parts: usize,
    limit: f64,
    samples: usize,
    parts: usize,
    seed: u64,
    threads: Option<usize>,
}

/// NumPy arrays by name: contiguous, one dimension, 64 bits.
type Arrays<'py> = HashMap<String, Bound<'py, PyAny>>;
type Weighed<'py> = (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>);

/// The probability of each item in each slot, as 64-bit floats, for every ranker; and in how many parts they were drawn.
#[pyfunction]
#[pyo3(signature = (request, scores, progress=None))]
pub(crate) fn ranker_marginals<'py>(
    py: Python<'py>,
    request: &str,
    scores: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let request: Request = read(request)?;
    let scores = numbers_of(scores, None)?;
    let found = interruptible(py, progress.as_ref(), move |shared| {
        shared.total.store((scores.len() / request.items) as u64, Ordering::Relaxed);
        on_threads(request.threads, || {
            let scores = scores.as_primitive::<Float64Type>().values();
            let tell = |rankers| tell(&shared, rankers);
            slateval_policies::ranker_marginals(scores, request.items, request.slots, &request.effort(), &tell)
        })
    })?;
    let found = found.map_err(Failure::from)?.map_err(|error| refuse(&error, &[], &[], 1))?;
    Ok((found.parts, bytes(py, &found.values)))
}

/// The weight of each row, its error if any slates were drawn, and how far its target is out of reach.
#[pyfunction]
#[pyo3(signature = (request, arrays, progress=None))]
pub(crate) fn pseudo_inverse<'py>(
    py: Python<'py>,
    request: &str,
    arrays: Arrays<'py>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Weighed<'py>> {
    let request: Request = read(request)?;
    let slots = request.slots;
    let given = Given::new(arrays)?;
    let (actions, rows) = (given.whole("actions").to_vec(), given.whole("rows").to_vec());
    let found = interruptible(py, progress.as_ref(), move |shared| {
        shared.total.store(given.whole("policy").len() as u64, Ordering::Relaxed);
        on_threads(request.threads, || given.weigh(&request, &shared))
    })?;
    let found = found.map_err(Failure::from)?.map_err(|error| refuse(&error, &actions, &rows, slots))?;
    let errors = found.sampled.then(|| bytes(py, &found.errors));
    Ok((bytes(py, &found.weights), errors, bytes(py, &found.beyond)))
}

/// Arrays by name; one that is not there is empty.
struct Given(HashMap<String, ArrayRef>);

impl Given {
    fn new(arrays: Arrays<'_>) -> PyResult<Self> {
        let read = |(name, array): (String, Bound<'_, PyAny>)| Ok((name, numbers_of(&array, None)?));
        arrays.into_iter().map(read).collect::<PyResult<_>>().map(Given)
    }

    fn whole(&self, name: &str) -> &[i64] {
        let array = self.0.get(name).and_then(|array| array.as_primitive_opt::<Int64Type>());
        array.map_or(&[], |array| &array.values()[..])
    }

    fn numbers(&self, name: &str) -> &[f64] {
        let array = self.0.get(name).and_then(|array| array.as_primitive_opt::<Float64Type>());
        array.map_or(&[], |array| &array.values()[..])
    }

    fn weigh(&self, request: &Request, shared: &Arc<Shared>) -> Result<slateval_policies::Weights, Error> {
        let slates: Vec<u32> = self.whole("slates").iter().map(|&item| item as u32).collect();
        let logging = match request.logging.as_str() {
            "rankers" => Logging::Rankers { scores: self.numbers("scores") },
            "listed" => Logging::Listed { slates: &slates, probability: self.numbers("probability") },
            "drawn" => Logging::Drawn { slates: &slates, parts: request.parts },
            _ => Logging::Uniform,
        };
        let goals = match request.goal_parts {
            0 => Goals::Certain { slates: self.whole("goal_slates") },
            parts => Goals::Marginals { parts, values: self.numbers("goals") },
        };
        let shown = Shown {
            slots: request.slots,
            items: request.items,
            actions: self.whole("actions"),
            policy: self.whole("policy"),
            goal: self.whole("goal"),
        };
        weigh(&shown, &logging, &goals, &request.effort(), &|rows| tell(shared, rows))
    }
}

impl Request {
    fn effort(&self) -> Effort {
        Effort { limit: self.limit, samples: self.samples, parts: self.parts, seed: self.seed }
    }
}

fn tell(shared: &Shared, rows: u64) -> Continue {
    shared.rows.fetch_add(rows, Ordering::Relaxed);
    if shared.stop.load(Ordering::Relaxed) { Continue::No } else { Continue::Yes }
}

fn bytes<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// A refusal in Python's words. `rows` are the numbers that the user knows the rows by, from 0.
fn refuse(error: &Error, actions: &[i64], rows: &[i64], slots: usize) -> PyErr {
    let slate = |row: usize| &actions[row * slots..][..slots];
    match *error {
        Error::NeverShown { row } => raise(
            "InputError",
            &format!("row {}: slate {:?} was shown, but has probability 0 under logging", rows[row] + 1, slate(row)),
        ),
        Error::NotDrawn { row } => raise(
            "InputError",
            &format!(
                "row {}: slate {:?} was shown, but no slates drawn from logging tell of it: draw more samples, or check \
                 the policy",
                rows[row] + 1,
                slate(row)
            ),
        ),
        _ => raise("InputError", &error.to_string()),
    }
}
