//! What signals do: a run that is stopped leaves no temporary file behind.

/// Lets the signals that stop a run remove its temporary files first, and makes the one about a file that grows too large
/// an ordinary error of writing. A signal that the caller ignores, as `nohup` does, stays ignored.
#[cfg(unix)]
pub(crate) fn clean_up_when_stopped() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

    let large = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // A run without its handlers is a run nevertheless.
    let _ = signal_hook::flag::register(SIGXFSZ, large);
    let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) else { return };
    let wait = move || {
        for signal in signals.forever() {
            slateval_files::abandon();
            // Ends this process as the signal would have ended it.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
pub(crate) fn clean_up_when_stopped() {}

/// Whether a signal was ignored when this process began. Where the system does not tell, `nohup` may be at work.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}
