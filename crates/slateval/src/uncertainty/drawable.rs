//! The error process, ready to be drawn: many draws side by side.
//! See docs/methods.md, sections 6.6 and 6.7.

use crate::estimate::factors::Column;
use crate::math::linear::{dot, square_root};
use crate::math::normals::Side;
use crate::math::paths::{Columns, run_up, walk};
use crate::uncertainty::normals::{Normals, Stream};
use crate::uncertainty::process::{Covariances, GroupSums, Process};
use crate::uncertainty::thinning::Thinning;

/// A process at the ends of runs of bins, as a linear function of independent normals.
#[derive(Debug)]
pub(crate) struct Drawable {
    runs: usize,
    members: Vec<DrawnMember>,
    source: Source,
}

/// One member's share in it. Everything is scaled so that the path comes out as `W`.
#[derive(Debug)]
struct DrawnMember {
    steps: Steps,
    /// `-B_v` at each run's end, of the adjustments with these places; of all others it is 0.
    slopes: Columns,
    adjustments: Vec<usize>,
    /// How much further from 0 a path gets inside runs than at their ends, in the mean.
    missed: Vec<f64>,
}

/// What the steps `e_b` of a path are, in terms of normals.
#[derive(Debug)]
enum Steps {
    /// `[stream][run]`: what each normal is multiplied by.
    OfNormals(Vec<Vec<f64>>),
    /// Of each run, what each group's normal is multiplied by.
    OfGroups(Columns),
}

/// Where `D` comes from.
#[derive(Debug)]
enum Source {
    /// Columns for each adjustment: for each stream, what follows from its normals, and what follows from those of the rest.
    Rows { explained: Vec<Columns>, rest: Columns },
    /// A column for each adjustment, with a row for each group.
    Groups(Columns),
}

/// Buffers for draws.
#[derive(Debug, Default)]
pub(crate) struct DrawScratch {
    normals: Vec<Vec<Side>>,
    rest: Vec<Side>,
    /// `D` of each draw.
    shift: Vec<Side>,
    chosen: Vec<Side>,
}

impl Drawable {
    /// The process at the ends of runs of bins.
    pub(crate) fn new(process: &Process, thinning: &Thinning) -> Self {
        let (steps, source, variances) = match &process.groups {
            Some(groups) => of_groups(groups, thinning),
            None => of_rows(&process.covariances, thinning),
        };
        let member = |(m, (steps, missed)): (usize, (Vec<Vec<f64>>, Vec<f64>))| {
            let scale = process.inflation[m] / process.n;
            let steps: Vec<Vec<f64>> = steps.into_iter().map(|column| scaled(column, scale)).collect();
            let own =
                |(a, slopes): (usize, &Option<Vec<f64>>)| Some((a, scaled(thinning.at_ends(slopes.as_ref()?), -scale)));
            let (adjustments, slopes): (Vec<usize>, Vec<Vec<f64>>) =
                process.slopes[m].iter().enumerate().filter_map(own).unzip();
            DrawnMember {
                steps: match &source {
                    Source::Rows { .. } => Steps::OfNormals(steps),
                    Source::Groups(_) => Steps::OfGroups(Columns::new(&steps)),
                },
                slopes: Columns::new(&slopes),
                adjustments,
                missed: scaled(missed, scale),
            }
        };
        let missed = variances.iter().map(|(of_bins, of_runs)| thinning.missed(of_bins, of_runs));
        let members = steps.into_iter().zip(missed).enumerate().map(member).collect();
        Drawable { runs: thinning.len(), members, source }
    }

    /// How much further from 0 a member's path gets inside runs than at their ends, in the mean.
    pub(crate) fn missed(&self, member: usize) -> &[f64] {
        &self.members[member].missed
    }

    /// Draws `W` of the wanted members into `paths`, a block of draws at once.
    pub(crate) fn draw(
        &self,
        normals: &Normals,
        block: usize,
        wanted: &[usize],
        scratch: &mut DrawScratch,
        paths: &mut [Vec<Side>],
    ) {
        let DrawScratch { normals: buffers, rest: rest_buffer, shift, chosen } = scratch;
        let streams = self.streams();
        buffers.resize_with(streams, Vec::new);
        let places = match &self.source {
            Source::Rows { .. } => self.runs,
            Source::Groups(adjustments) => adjustments.rows(),
        };
        let steps: Vec<&[Side]> = buffers
            .iter_mut()
            .enumerate()
            .map(|(stream, buffer)| normals.block(Stream::Steps(stream), block, places, buffer))
            .collect();
        shift.clear();
        match &self.source {
            Source::Rows { explained, rest } => {
                shift.resize(rest.len(), Side::default());
                explained.iter().zip(&steps).for_each(|(explained, rows)| explained.add_dots(rows, shift));
                rest.add_dots(normals.block(Stream::Rest, block, rest.rows(), rest_buffer), shift);
            }
            Source::Groups(adjustments) => {
                shift.resize(adjustments.len(), Side::default());
                adjustments.add_dots(steps[0], shift);
            }
        }
        for (&member, path) in wanted.iter().zip(paths) {
            let member = &self.members[member];
            path.resize(self.runs, Side::default());
            member.steps.walk(&steps, path);
            chosen.clear();
            chosen.extend(member.adjustments.iter().map(|&a| shift[a]));
            member.slopes.add_to(chosen, path);
        }
    }

    fn streams(&self) -> usize {
        match &self.source {
            Source::Rows { explained, .. } => explained.len(),
            Source::Groups(_) => 1,
        }
    }
}

