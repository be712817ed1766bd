//! What to do that is a setting, in the reader's terms. Each clause begins with a verb.

use crate::Voice;

impl Voice {
    pub(crate) fn log_bins(self) -> String {
        format!("use {}", self.logarithmic_bins())
    }

    pub(crate) fn finer_bins(self) -> String {
        let (log, bins) = (self.logarithmic_bins(), self.flag("bins"));
        format!("use {log} for rewards over many orders of magnitude, or more {bins}")
    }

    fn logarithmic_bins(self) -> String {
        if self == Voice::Plain { "logarithmic bins".to_owned() } else { self.setting("bins", "log") }
    }

    pub(crate) fn name_structure(self) -> String {
        if self == Voice::Plain { "name the structure".to_owned() } else { format!("fix {}", self.flag("structure")) }
    }

    pub(crate) fn min_propensity(self) -> String {
        match self {
            Voice::Plain => "give the smallest logging propensity of any action".to_owned(),
            _ => format!("give {}", self.flag("min-propensity")),
        }
    }

    /// The structure for logs that show no item twice, with the number of candidates if the log tells it.
    pub(crate) fn ranking(self, pool: Option<usize>) -> String {
        match pool {
            Some(pool) => format!("use {}", self.setting("structure", &format!("ranking:{pool}"))),
            None => format!("use {} with the number N of candidates", self.setting("structure", "ranking:N")),
        }
    }

    /// The structure that assumes nothing.
    pub(crate) fn product_structure(self) -> String {
        format!("read the log with {}", self.setting("structure", "product"))
    }

    pub(crate) fn joint_target_slots(self) -> String {
        match self {
            Voice::Plain => "say that the target's slots are joint".to_owned(),
            _ => format!("use {}", self.setting("target-slots", "joint")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_each_reader_writes_them() {
        assert_eq!(Voice::Python.joint_target_slots(), "use target_slots=\"joint\"");
        assert_eq!(Voice::Python.min_propensity(), "give min_propensity");
        assert_eq!(Voice::CommandLine.name_structure(), "fix --structure");
        assert_eq!(Voice::Plain.ranking(Some(5)), "use structure ranking:5");
    }
}
