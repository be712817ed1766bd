//! Pictures as SVG. One drawing serves the page, where style sheets colour it, and files, which carry their colours.

mod canvas;
mod cdf;
mod dots;
mod frame;
mod levels;
mod lines;
mod scale;
mod thin;
mod weights;

pub(crate) use canvas::{Canvas, Ink, Place, Role, swatch};
pub(crate) use cdf::{CdfChart, Curve, reward_range};
pub(crate) use dots::interval_bar;
pub(crate) use frame::{Size, Titles};
pub(crate) use levels::{Difference, LevelChart, Series};
pub(crate) use lines::{Line, LineChart};
pub(crate) use thin::{at, by_arc_length, thinned_together};
pub(crate) use weights::WeightChart;
