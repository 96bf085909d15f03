//! Bytes for people.

use std::fmt;

/// Shows bytes in the largest unit that leaves at least 1.
pub(super) struct Amount(pub(super) u64);

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, bits) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 >> bits > 0 {
                return write!(out, "{:.1} {unit}", self.0 as f64 / f64::from(bits).exp2());
            }
        }
        write!(out, "{} bytes", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_fits_the_amount() {
        let shown = |bytes| Amount(bytes).to_string();
        assert_eq!(shown(0), "0 bytes");
        assert_eq!(shown(1023), "1023 bytes");
        assert_eq!(shown(1536), "1.5 KiB");
        assert_eq!(shown(300 << 20), "300.0 MiB");
        assert_eq!(shown(3 << 30), "3.0 GiB");
        assert_eq!(shown(5 << 40), "5.0 TiB");
    }
}
