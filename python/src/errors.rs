//! Refusals as Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use slateval::shown;
use slateval_report::Voice;

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
                slateval_logs::Error::Unended { .. } | slateval_logs::Error::UnendedStream { .. } => {
                    ("FileError", format!("{error}: allow_unended=True"))
                }
                slateval_logs::Error::UnknownFiles { .. } => {
                    ("FileError", format!("{error}, or leave them out with on_unknown_file=\"skip\""))
                }
                slateval_logs::Error::BadRows { .. } => ("InputError", bad_rows(&error)),
                slateval_logs::Error::WrongColumn { field: Some(slateval::Field::Reward), .. } => {
                    ("InputError", format!("{error} with {}", Voice::Python.setting("reward", "COLUMN")))
                }
                slateval_logs::Error::MissingColumn { ref content, .. } => {
                    let named =
                        |(name, value): (_, String)| format!(" Name it with {}.", Voice::Python.setting(name, &value));
                    let advice = content.setting().map(named).unwrap_or_default();
                    ("ColumnError", format!("{error}{advice}"))
                }
                slateval_logs::Error::Stopped => return PyKeyboardInterrupt::new_err(()),
                slateval_logs::Error::Core(error @ slateval::Error::Duplicate { .. }) => {
                    ("InputError", duplicate(&error))
                }
                error => (class_of(&error), error.to_string()),
            },
            Failure::Core(error) => match error {
                slateval::Error::Duplicate { .. } => ("InputError", duplicate(&error)),
                slateval::Error::NoRows => ("NoRowsError", error.to_string()),
                // The setting as a keyword argument.
                slateval::Error::BadSetting { setting, value, why } => {
                    ("InputError", format!("{} `{}`: {}", setting.replace('-', "_"), shown(&value), shown(&why)))
                }
                _ => ("InputError", error.to_string()),
            },
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
    Python::attach(|py| {
        let class = py.import("slateval._errors").and_then(|module| module.getattr(class));
        match class.and_then(|class| class.call1((message,))) {
            Ok(error) => PyErr::from_value(error),
            Err(_) => PyRuntimeError::new_err(message.to_owned()),
        }
    })
}

/// A name without the secrets of an address.
#[pyfunction]
pub(crate) fn redacted(name: &str) -> String {
    slateval::redacted(name).into_owned()
}

/// The same for all addresses in a text.
#[pyfunction]
pub(crate) fn redacted_text(text: &str) -> String {
    slateval::redacted_text(text).into_owned()
}

fn bad_rows(error: &slateval_logs::Error) -> String {
    format!(
        "{error}\nMend them, or leave them out with on_bad_row=\"skip\", which biases the result if such rows are special."
    )
}

fn duplicate(error: &slateval::Error) -> String {
    format!("{error}; allow_duplicates=True counts them all the same")
}

fn class_of(error: &slateval_logs::Error) -> &'static str {
    use slateval_logs::{Error, RemoteFault};
    match error {
        Error::Remote(remote) => match remote.fault {
            RemoteFault::Missing => "MissingFileError",
            RemoteFault::Denied { .. }
            | RemoteFault::NoCredentials { .. }
            | RemoteFault::BadSettings { .. }
            | RemoteFault::Refused { .. }
            | RemoteFault::NotEncrypted { .. }
            | RemoteFault::BrokenOff { .. }
            | RemoteFault::NoRanges
            | RemoteFault::WholeTooLarge { .. } => "FileError",
            _ => "InputError",
        },
        Error::NoSuchFile { .. } | Error::NoMatch { .. } | Error::NoLogs { .. } => "MissingFileError",
        Error::NoRows { .. } => "NoRowsError",
        Error::Unreadable { .. }
        | Error::Damaged { .. }
        | Error::LongLine { .. }
        | Error::TooManyColumns { .. }
        | Error::TooLargeToRead { .. } => "FileError",
        Error::MissingSlot { .. } => "ColumnError",
        Error::WrongType { .. } => "DataTypeError",
        _ => "InputError",
    }
}
