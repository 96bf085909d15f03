//! Numbers as people read them.

/// Three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        value_abs if value_abs >= 100.0 => format!("{value:.0}"),
        value_abs if value_abs >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A time.
pub(super) fn seconds(value: f64) -> String {
    match value.abs() {
        long if long >= 1.0 => format!("{} s", short(value)),
        middle if middle >= 1e-3 => format!("{} ms", short(value * 1e3)),
        _ => format!("{} µs", short(value * 1e6)),
    }
}

/// Units a second.
pub(super) fn rate(value: f64, unit: &str) -> String {
    let (value, factor) = match value {
        large if large >= 1e6 => (value / 1e6, " M "),
        middle if middle >= 1e4 => (value / 1e3, " k "),
        _ => (value, " "),
    };
    format!("{}{factor}{unit}/s", short(value))
}

/// How many times.
pub(super) fn times(value: f64) -> String {
    format!("{}×", short(value))
}

/// Memory.
pub(super) fn bytes(value: u64) -> String {
    format!("{} MB", short(value as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_fits() {
        let shown = [12.345, 1.0, 0.0123, 0.000_045_6].map(seconds);

        assert_eq!(shown, ["12.3 s", "1.00 s", "12.3 ms", "45.6 µs"]);
    }

    #[test]
    fn rates_are_short() {
        assert_eq!(rate(2_345_678.0, "rows"), "2.35 M rows/s");
        assert_eq!(rate(23_456.0, "jobs"), "23.5 k jobs/s");
        assert_eq!(rate(89.1, "jobs"), "89.1 jobs/s");
        assert_eq!(
            (times(0.5), times(123.4), bytes(12_345_678)),
            ("0.50×".into(), "123×".into(), "12.3 MB".into())
        );
    }
}
