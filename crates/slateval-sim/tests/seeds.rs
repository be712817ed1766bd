//! A seed gives the same rows, whoever draws them and in how many pieces.
#![allow(clippy::unwrap_used)]

mod common;

use common::simulation;
use slateval_sim::{Cascade, Mixed, Player, Policy, Purpose, Rows, Simulation};

fn simulations() -> Vec<Simulation> {
    let targets = [Policy::Deterministic, Policy::Softmax { scale: 2.0 }];
    vec![
        simulation(Mixed::additive(3, 4, 1).unwrap(), Policy::Uniform, &targets),
        simulation(Mixed::pairwise(3, 4, 1, Policy::Uniform, None).unwrap(), Policy::Ranking, &[Policy::Ranking]),
        simulation(Cascade::new(3, 4, 1).unwrap(), Policy::Softmax { scale: 1.0 }, &targets),
    ]
}

/// All numbers of some rows.
fn numbers(rows: &Rows) -> Vec<Vec<f64>> {
    let mut all = vec![rows.reward.clone(), rows.context.iter().map(|&c| c as f64).collect()];
    all.extend(rows.items.iter().map(|column| column.iter().map(|&a| f64::from(a)).collect()));
    all.extend(rows.mu.clone());
    for target in &rows.targets {
        all.extend(target.pi.iter().chain(&target.chi).chain(&target.anywhere).cloned());
    }
    all
}

#[test]
fn rows_do_not_depend_on_the_pieces() {
    const CHUNK: usize = Simulation::CHUNK as usize;
    for simulation in simulations() {
        let (mut whole, mut piece) = (Rows::default(), Rows::default());
        for chunk in 0..2 {
            simulation.log_from(5, chunk).draw(CHUNK, &mut whole);
            let whole = numbers(&whole);
            let mut seen = 0;
            let mut log = simulation.log_from(5, chunk);
            while seen < CHUNK {
                log.draw(700, &mut piece);
                for (whole, piece) in whole.iter().zip(numbers(&piece)) {
                    assert_eq!(whole[seen..seen + piece.len()], piece);
                }
                seen += piece.len();
            }
            assert_eq!(seen, CHUNK, "a piece ends where its chunk does");
        }
    }
}

#[test]
fn a_log_goes_on_from_chunk_to_chunk() {
    for simulation in simulations() {
        let (mut rows, mut later) = (Rows::default(), Rows::default());
        let mut log = simulation.log(5);
        log.draw(usize::MAX, &mut rows);
        assert_eq!(rows.len() as u64, Simulation::CHUNK);
        log.draw(100, &mut rows);
        simulation.log_from(5, 1).draw(100, &mut later);
        assert_eq!(numbers(&rows), numbers(&later));
        simulation.log(6).draw(100, &mut later);
        assert_ne!(numbers(&rows), numbers(&later));
    }
}

#[test]
fn threads_change_nothing() {
    for simulation in simulations() {
        let sample = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| simulation.sample(Player::Target(0), 30_000, 3, Purpose::Truth))
        };
        assert_eq!(sample(1), sample(4));
    }
}
