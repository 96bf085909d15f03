//! Sizes, durations and times as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use firesteel_types::Timestamp;

/// The time now.
pub(crate) fn now() -> Timestamp {
    Timestamp::ZERO + SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A size with a unit that leaves few digits: `512 B`, `1.5 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1023.95 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// The same of a number of mebibytes.
pub(crate) fn mebibytes(mebibytes: u64) -> String {
    bytes(mebibytes.saturating_mul(1 << 20))
}

/// A duration with a unit that leaves few digits: `12 ms`, `3.4 s`, `2.5 min`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        _ if seconds < 1.0 => format!("{} ms", duration.as_millis()),
        _ if seconds < 60.0 => format!("{seconds:.1} s"),
        _ if seconds < 3600.0 => format!("{:.1} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A time as `2024-02-29 12:34:56`, in UTC.
pub(crate) fn clock_time(time: Timestamp) -> String {
    let compact = time.compact_utc();
    // All but the year have two digits each.
    let (year, rest) = compact.split_at(compact.len() - 10);
    let part = |n: usize| &rest[2 * n..2 * n + 2];
    format!("{year}-{}-{} {}:{}:{}", part(0), part(1), part(2), part(3), part(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_a_unit_that_fits() {
        let sizes = [0, 1023, 1024, 1536 << 20, u64::MAX, (1 << 20) - 1].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.5 GiB", "16.0 EiB", "1.0 MiB"]);
        assert_eq!(mebibytes(u64::MAX), "16.0 EiB");

        let times = [0, 999, 1_000, 90_000, 5_400_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(times, ["0 ms", "999 ms", "1.0 s", "1.5 min", "1.5 h"]);
        assert_eq!(clock_time(Timestamp::from_secs(1_709_210_096)), "2024-02-29 12:34:56");
    }
}
