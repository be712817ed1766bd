//! The native part of the Python package `slateval`: it turns Python's data into Arrow record batches, calls the
//! libraries with the interpreter released, and hands plain values back. What users see is written in Python, in
//! `python/slateval`.

mod arrays;
mod errors;
mod evaluated;
mod ffi;
mod inspect;
mod packed;
mod policies;
mod request;
mod sim;
mod source;
mod summary;
mod table;
mod tasks;
mod watch;

use pyo3::prelude::*;

/// The native part of slateval.
#[pymodule]
fn _slateval(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<summary::Summary>()?;
    module.add_class::<evaluated::Evaluated>()?;
    module.add_class::<tasks::Merger>()?;
    module.add_function(wrap_pyfunction!(inspect::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::inspect_summary, module)?)?;
    module.add_function(wrap_pyfunction!(errors::redacted, module)?)?;
    module.add_function(wrap_pyfunction!(errors::redacted_text, module)?)?;
    module.add_function(wrap_pyfunction!(evaluated::write_svg, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::plan, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::partial, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::check_batches, module)?)?;
    module.add_function(wrap_pyfunction!(policies::pseudo_inverse, module)?)?;
    module.add_function(wrap_pyfunction!(policies::ranker_marginals, module)?)?;
    module.add_function(wrap_pyfunction!(sim::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(shown, module)?)?;
    Ok(())
}

/// Text from data as messages show it.
#[pyfunction]
fn shown(text: &str) -> String {
    slateval::shown(text).into_owned()
}
