//! Headers of summaries that somebody made up, with a checksum that fits: refused, or read in time.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use slateval::{Band, Binning, Settings, Slates, Spec, Structure, Summary};

const PREAMBLE: usize = 20;
const CHECKSUM: usize = 4;

/// A summary of 200 rows with so many different rewards.
fn summary(distinct: usize, bins: usize) -> Summary {
    let reward: Vec<f64> = (0..200).map(|i| 1.0 + (i % distinct) as f64 / 8.0).collect();
    let mu = vec![[0.5, 0.25]; reward.len()];
    let pi: Vec<[f64; 2]> = (0..reward.len()).map(|i| [0.1 + 0.04 * (i % 20) as f64, 0.25]).collect();
    let binning = Binning { capacity: bins, ..Binning::default() };
    let spec = Spec::new(Structure::Auto, ["new"]).with_binning(binning);
    let mut summary = Summary::new(spec).unwrap();
    Slates::new(&reward).logging(&mu).target("new", &pi).add_to(&mut summary).unwrap();
    summary
}

/// The same bytes with other words in the header.
fn crafted(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[12..PREAMBLE].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[PREAMBLE..PREAMBLE + length]).unwrap();
    assert!(header.contains(from), "{from} in {header}");
    let header = header.replacen(from, to, 1);
    let rest = &bytes[PREAMBLE + length..bytes.len() - CHECKSUM];
    let size = (header.len() as u64).to_le_bytes();
    let mut made = [&bytes[..12], &size, header.as_bytes(), rest].concat();
    made.extend(crc32fast::hash(&made).to_le_bytes());
    made
}

/// Whatever is read must be usable: evaluated, merged, written again.
fn is_dealt_with(bytes: &[u8], good: &Summary, what: &str) {
    let start = Instant::now();
    if let Ok(mut read) = Summary::from_bytes(bytes) {
        let _ = read.evaluate(&Settings::default().with_band(Band::None));
        let _ = read.merge(good);
        let _ = read.evaluate(&Settings::default().with_band(Band::None));
        read.to_bytes();
        let mut other = good.clone();
        let _ = other.merge(&read);
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{what}");
}

#[test]
fn numbers_that_somebody_made_up_take_no_time() {
    let (exact, one, binned) = (summary(20, 4096), summary(1, 4096), summary(150, 32));
    let binned_width = {
        let text = String::from_utf8_lossy(&binned.to_bytes()).into_owned();
        let at = text.find("\"width\":").unwrap();
        text[at..].split('}').next().unwrap().to_owned()
    };
    for width in ["0", "1", "-1", "1000", "-1020", "1001", "2147483647", "-2147483648", "63", "-63"] {
        let to = format!("{{\"width\":{width}}}");
        for good in [&exact, &one] {
            is_dealt_with(&crafted(&good.to_bytes(), "\"exact\"", &to), good, &to);
        }
        let other = format!("\"width\":{width}");
        if other == binned_width {
            continue;
        }
        let made = crafted(&binned.to_bytes(), &binned_width, &other);
        assert!(Summary::from_bytes(&made).is_err(), "bins of width 2^-({width}) in place of {binned_width}");
    }
    for (from, to) in [
        ("\"exact\"", "{\"shift\":0}"),
        ("\"exact\"", "{\"shift\":63}"),
        ("\"capacity\":4096", "\"capacity\":1"),
        ("\"capacity\":4096", "\"capacity\":0"),
        ("\"capacity\":4096", "\"capacity\":1099511627776"),
        ("\"capacity\":4096", "\"capacity\":18446744073709551615"),
        ("\"slots\":2", "\"slots\":0"),
        ("\"slots\":2", "\"slots\":3"),
        ("\"slots\":2", "\"slots\":1000000"),
        ("\"slots\":2", "\"slots\":18446744073709551615"),
        ("\"bins\":20", "\"bins\":0"),
        ("\"bins\":20", "\"bins\":1000000000"),
        ("\"bins\":20", "\"bins\":18446744073709551615"),
        ("\"rows\":200", "\"rows\":0"),
        ("\"rows\":200", "\"rows\":18446744073709551615"),
        ("\"structure\":\"auto\"", "\"structure\":\"order:1000000\""),
        ("\"structure\":\"auto\"", "\"structure\":\"ranking:18446744073709551615\""),
        ("\"structure\":\"auto\"", "\"structure\":\"interactions:1+1000000\""),
        ("\"structure\":\"auto\"", "\"structure\":\"paper-order:4000000000\""),
        ("\"cluster\":null", "\"cluster\":\"user\""),
        ("\"by\":null", "\"by\":\"x\""),
        ("\"interactions\":false", "\"interactions\":true"),
    ] {
        is_dealt_with(&crafted(&exact.to_bytes(), from, to), &exact, to);
    }
}

/// Sums of them would overflow.
#[test]
fn more_left_out_than_any_log_has_is_refused() {
    let good = summary(20, 4096);
    let most =
        "\"counts\":[{\"reason\":\"unreadable-file\",\"rows\":18446744073709551615,\"files\":18446744073709551615}]";
    let skipped = format!("\"skipped\":{{{most},\"examples\":[],\"files\":[]}},\"spec\"");
    let made = crafted(&good.to_bytes(), "\"spec\"", &skipped);
    let refusal = Summary::from_bytes(&made).unwrap_err().to_string();
    assert!(refusal.contains("what was left out of it"), "{refusal}");
}
