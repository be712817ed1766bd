//! The error process, ready to be drawn.
//! See docs/methods.md, sections 6.6 and 6.7.
//!
//! `e` and `D` are jointly normal. In each run of bins, the columns of the square root (Cholesky) of their covariance say
//! what they are in terms of one normal for each policy; what these leave of `D` is made of normals of its own.

use crate::correction::factors::Column;
use crate::interval::normals::{Stream, normals};
use crate::interval::process::{Covariances, GroupSums, Process, add_times, run_up};
use crate::interval::thinning::Thinning;
use crate::math::linear::{dot, square_root};

/// A process at the ends of runs of bins, as a linear function of independent normals.
#[derive(Debug)]
pub(crate) struct Drawable {
    /// `[member]`
    members: Vec<DrawnMember>,
    /// How many streams of normals the steps are made of.
    streams: usize,
    /// `[adjustment][stream][normal]`, `[adjustment][normal]`: what each normal is multiplied by in `D`.
    explained: Vec<Vec<Vec<f64>>>,
    rest: Vec<Vec<f64>>,
}

#[derive(Debug)]
struct DrawnMember {
    steps: Steps,
    /// `B_v` at each run's end, by the adjustment's place; of all others it is 0.
    slopes: Vec<(usize, Vec<f64>)>,
    /// `1 / (n (1 - d))`.
    scale: f64,
    /// How much further from 0 a path gets inside runs than at their ends, in the mean.
    missed: Vec<f64>,
}

/// The steps of a path, in terms of normals.
#[derive(Debug)]
pub(crate) enum Steps {
    /// `[stream][run]`: what the run's normal is multiplied by.
    OfRuns(Vec<Vec<f64>>),
    /// `[group][run]`: what the group's normal is multiplied by.
    OfGroups(Vec<Vec<f64>>),
}

impl Steps {
    /// How many normals of each stream a draw takes.
    pub(crate) fn normals(&self) -> usize {
        match self {
            Steps::OfRuns(scales) => scales[0].len(),
            Steps::OfGroups(sums) => sums.len(),
        }
    }

    /// The steps that follow from `[stream][normal]`.
    pub(crate) fn drawn(&self, normals: &[Vec<f64>]) -> Vec<f64> {
        match self {
            Steps::OfRuns(scales) => {
                let mut steps: Vec<f64> = scales[0].iter().zip(&normals[0]).map(|(scale, z)| scale * z).collect();
                for (scales, normals) in scales.iter().zip(normals).skip(1) {
                    steps.iter_mut().zip(scales).zip(normals).for_each(|((step, scale), z)| *step += scale * z);
                }
                steps
            }
            Steps::OfGroups(sums) => {
                let mut steps = vec![0.0; sums[0].len()];
                sums.iter().zip(&normals[0]).for_each(|(sums, z)| add_times(&mut steps, *z, sums));
                steps
            }
        }
    }
}

impl Drawable {
    /// The process at the ends of runs of bins.
    pub(crate) fn new(process: &Process, thinning: &Thinning) -> Self {
        let mut this = match &process.groups {
            Some(groups) => Self::of_groups(groups, thinning),
            None => Self::of_rows(&process.covariances, thinning),
        };
        for (m, member) in this.members.iter_mut().enumerate() {
            member.scale = process.inflation[m] / process.n;
            member.missed.iter_mut().for_each(|missed| *missed *= member.scale);
            let own = process.slopes[m].iter().enumerate();
            member.slopes = own.filter_map(|(a, slopes)| Some((a, thinning.at_ends(slopes.as_ref()?)))).collect();
        }
        this
    }

