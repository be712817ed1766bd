//! `slateval --version --verbose`: how this command was built, and what the machine has.

use std::ffi::OsString;

/// Whether the arguments ask for the version in detail. The parser stops at `--version`, whatever follows.
pub(crate) fn is_asked_for(mut arguments: Vec<OsString>) -> bool {
    arguments.sort();
    arguments == ["--verbose", "--version"] || arguments == ["--verbose", "-V"]
}

pub(crate) fn verbose() -> String {
    let features = [
        ("object-store", slateval_logs::READS_OBJECTS),
        ("png", cfg!(feature = "png")),
        ("simulators", cfg!(feature = "simulators")),
    ];
    let features: Vec<&str> = features.into_iter().filter_map(|(name, built)| built.then_some(name)).collect();
    format!(
        "slateval {}\ntarget: {}\nfeatures: {}\nvector instructions: {}\nsummary files: version 6\nthreads: {}\n",
        env!("CARGO_PKG_VERSION"),
        env!("SLATEVAL_TARGET"),
        or_none(&features),
        or_none(&vector_instructions()),
        std::thread::available_parallelism().map_or(1, usize::from),
    )
}

fn or_none(words: &[&str]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// Those that the estimators have code for, where this machine has them.
#[cfg(target_arch = "x86_64")]
fn vector_instructions() -> Vec<&'static str> {
    let both = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    if both { vec!["avx2", "fma"] } else { vec![] }
}

#[cfg(not(target_arch = "x86_64"))]
fn vector_instructions() -> Vec<&'static str> {
    vec![]
}
