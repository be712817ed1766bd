//! From flags to what the libraries understand.

use anyhow::Result;
use slateval::{Correction, CorrectionChoice, Settings, Structure};
use slateval_logs::{Columns, Names, Tolerance};
pub(crate) use slateval_logs::{Record, provenance};

use crate::args::{self, Estimator, Method};

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
        settings.at_least.clone_from(&self.at_least);
        settings.band = self.band;
        settings.min_propensity = self.min_propensity;
        settings.draws = self.draws;
        settings.debias_cvar = self.debias_cvar;
        settings
    }

    /// The target that the others are compared with, which must be one of several.
    pub(crate) fn baseline(&self, columns: &Columns) -> Result<Option<String>> {
        if let Some(baseline) = &self.baseline {
            columns.check_baseline(baseline)?;
        }
        Ok(self.baseline.clone())
    }
}

impl args::Columns {
    /// What is done about bad rows and files.
    pub(crate) fn tolerance(&self) -> Tolerance {
        Tolerance {
            bad_rows: self.on_bad_row,
            bad_files: self.on_bad_file,
            unknown_files: self.on_unknown_file,
            unended: self.allow_unended,
        }
    }

    pub(crate) fn resolve(&self) -> Result<Columns> {
        let names = Names {
            reward: self.reward.clone(),
            logging: self.logging.clone(),
            target: self.target.clone(),
            chi: self.chi.clone(),
            anywhere: self.anywhere.clone(),
            weight: self.weight.clone(),
            long: self.long,
            slate: self.slate.clone(),
            by: self.by.clone(),
            cluster: self.cluster.clone(),
        };
        Ok(names.columns()?)
    }
}
