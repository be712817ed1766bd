//! Everything needed to run an evaluation again, as it goes into the JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slateval::{Band, CorrectionChoice, Settings, Spec, Structure};

use crate::columns::{Columns, RowFormat, Source, TargetColumns};
use crate::error::{OnBad, Tolerance};
use crate::find::Location;
use crate::plan::plan_differences::setting_differences;

/// Everything needed to run an evaluation again, for the JSON: the same whoever runs it. What cannot change the numbers (threads) is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    slateval: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Location>,
    targets: Vec<String>,
    structure: Structure,
    target_slots: slateval::TargetSlots,
    /// Left out where they are known.
    #[serde(default, skip_serializing_if = "slateval::PropensitySource::is_known")]
    propensities: slateval::PropensitySource,
    bins: String,
    by: Option<String>,
    baseline: Option<String>,
    cluster: Option<String>,
    /// As the summary remembers them.
    columns: BTreeMap<String, String>,
    correction: CorrectionChoice,
    alpha: Vec<f64>,
    tail: slateval::Tail,
    quantile: Vec<f64>,
    /// Left out where none were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<f64>,
    band: Band,
    min_propensity: Option<f64>,
    confidence: f64,
    draws: usize,
    seed: u64,
    debias_cvar: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LogRecord {
    paths: Vec<Location>,
    reward: String,
    logging: String,
    targets: Vec<TargetRecord>,
    long: bool,
    slate: Option<String>,
    /// Left out where it is the default, as are the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_bad_row: Option<OnBad>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_bad_file: Option<OnBad>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allow_unended: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TargetRecord {
    name: String,
    target: String,
    chi: Option<String>,
    anywhere: String,
    weight: String,
}

impl Record {
    /// The same of a log whose bad parts were not all refused.
    pub fn tolerating(mut self, tolerance: Tolerance) -> Self {
        if let Some(log) = &mut self.log {
            let skip = |what: OnBad| (what == OnBad::Skip).then_some(what);
            log.on_bad_row = skip(tolerance.bad_rows);
            log.on_bad_file = skip(tolerance.bad_files);
            log.allow_unended = tolerance.unended.then_some(true);
        }
        self
    }

    /// Of a log read from these paths; none for rows that came from elsewhere.
    pub fn of_log(paths: &[Location], columns: &Columns, spec: &Spec, settings: &Settings) -> Self {
        let target = |(t, p): (&TargetColumns, &slateval::PolicySpec)| TargetRecord {
            name: t.name.clone(),
            target: t.target.clone(),
            chi: match &t.chi {
                Source::Column(c) | Source::IfPresent(c) if p.chi => Some(c.clone()),
                _ => None,
            },
            anywhere: t.anywhere.clone(),
            weight: t.weight.clone(),
        };
        let slate = match &columns.format {
            RowFormat::Long { slate, .. } => Some(slate.clone()),
            RowFormat::Wide => None,
        };
        let log = LogRecord {
            paths: paths.to_vec(),
            reward: columns.reward.clone(),
            logging: columns.logging.clone(),
            targets: columns.targets.iter().zip(&spec.policies).map(target).collect(),
            long: slate.is_some(),
            slate,
            on_bad_row: None,
            on_bad_file: None,
            allow_unended: None,
        };
        Record { log: Some(log), ..Self::of_spec(spec, settings) }
    }

    /// Of a summary read from a file.
    pub fn of_summary(path: &Location, spec: &Spec, settings: &Settings) -> Self {
        Record { summary: Some(path.clone()), ..Self::of_spec(spec, settings) }
    }

    /// Of a summary made here.
    pub fn of_spec(spec: &Spec, settings: &Settings) -> Self {
        Record {
            slateval: env!("CARGO_PKG_VERSION").to_owned(),
            log: None,
            summary: None,
            targets: spec.policies.iter().map(|p| p.name.clone()).collect(),
            structure: settings.structure.as_ref().unwrap_or(&spec.structure).clone(),
            target_slots: spec.target_slots,
            propensities: spec.propensities,
            bins: spec.binning.to_string(),
            by: spec.by.clone(),
            baseline: spec.baseline.clone(),
            cluster: spec.cluster.clone(),
            columns: spec.columns.clone(),
            correction: settings.correction,
            alpha: settings.alphas.clone(),
            tail: settings.tail,
            quantile: settings.quantiles.clone(),
            at_least: settings.at_least.clone(),
            band: settings.band,
            min_propensity: settings.min_propensity,
            confidence: settings.confidence,
            draws: settings.draws,
            seed: settings.seed,
            debias_cvar: settings.debias_cvar,
        }
    }

    /// How another record differs, by name.
    pub fn differences(&self, other: &Record) -> Vec<String> {
        // Numbers and texts: nothing that JSON cannot hold.
        let value = |record: &Record| serde_json::to_value(record).unwrap_or_default();
        setting_differences(&value(self), &value(other))
    }

    /// The same log or summary, evaluated with other settings. The structure stays where these name none.
    pub fn with_settings(&self, settings: &Settings) -> Self {
        Record {
            structure: settings.structure.as_ref().unwrap_or(&self.structure).clone(),
            correction: settings.correction,
            alpha: settings.alphas.clone(),
            tail: settings.tail,
            quantile: settings.quantiles.clone(),
            band: settings.band,
            min_propensity: settings.min_propensity,
            confidence: settings.confidence,
            draws: settings.draws,
            seed: settings.seed,
            debias_cvar: settings.debias_cvar,
            ..self.clone()
        }
    }
}

/// What a summary remembers of the columns it was made from, so that only summaries of the same ones are merged. Which
/// columns of chi it has, [`Log::spec`](crate::Log::spec) adds.
pub fn provenance(columns: &Columns, structure: &Structure) -> BTreeMap<String, String> {
    let needs = structure.needs();
    let mut held = BTreeMap::from([("reward".to_owned(), columns.reward.clone())]);
    if needs.logging {
        held.insert("logging".to_owned(), columns.logging.clone());
    }
    for target in &columns.targets {
        let column = if needs.weight { &target.weight } else { &target.target };
        held.insert(format!("target {}", target.name), column.clone());
        if needs.anywhere {
            held.insert(format!("any {}", target.name), target.anywhere.clone());
        }
    }
    if let Some(cluster) = &columns.cluster {
        held.insert("cluster".to_owned(), cluster.clone());
    }
    held
}
