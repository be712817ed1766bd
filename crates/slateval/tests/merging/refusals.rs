//! What is no summary, no part of the same summary, or no slate is refused.

use slateval::{Binning, Block, Error, Field, Spec, Structure, Summary};

use crate::common::{self, Slate, contextual_log, quick, summarise};
#[test]
fn summaries_of_different_things_do_not_merge() {
    let additive = Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap();
    let mut product = Summary::new(Spec::new(Structure::Product, ["old", "new"]).by("day")).unwrap();
    let Err(Error::Mismatch(differences)) = product.merge(&additive) else { panic!("they do not fit") };
    assert_eq!(differences.len(), 3);
    let log = |capacity| {
        Spec::new(Structure::Additive, ["new"]).with_binning(Binning { capacity, scale: slateval::Scale::Log })
    };
    assert!(Summary::new(log(100)).unwrap().merge(&Summary::new(log(4096)).unwrap()).is_err());
    let names = |names: &[&str]| Summary::new(Spec::new(Structure::Additive, names.iter().copied())).unwrap();
    assert!(names(&["a, b"]).merge(&names(&["a", "b"])).is_err());
    assert!(differences[0].contains("product against additive"));
}

/// A file that was cut, changed or made elsewhere is refused, never misread.
#[test]
fn damaged_bytes_are_refused() {
    let spec = Spec::new(Structure::Additive, ["new"]).with_chi();
    let bytes = summarise(&spec, &contextual_log(26, 200, 3, 3)).to_bytes();
    assert!(Summary::from_bytes(&bytes).is_ok());
    for length in [0, 3, 8, 15, 20, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(Summary::from_bytes(&bytes[..length]), Err(Error::Format(_))), "{length}");
    }
    for at in (0..bytes.len()).step_by(97) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(matches!(Summary::from_bytes(&changed), Err(Error::Format(_))), "{at}");
    }
}

/// A header that was edited, with a checksum to match, is refused too: no panic, no terabyte.
#[test]
fn crafted_bytes_are_refused() {
    let spec = Spec::new(Structure::Additive, ["new"]);
    let bytes = summarise(&spec, &contextual_log(36, 5000, 2, 3)).to_bytes();
    let length = u64::from_le_bytes(bytes[12..20].try_into().unwrap()) as usize;
    let header = String::from_utf8(bytes[20..20 + length].to_vec()).unwrap();
    let craft = |from: &str, to: &str| {
        assert!(header.contains(from), "{from} in {header}");
        let header = header.replace(from, to);
        let mut crafted = bytes[..12].to_vec();
        crafted.extend((header.len() as u64).to_le_bytes());
        crafted.extend(header.as_bytes());
        crafted.extend(&bytes[20 + length..bytes.len() - 4]);
        let checksum = crc32fast::hash(&crafted);
        crafted.extend(checksum.to_le_bytes());
        crafted
    };
    assert!(Summary::from_bytes(&craft("\"rows\":5000", "\"rows\":5000")).is_ok());
    for (from, to) in [
        ("\"rows\":5000", "\"rows\":4999"),
        ("\"slots\":2", "\"slots\":131072"),
        ("\"slots\":2", "\"slots\":3"),
        ("\"capacity\":4096", "\"capacity\":18446744073709551615"),
        ("\"capacity\":4096", "\"capacity\":16"),
        ("\"scale\":\"linear\"", "\"scale\":\"log\""),
        ("\"width\":", "\"shift\":"),
        ("\"width\":", "\"width\":10"),
        ("\"name\":\"new\"", "\"name\":\"logging\""),
        ("additive", "ranking:1"),
    ] {
        let crafted = craft(from, to);
        // Some of these are summaries that could exist; none may panic, here or when evaluated.
        if let Ok(summary) = Summary::from_bytes(&crafted) {
            let _ = summary.evaluate(&quick());
        }
    }
    let input = |groups: &str, rows: &str| {
        let digits = "\"fingerprint\":\"1\",\"digest\":\"1\"";
        format!("{{\"name\":\"a\",\"bytes\":1,{digits},\"row_groups\":{groups},\"rows\":{rows}}}")
    };
    let with =
        |inputs: &[String]| craft("\"segments\":[]", &format!("\"segments\":[],\"inputs\":[{}]", inputs.join(",")));
    assert_eq!(Summary::from_bytes(&with(&[input("[0,1]", "2"), input("[1,2]", "3")])).unwrap().inputs()[0].rows, 5);
    for refused in [input("[5,2]", "1"), input("null", "5001"), input("[0,1]", "18446744073709551615")] {
        assert!(Summary::from_bytes(&with(&[refused])).is_err());
    }
    assert!(Summary::from_bytes(&craft("\"rows\":5000", "\"rows\":4999")).is_err());
    assert!(Summary::from_bytes(&craft("\"slots\":2", "\"slots\":131072")).is_err());
}

#[test]
fn bad_values_are_named() {
    let slates = contextual_log(27, 10, 2, 3);
    let refuse = |change: &dyn Fn(&mut Block)| {
        let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap();
        let mut block = Block::new(summary.spec());
        block.reset(slates.len(), 2);
        for (i, slate) in slates.iter().enumerate() {
            block.column_mut(Field::Reward)[i] = slate.reward;
            for slot in 0..2 {
                block.column_mut(Field::Logging { slot })[i] = slate.mu[slot];
                block.column_mut(Field::Target { policy: 0, slot })[i] = slate.pi[slot];
            }
        }
        change(&mut block);
        summary.add(&block)
    };
    let mu = Field::Logging { slot: 1 };
    let pi = Field::Target { policy: 0, slot: 0 };
    for (field, value) in [
        (Field::Reward, f64::NAN),
        (Field::Reward, f64::INFINITY),
        (mu, 0.0),
        (mu, -0.1),
        (mu, 1.1),
        (mu, f64::NAN),
        (pi, -1e-9),
        (pi, 1.01),
        (pi, f64::NAN),
    ] {
        let error = refuse(&|block| block.column_mut(field)[7] = value).unwrap_err();
        let Error::BadValue { row: 7, field: found, value: shown, .. } = error else { panic!("{error}") };
        assert_eq!(found, field);
        assert!(shown == value || value.is_nan());
    }
    // Single precision rounds 1 up a little.
    assert!(refuse(&|block| block.column_mut(mu)[7] = 1.0 + 1e-7).is_ok());
    // A propensity of almost nothing is legal, but its square is no number.
    let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap();
    common::add(&mut summary, &[Slate { reward: 1.0, mu: vec![1e-300], pi: vec![0.5], chi: vec![] }]);
    let error = summary.evaluate(&quick()).unwrap_err();
    assert!(error.to_string().contains("1e-300"), "{error}");
    let mut slates = contextual_log(37, 100, 2, 3);
    slates[50].reward = 1e100;
    let summary = summarise(&Spec::new(Structure::Additive, ["new"]), &slates);
    let error = summary.evaluate(&quick()).unwrap_err();
    assert!(error.to_string().contains("reward of 1e100"), "{error}");
    assert_eq!(Summary::new(Spec::new(Structure::Additive, ["new"])).unwrap().evaluate(&quick()), Err(Error::NoRows));
}
