//! From flags to what the libraries understand, and to what is needed to run again.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::Serialize;
use slateval::{Band, Correction, CorrectionChoice, LOGGING, Settings, Spec, Structure};
use slateval_logs::{Columns, RowFormat, Source, TargetColumns};

use crate::args::{self, Estimator, Method, Named};

/// Everything needed to run an evaluation again, for the JSON. What cannot change the numbers (threads) is left out.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    slateval: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    targets: Vec<String>,
    structure: Structure,
    target_slots: slateval::TargetSlots,
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
    band: Band,
    min_propensity: Option<f64>,
    confidence: f64,
    draws: usize,
    seed: u64,
    debias_cvar: bool,
}

#[derive(Debug, Serialize)]
struct LogRecord {
    paths: Vec<String>,
    reward: String,
    logging: String,
    targets: Vec<TargetRecord>,
    long: bool,
    slate: Option<String>,
}

#[derive(Debug, Serialize)]
struct TargetRecord {
    name: String,
    target: String,
    chi: Option<String>,
    anywhere: String,
    weight: String,
}

impl Record {
    pub(crate) fn of_log(paths: &[String], columns: &Columns, spec: &Spec, settings: &Settings) -> Self {
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
        };
        Record { log: Some(log), ..Self::of_spec(spec, settings) }
    }

    pub(crate) fn of_summary(path: &str, spec: &Spec, settings: &Settings) -> Self {
        Record { summary: Some(path.to_owned()), ..Self::of_spec(spec, settings) }
    }

    fn of_spec(spec: &Spec, settings: &Settings) -> Self {
        Record {
            slateval: env!("CARGO_PKG_VERSION"),
            log: None,
            summary: None,
            targets: spec.policies.iter().map(|p| p.name.clone()).collect(),
            structure: settings.structure.as_ref().unwrap_or(&spec.structure).clone(),
            target_slots: spec.target_slots,
            bins: spec.binning.to_string(),
            by: spec.by.clone(),
            baseline: spec.baseline.clone(),
            cluster: spec.cluster.clone(),
            columns: spec.columns.clone(),
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
        }
    }
}

/// What a summary remembers of the columns it was made from, so that only summaries of the same ones are merged.
pub(crate) fn provenance(columns: &Columns, structure: &Structure) -> BTreeMap<String, String> {
    let needs = structure.needs();
    let mut held = BTreeMap::from([("reward".to_owned(), columns.reward.clone())]);
    if needs.logging {
        held.insert("logging".to_owned(), columns.logging.clone());
    }
    for target in &columns.targets {
        let column = if needs.weight { &target.weight } else { &target.target };
        held.insert(format!("target {}", target.name), column.clone());
    }
    if let Some(cluster) = &columns.cluster {
        held.insert("cluster".to_owned(), cluster.clone());
    }
    held
}

impl args::Weights {
    pub(crate) fn structure(&self) -> Structure {
        match self.estimator {
            Some(Estimator::Suno) => Structure::Additive,
            Some(Estimator::Uno) => Structure::Product,
            None => self.assumed.structure(),
        }
    }
}

impl args::Assumed {
    pub(crate) fn structure(&self) -> Structure {
        self.structure.clone().unwrap_or(Structure::Auto)
    }
}

impl args::Draw {
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.confidence = self.confidence.unwrap_or(settings.confidence);
        settings.seed = self.seed;
        settings.threads = self.threads.map(usize::from);
        settings
    }
}

impl Method {
    pub(crate) fn settings(&self, estimator: Option<Estimator>) -> Settings {
        let mut settings = self.draw.settings();
        let uncorrected = estimator.map(|_| CorrectionChoice::Fixed(Correction::None));
        settings.correction = uncorrected.or(self.correction).unwrap_or_default();
        settings.alphas.clone_from(&self.alpha);
        settings.tail = self.tail;
        settings.quantiles.clone_from(&self.quantile);
        settings.band = self.band;
        settings.min_propensity = self.min_propensity;
        settings.draws = self.draws;
        settings.debias_cvar = self.debias_cvar;
        settings
    }

    /// The target that the others are compared with, which must be one of several.
    pub(crate) fn baseline(&self, columns: &Columns) -> Result<Option<String>> {
        let Some(baseline) = &self.baseline else { return Ok(None) };
        let known: Vec<&str> = columns.targets.iter().map(|t| t.name.as_str()).collect();
        if baseline == LOGGING {
            bail!("--baseline {LOGGING}: every target is compared with the logging policy anyway; name a target");
        }
        if !known.contains(&baseline.as_str()) {
            bail!("--baseline {baseline}: there is no target `{baseline}`, only {}", known.join(", "));
        }
        if known.len() == 1 {
            bail!("--baseline {baseline}: it is the only target; give another --target to compare with it");
        }
        Ok(Some(baseline.clone()))
    }
}

impl args::Columns {
    pub(crate) fn resolve(&self) -> Result<Columns> {
        let mut columns = if self.long { Columns::long_default() } else { Columns::wide_default() };
        if let Some(reward) = &self.reward {
            columns.reward.clone_from(reward);
        }
        if let Some(logging) = &self.logging {
            columns.logging.clone_from(logging);
        }
        if let (Some(own), RowFormat::Long { slate, .. }) = (&self.slate, &mut columns.format) {
            slate.clone_from(own);
        }
        if !self.target.is_empty() {
            columns.targets = self.target.iter().map(target).collect();
        }
        columns.by.clone_from(&self.by);
        columns.cluster.clone_from(&self.cluster);
        for chi in &self.chi {
            of_target(&mut columns, "--chi", chi)?.chi = Source::Column(chi.column.clone());
        }
        for anywhere in &self.anywhere {
            of_target(&mut columns, "--anywhere", anywhere)?.anywhere.clone_from(&anywhere.column);
        }
        for weight in &self.weight {
            of_target(&mut columns, "--weight", weight)?.weight.clone_from(&weight.column);
        }
        Ok(columns)
    }
}

/// A target given without a name is called "target"; `pi_x` still finds `chi_x` and the others beside it.
fn target(named: &Named) -> TargetColumns {
    match &named.name {
        Some(name) => Columns::target(name, &named.column),
        None => {
            let beside = named.column.strip_prefix("pi_").unwrap_or_default();
            let columns = match beside {
                "" => TargetColumns { target: named.column.clone(), ..Columns::wide_default().targets.remove(0) },
                suffix => Columns::target(suffix, &named.column),
            };
            TargetColumns { name: "target".to_owned(), ..columns }
        }
    }
}

fn of_target<'a>(columns: &'a mut Columns, flag: &str, named: &Named) -> Result<&'a mut TargetColumns> {
    let known: Vec<String> = columns.targets.iter().map(|t| t.name.clone()).collect();
    match &named.name {
        None if known.len() == 1 => Ok(&mut columns.targets[0]),
        None => bail!("{flag} {}: there are {} targets; write NAME={}", named.column, known.len(), named.column),
        Some(name) => match columns.targets.iter_mut().find(|t| t.name == *name) {
            Some(target) => Ok(target),
            None => bail!("{flag} {name}={}: there is no target `{name}`, only {}", named.column, known.join(", ")),
        },
    }
}