/// What each member's steps are made of, where `D` comes from, and the variances of each member's steps in bins and in runs.
type Parts = (Vec<Vec<Vec<f64>>>, Source, Vec<(Column, Vec<f64>)>);

/// Members are taken in reverse: what the last one's error is made of does not depend on who stands before it. So the
/// logging policy, which stands last, has the same draws beside every target.
fn of_rows(covariances: &Covariances, thinning: &Thinning) -> Parts {
    let Covariances { weights, products, adjustments } = covariances;
    let members = weights.len();
    let sums = |columns: &[Column]| columns.iter().map(|c| thinning.sums(c)).collect::<Vec<_>>();
    let of_runs: Vec<Vec<Vec<f64>>> = weights.iter().map(|rights| sums(rights)).collect();
    let (mut roots, mut explained) = (vec![Vec::new(); members], Vec::<Vec<Vec<f64>>>::new());
    for m in (0..members).rev() {
        let own = pivots(&of_runs[m][m], &roots[m]);
        let explain = |(a, product): (usize, Vec<f64>)| {
            let known: Vec<&[f64]> = explained.iter().map(|known| known[a].as_slice()).collect();
            left_over(&product, &roots[m], &known, &own)
        };
        let by_adjustment = sums(&products[m]).into_iter().enumerate().map(explain).collect();
        explained.push(by_adjustment);
        for other in 0..m {
            let known: Vec<&[f64]> = roots[m].iter().map(Vec::as_slice).collect();
            let root = left_over(&of_runs[other][m], &roots[other], &known, &own);
            roots[other].push(root);
        }
        roots[m].push(own);
    }
    let scale: Vec<f64> = adjustments.iter().enumerate().map(|(i, row)| row[i]).collect();
    let mut rest = adjustments.clone();
    for (i, row) in rest.iter_mut().enumerate() {
        for (j, v) in row.iter_mut().enumerate() {
            *v -= explained.iter().map(|by| dot(&by[i], &by[j])).sum::<f64>();
        }
    }
    let root = square_root(&rest, &scale);
    let by_adjustment: Vec<Vec<f64>> =
        (0..scale.len()).map(|a| root.iter().map(|column| column[a]).collect()).collect();
    let explained = explained.iter().map(|by| Columns::new(by)).collect();
    let variances = (0..members).map(|m| (weights[m][m].clone(), of_runs[m][m].clone())).collect();
    (roots, Source::Rows { explained, rest: Columns::new(&by_adjustment) }, variances)
}

/// Cholesky, a column for each entry of a matrix and a row for each run. The square root of what others leave of a
/// member's variance; 0 where they leave nothing but rounding.
fn pivots(variances: &[f64], roots: &[Vec<f64>]) -> Vec<f64> {
    let pivot = |(run, &variance): (usize, &f64)| {
        let left = variance - roots.iter().map(|root| root[run] * root[run]).sum::<f64>();
        if left > 1e-12 * variance { left.sqrt() } else { 0.0 }
    };
    variances.iter().enumerate().map(pivot).collect()
}

/// What others leave of a covariance with a member, in terms of its own normals.
fn left_over(covariances: &[f64], roots: &[Vec<f64>], known: &[&[f64]], own: &[f64]) -> Vec<f64> {
    let left = |(run, (covariance, own)): (usize, (&f64, &f64))| {
        let others: f64 = roots.iter().zip(known).map(|(root, known)| root[run] * known[run]).sum();
        if *own > 0.0 { (covariance - others) / own } else { 0.0 }
    };
    covariances.iter().zip(own).enumerate().map(left).collect()
}

/// Each group of clusters has one normal, whose multiples all members move by.
fn of_groups(groups: &GroupSums, thinning: &Thinning) -> Parts {
    let (mut steps, mut variances) = (Vec::new(), Vec::new());
    let add_squares = |sums: &mut [f64], values: &[f64]| sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += x * x);
    for by_group in &groups.weights {
        let mut of_bins = vec![0.0; by_group[0].len()];
        let (mut of_runs, mut by_run) = (vec![0.0; thinning.len()], vec![Vec::new(); thinning.len()]);
        for weights in by_group {
            let sums = thinning.sums(weights);
            add_squares(&mut of_bins, weights);
            add_squares(&mut of_runs, &sums);
            by_run.iter_mut().zip(sums).for_each(|(column, sum)| column.push(sum));
        }
        steps.push(by_run);
        variances.push((Column::Made(of_bins.into()), of_runs));
    }
    let column = |a: usize| groups.adjustments.iter().map(|by| by[a]).collect();
    let adjustments: Vec<Vec<f64>> = (0..groups.adjustments[0].len()).map(column).collect();
    (steps, Source::Groups(Columns::new(&adjustments)), variances)
}

fn scaled(mut values: Vec<f64>, by: f64) -> Vec<f64> {
    values.iter_mut().for_each(|x| *x *= by);
    values
}

impl Steps {
    /// Writes paths over whatever was there.
    fn walk(&self, normals: &[&[Side]], path: &mut [Side]) {
        match self {
            Steps::OfGroups(columns) => {
                path.fill(Side::default());
                columns.add_dots(normals[0], path);
                run_up(path);
            }
            Steps::OfNormals(scales) => match scales.as_slice() {
                [a] => walk([a], [normals[0]], path),
                [a, b] => walk([a, b], [normals[0], normals[1]], path),
                [a, b, c] => walk([a, b, c], [normals[0], normals[1], normals[2]], path),
                more => unreachable!("{} policies are never drawn together", more.len()),
            },
        }
    }
}
