//! Mistakes in a rules file: where they are, and what to write instead.
#![allow(clippy::unwrap_used)]

use slateval::{Spec, Structure};
use slateval_gate::Rules;

/// The first mistake, as it is shown.
fn mistake(text: &str) -> String {
    let spec = Spec::new(Structure::Additive, ["new", "bolder"]);
    let refused = Rules::parse(text, "rules.toml").and_then(|rules| rules.check_for(&spec));
    refused.expect_err(text).to_string()
}

#[test]
fn mistakes_have_a_place() {
    for (text, expected) in [
        ("", "1:1: there are no rules"),
        ("confidence = 0.95\n", "2:1: there are no rules"),
        ("[[rule]]\nrequire = 'men(new) > 0'\n", "2:12: there is no function `men`; did you mean `mean`?"),
        ("[[rule]]\nrequire = \"mean(\\\"new\\\") => 0\"\n", "2:26: write >= in place of =>"),
        ("[[rule]]\nrequire = 'mean(new)*mean(new) > 0'\n", "2:21: only linear"),
        ("[[rule]]\nrequire = '''\nmean(new) >\n  cvar(new 0.1)'''\n", "4:12: a comma is missing"),
        ("[[rule]]\nrequire = 'mean(old) > 0'\n", "2:17: there is no policy `old`, only `logging`, `new`, `bolder`"),
        ("[[rule]]\nname = 'x'\n", "1:1: this rule has no `require`"),
        ("[[rule]]\nrequire = 3\n", "2:11: `require` must be text in quotes, and this is a number"),
        ("[[rule]]\nrequires = 'mean(new) > 0'\n", "2:1: a rule has no key `requires`; did you mean `require`?"),
        ("[[rule]]\nrequire = 'mean(new) > 0'\njudge = 'ponit'\n", "3:9: `judge` must be \"bound\" or \"point\""),
        ("[[rule]]\nrequire = 'mean(new) > 0'\nsegments = 'all'\n", "3:12: `segments` must be \"each\"; leave it out"),
        ("[[rule]]\nrequire = 'mean(new) > 0'\nsegments = 'each'\n", "3:12: there are no segments: give --by"),
        ("adjust = 'holm'\n", "1:10: `adjust` must be \"none\" or \"bonferroni\""),
        (
            "confidence = 95\n",
            "1:14: `confidence`: a one-sided confidence must be above 0.5 and below 1; for 95% write 0.95",
        ),
        ("confidence = 0.5\n", "1:14: `confidence`"),
        ("confidence = true\n", "1:14: `confidence` must be a number"),
        ("[rule]\nrequire = 'mean(new) > 0'\n", "1:1: write [[rule]]"),
        ("[[rule]\n", "1:8: this is no TOML"),
    ] {
        let shown = mistake(text);
        assert!(shown.starts_with(&format!("rules.toml:{expected}")), "{text}\n{shown}");
        assert!(shown.ends_with('^'), "{shown}");
    }
}

#[test]
fn a_confidence_that_no_bound_can_have_is_refused() {
    assert!(Rules::check_confidence(0.95).is_ok());
    for confidence in [0.5, 1.0, 95.0, f64::NAN] {
        assert!(Rules::check_confidence(confidence).is_err(), "{confidence}");
    }
}
