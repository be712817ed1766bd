//! Pictures as SVG. One drawing serves the page, where style sheets colour it, and files, which carry their colours.

mod canvas;
mod cdf;
mod frame;
mod levels;
mod lines;
mod scale;
mod thin;
mod weights;

pub(crate) use canvas::{Canvas, Ink, Place, Role, swatch};
pub(crate) use cdf::{CdfChart, Curve, reward_range};
pub(crate) use frame::{Chart, Size, Titles, svg};
pub(crate) use levels::{Difference, LevelChart, Series};
pub(crate) use lines::{Line, LineChart, interval_bar};
pub(crate) use thin::{by_arc_length, thinned_together};
pub(crate) use weights::WeightChart;
