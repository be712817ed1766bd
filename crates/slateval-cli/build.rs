//! Tells the command which target it was built for.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=SLATEVAL_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
