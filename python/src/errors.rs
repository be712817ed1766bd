//! Refusals as Python exceptions, in Python's words.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// Everything that can go wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    Logs(Box<slateval_logs::Error>),
    Core(slateval::Error),
    Report(slateval_report::Error),
    Sim(slateval_sim::Error),
    Python(PyErr),
}

impl From<slateval_logs::Error> for Failure {
    fn from(error: slateval_logs::Error) -> Self {
        Failure::Logs(Box::new(error))
    }
}

impl From<slateval::Error> for Failure {
    fn from(error: slateval::Error) -> Self {
        Failure::Core(error)
    }
}

impl From<slateval_report::Error> for Failure {
    fn from(error: slateval_report::Error) -> Self {
        Failure::Report(error)
    }
}

impl From<slateval_sim::Error> for Failure {
    fn from(error: slateval_sim::Error) -> Self {
        Failure::Sim(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        let (class, message) = match failure {
            Failure::Python(error) => return error,
            Failure::Logs(error) => match *error {
                slateval_logs::Error::Stopped => return PyKeyboardInterrupt::new_err(()),
                error => (class_of(&error), error.to_string()),
            },
            Failure::Core(error) => ("InputError", error.to_string()),
            Failure::Report(error) => match error {
                slateval_report::Error::Write { .. } => ("FileError", error.to_string()),
                _ => ("InputError", error.to_string()),
            },
            Failure::Sim(error) => ("InputError", error.to_string()),
        };
        raise(class, &message)
    }
}

/// An exception of `slateval._errors`.
pub(crate) fn raise(class: &str, message: &str) -> PyErr {
    let message = in_python(message);
    Python::attach(|py| {
        let class = py.import("slateval._errors").and_then(|module| module.getattr(class));
        match class.and_then(|class| class.call1((&message,))) {
            Ok(error) => PyErr::from_value(error),
            Err(_) => PyRuntimeError::new_err(message),
        }
    })
}

fn class_of(error: &slateval_logs::Error) -> &'static str {
    use slateval_logs::Error;
    match error {
        Error::NoSuchFile { .. } | Error::NoMatch { .. } | Error::NoLogs { .. } => "MissingFileError",
        Error::Unreadable { .. } => "FileError",
        Error::MissingColumn { .. } | Error::MissingSlot { .. } => "ColumnError",
        Error::WrongType { .. } => "DataTypeError",
        _ => "InputError",
    }
}

/// Flags of the command line whose values are words.
const VALUED: [&str; 7] = ["band", "bins", "structure", "correction", "tail", "target-slots", "estimator"];

/// A message with the flags of the command line as keyword arguments: `bins="log"` for `--bins log`.
pub(crate) fn in_python(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find("--") {
        let (before, flagged) = rest.split_at(start);
        let name: &str = flagged[2..].split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next().unwrap_or("");
        let begins_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        if name.is_empty() || name.starts_with('-') || !begins_word {
            out += before;
            out += "--";
            rest = &flagged[2..];
            continue;
        }
        out += before;
        out += &name.replace('-', "_");
        rest = &flagged[2 + name.len()..];
        if VALUED.contains(&name)
            && let Some(after) = rest.strip_prefix(' ')
        {
            let value: &str =
                after.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == ':')).next().unwrap_or("");
            if is_value(value) {
                out += &format!("=\"{value}\"");
                rest = &after[value.len()..];
            }
        }
    }
    out + rest
}

fn is_value(word: &str) -> bool {
    let known = ["multiplier", "bernstein", "none", "log", "auto", "additive", "product", "given", "lower", "upper"];
    let more = ["independent", "joint", "calibrated", "control-variate", "self-normalized", "suno", "uno"];
    known.contains(&word) || more.contains(&word)
}
