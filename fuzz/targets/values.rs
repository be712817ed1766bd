//! Values as they are typed, one on each line: each is refused, or written as it can be read again.
#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use slateval::{Band, Binning, CorrectionChoice, Day, PropensitySource, Structure, Tail, TargetSlots};
use slateval_logs::OnBad;
use slateval_sim::{Gain, Policy};

fuzz_target!(|lines: &str| {
    for text in lines.lines() {
        leads_back::<Structure>(text);
        leads_back::<Binning>(text);
        leads_back::<CorrectionChoice>(text);
        leads_back::<Day>(text);
        leads_back::<PropensitySource>(text);
        leads_back::<TargetSlots>(text);
        leads_back::<Tail>(text);
        leads_back::<Band>(text);
        leads_back::<OnBad>(text);
        leads_back::<Gain>(text);
        leads_back::<Policy>(text);
    }
});

fn leads_back<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    assert_eq!(value.to_string().parse().ok(), Some(value), "{text}");
}