    /// Members are taken in reverse: the errors of the last one do not depend on the others. So the logging policy, which
    /// stands last, has the same draws beside every target.
    fn of_rows(covariances: &Covariances, thinning: &Thinning) -> Self {
        let Covariances { weights, products, adjustments } = covariances;
        let (members, runs) = (weights.len(), thinning.len());
        let sums = |columns: &[Column]| columns.iter().map(|column| thinning.sums(column)).collect::<Vec<_>>();
        let q: Vec<Vec<Vec<f64>>> = weights.iter().rev().map(|rights| sums(rights)).collect();
        let c: Vec<Vec<Vec<f64>>> = products.iter().rev().map(|own| sums(own)).collect();
        let all = members + adjustments.len();
        let mut steps = vec![vec![vec![0.0; runs]; members]; members];
        let mut explained = vec![vec![vec![0.0; runs]; members]; adjustments.len()];
        for run in 0..runs {
            let mut joint = vec![vec![0.0; all]; all];
            // Nothing is left over of the adjustments themselves: other runs have their share in them.
            let mut scale = vec![f64::INFINITY; all];
            for i in 0..members {
                (0..members).for_each(|j| joint[i][j] = q[i][members - 1 - j][run]);
                (0..adjustments.len()).for_each(|a| joint[members + a][i] = c[i][a][run]);
                scale[i] = joint[i][i];
            }
            for (stream, column) in square_root(&joint, &scale).iter().take(members).enumerate() {
                (0..members).for_each(|i| steps[members - 1 - i][stream][run] = column[i]);
                (0..adjustments.len()).for_each(|a| explained[a][stream][run] = column[members + a]);
            }
        }
        let scale: Vec<f64> = adjustments.iter().enumerate().map(|(i, row)| row[i]).collect();
        let mut rest = adjustments.clone();
        for (row, a) in rest.iter_mut().zip(&explained) {
            for (v, b) in row.iter_mut().zip(&explained) {
                *v -= a.iter().zip(b).map(|(a, b)| dot(a, b)).sum::<f64>();
            }
        }
        let root = square_root(&rest, &scale);
        let rest = (0..scale.len()).map(|a| root.iter().map(|column| column[a]).collect()).collect();
        let member = |(m, steps): (usize, Vec<Vec<f64>>)| {
            let missed = thinning.missed(&weights[m][m], &q[members - 1 - m][m]);
            DrawnMember { steps: Steps::OfRuns(steps), slopes: Vec::new(), scale: 1.0, missed }
        };
        let members: Vec<DrawnMember> = steps.into_iter().enumerate().map(member).collect();
        Drawable { streams: members.len(), members, explained, rest }
    }

    /// Each group of clusters has one normal, whose multiples all members move by.
    fn of_groups(groups: &GroupSums, thinning: &Thinning) -> Self {
        let squares = |by_group: &[Vec<f64>]| {
            let mut sums = vec![0.0; by_group[0].len()];
            by_group.iter().for_each(|own| sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x * x));
            sums
        };
        let member = |by_group: &Vec<Vec<f64>>| {
            let of_runs: Vec<Vec<f64>> = by_group.iter().map(|sums| thinning.sums(sums)).collect();
            let missed = thinning.missed(&squares(by_group), &squares(&of_runs));
            DrawnMember { steps: Steps::OfGroups(of_runs), slopes: Vec::new(), scale: 1.0, missed }
        };
        let count = groups.adjustments[0].len();
        let explained = (0..count).map(|a| vec![groups.adjustments.iter().map(|by| by[a]).collect()]).collect();
        Drawable {
            members: groups.weights.iter().map(member).collect(),
            streams: 1,
            explained,
            rest: vec![Vec::new(); count],
        }
    }

    /// How much further from 0 a member's path gets inside runs than at their ends, in the mean.
    pub(crate) fn missed(&self, member: usize) -> &[f64] {
        &self.members[member].missed
    }

    /// `W` of each member at the ends of runs: `[sum_{b <= v} e_b - B_v' D] / (n (1 - d))`.
    pub(crate) fn draw(&self, seed: u64, draw: usize) -> Vec<Vec<f64>> {
        let steps = |stream| normals(seed, Stream::Steps(stream), draw, self.members[0].steps.normals());
        let steps: Vec<Vec<f64>> = (0..self.streams).map(steps).collect();
        let left = normals(seed, Stream::Rest, draw, self.rest[0].len());
        let known = |own: &Vec<Vec<f64>>| own.iter().zip(&steps).map(|(own, z)| dot(own, z)).sum::<f64>();
        let shift = self.explained.iter().zip(&self.rest).map(|(own, rest)| known(own) + dot(rest, &left));
        let shift: Vec<f64> = shift.collect();
        let path = |member: &DrawnMember| {
            let mut path = run_up(member.steps.drawn(&steps));
            member.slopes.iter().for_each(|(a, slopes)| add_times(&mut path, -shift[*a], slopes));
            path.iter_mut().for_each(|w| *w *= member.scale);
            path
        };
        self.members.iter().map(path).collect()
    }
}
