//! Packed summaries: the same bits back, whatever is kept, and never more than a refusal of odd bytes.
#![allow(clippy::unwrap_used)]

mod common;

use common::{contextual_log, quick, summarise};
use slateval::{Error, Segment, Slates, Spec, Structure, Summary};

#[test]
fn whatever_is_kept_comes_back() {
    let slates = contextual_log(41, 700, 4, 3);
    let mut specs = vec![
        Spec::new(Structure::Auto, ["new"]).with_chi(),
        Spec::new(Structure::Auto, ["new", "old"]).with_baseline("old"),
        Spec::new(Structure::Additive, ["new"]).with_chi(),
        Spec::new(Structure::Product, ["new", "old"]),
        Spec::new(Structure::Order(2), ["new"]),
        Spec::new(Structure::PaperOrder(2), ["new"]),
    ];
    let mut clustered = Spec::new(Structure::Auto, ["new", "old"]).with_chi().with_baseline("old");
    clustered.cluster = Some("user".into());
    clustered.interactions = true;
    specs.push(clustered);
    for spec in specs {
        for rows in [1, 90, 700] {
            let bytes = summarise(&spec, &slates[..rows]).to_bytes();
            let packed = Summary::from_bytes(&bytes).unwrap().to_packed().unwrap();
            assert_eq!(packed.len(), bytes.len());
            assert!(Summary::from_packed(&packed).unwrap().to_bytes() == bytes, "{} {rows}", spec.structure);
        }
    }
}

/// Sums of one row are foretold by its own numbers: what remains of them is hardly ever more than the last bits.
#[test]
fn sums_of_one_row_are_foretold() {
    let spec = Spec::new(Structure::Auto, ["new"]).with_chi();
    let summary = summarise(&spec, &contextual_log(42, 500, 5, 3));
    let zeros = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == 0).count() as f64 / bytes.len() as f64;
    let (plain, packed) = (zeros(&summary.to_bytes()), zeros(&summary.to_packed().unwrap()));
    assert!(plain < 0.15 && packed > 0.5, "{plain} {packed}");
}

#[test]
fn damaged_bytes_are_refused() {
    let spec = Spec::new(Structure::Auto, ["new"]).with_chi();
    let packed = summarise(&spec, &contextual_log(43, 200, 3, 3)).to_packed().unwrap();
    for length in [0, 3, 20, packed.len() / 2, packed.len() - 1] {
        assert!(matches!(Summary::from_packed(&packed[..length]), Err(Error::Format(_))), "{length}");
    }
    for at in (0..packed.len()).step_by(97) {
        let mut changed = packed.clone();
        changed[at] ^= 0x10;
        assert!(matches!(Summary::from_packed(&changed), Err(Error::Format(_))), "{at}");
    }
    // A plain summary is none, whatever its rows would be taken for.
    let plain = summarise(&spec, &contextual_log(43, 200, 3, 3)).to_bytes();
    assert!(Summary::from_packed(&plain).is_err());
}

#[test]
fn a_header_that_lies_is_refused() {
    let spec = Spec::new(Structure::Additive, ["new"]);
    let packed = summarise(&spec, &contextual_log(36, 300, 2, 3)).to_packed().unwrap();
    let length = u64::from_le_bytes(packed[12..20].try_into().unwrap()) as usize;
    let header = String::from_utf8(packed[20..20 + length].to_vec()).unwrap();
    for (from, to) in [
        ("\"slots\":2", "\"slots\":131072"),
        ("\"slots\":2", "\"slots\":3"),
        ("\"bins\":", "\"bins\":9"),
        ("\"bins\":", "\"bins\":99999999999999"),
    ] {
        assert!(header.contains(from), "{from} in {header}");
        let header = header.replace(from, to);
        let mut crafted = packed[..12].to_vec();
        crafted.extend((header.len() as u64).to_le_bytes());
        crafted.extend(header.as_bytes());
        crafted.extend(&packed[20 + length..packed.len() - 4]);
        crafted.extend(crc32fast::hash(&crafted).to_le_bytes());
        assert!(matches!(Summary::from_packed(&crafted), Err(Error::Format(_))), "{from} {to}");
    }
}

/// A thousand policies of hundreds of slots, in a file with room for the sums of one: refused before room is made for all.
#[test]
fn policies_that_the_bytes_cannot_hold_are_refused_at_once() {
    let policies: Vec<String> = (0..1000).map(|p| format!("{{\"name\":\"p{p}\",\"chi\":true}}")).collect();
    let header = format!(
        "{{\"schema\":\"slateval/summary/6\",\"written_by\":\"slateval\",\"spec\":{{\"structure\":\"auto\",\
         \"target_slots\":\"independent\",\"policies\":[{}],\"binning\":{{\"capacity\":8,\"scale\":\"linear\"}},\
         \"by\":null}},\"whole\":{{\"rows\":1,\"slots\":400,\"resolution\":\"exact\",\"bins\":1}},\"segments\":[]}}",
        policies.join(",")
    );
    let mut crafted = b"SLATEVAL\x06\0\0\0".to_vec();
    crafted.extend((header.len() as u64).to_le_bytes());
    crafted.extend(header.as_bytes());
    crafted.resize(crafted.len() + 2_000_000, 0);
    crafted.extend(crc32fast::hash(&crafted).to_le_bytes());
    let refused = Summary::from_packed(&crafted).unwrap_err().to_string();
    assert!(refused.contains("cut short"), "{refused}");
}

/// One question more costs one part of the log, and has the answer of the whole evaluation.
#[test]
fn parts_say_what_the_evaluation_says() {
    let slates = contextual_log(44, 900, 3, 3);
    let reward: Vec<f64> = slates.iter().map(|slate| slate.reward).collect();
    let mu: Vec<Vec<f64>> = slates.iter().map(|slate| slate.mu.clone()).collect();
    let pi: Vec<Vec<f64>> = slates.iter().map(|slate| slate.pi.clone()).collect();
    let device: Vec<Segment> = (0..900).map(|row| Segment::Int(row % 2)).collect();
    let log = Slates::new(&reward).logging(&mu).target("new", &pi).by("device", &device);
    let settings = quick().with_quantiles([0.9]).with_alphas([0.02]);
    let summary = log.summary().unwrap();
    let all = summary.evaluate(&settings).unwrap();
    let whole = summary.evaluate_part(None, &settings).unwrap();
    assert_eq!((&whole.log, &whole.policies, &whole.comparisons), (&all.log, &all.policies, &all.comparisons));
    for segment in &all.segments {
        let part = summary.evaluate_part(Some(&segment.value), &settings).unwrap();
        assert_eq!((&part.policies, &part.comparisons), (&segment.policies, &segment.comparisons));
        assert_eq!(part.log.rows, segment.rows);
    }
    assert!(matches!(summary.evaluate_part(Some(&Segment::Int(7)), &settings), Err(Error::BadSetting { .. })));
}
