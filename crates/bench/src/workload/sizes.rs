//! How large a run of a workload is.

/// Numbers by name: rows, keys, partitions. Every system gets the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(Vec<(&'static str, u64)>);

impl Sizes {
    /// With one number more.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: u64) -> Self {
        self.0.push((name, value));
        self
    }

    /// With one number more, which grows with `scale` and is at least 1.
    #[must_use]
    pub fn scaled(self, name: &'static str, value: u64, scale: f64) -> Self {
        #[expect(clippy::cast_sign_loss, reason = "a scale below zero is as good as zero")]
        let scaled = (value as f64 * scale).round() as u64;
        self.with(name, scaled.max(1))
    }

    /// The number of this name.
    pub fn of(&self, name: &str) -> u64 {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).expect("a workload asks for the sizes that it defines")
    }

    /// Every number as a word `name=value`, for the command line of another system.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| format!("{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_with_the_scale_and_never_vanish() {
        let sizes = |scale| Sizes::default().scaled("rows", 1000, scale).with("partitions", 4);

        assert_eq!([0.0, 0.5, 4.0].map(|scale| sizes(scale).of("rows")), [1, 500, 4000]);
        assert_eq!(sizes(1.0).words().collect::<Vec<_>>(), ["rows=1000", "partitions=4"]);
    }
}
