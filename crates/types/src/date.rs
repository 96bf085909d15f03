//! The date of a [`Timestamp`], for ids and names of files.

use crate::Timestamp;

impl Timestamp {
    /// `yyyyMMddHHmmss` in UTC, taking the origin as the Unix epoch.
    ///
    /// ```
    /// # use firesteel_types::Timestamp;
    /// assert_eq!(Timestamp::from_secs(1_709_210_096).compact_utc(), "20240229123456");
    /// ```
    pub fn compact_utc(self) -> String {
        const SECONDS_A_DAY: u64 = 86_400;
        let seconds = self.as_millis() / 1_000;
        let (year, month, day) = civil_date(seconds / SECONDS_A_DAY);
        let of_day = seconds % SECONDS_A_DAY;
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
    }
}

/// Year, month and day of the Gregorian calendar, `days` days after 1970-01-01.
///
/// Years are taken to start in March, so that the odd day of a leap year is the last one of its year. The
/// calendar repeats every 400 years.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_FROM_MARCH_OF_YEAR_0: u64 = 719_468;
    let days = days + DAYS_FROM_MARCH_OF_YEAR_0;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_at_the_ends_of_months_and_leap_years() {
        let cases = [
            (0, "19700101000000"),
            (951_782_399, "20000228235959"),
            (951_868_799, "20000229235959"),
            (978_307_199, "20001231235959"),
            (1_709_164_800, "20240229000000"),
            (4_107_542_399, "21000228235959"),
            (4_107_542_400, "21000301000000"),
            (253_402_300_799, "99991231235959"),
        ];

        for (seconds, expected) in cases {
            assert_eq!(Timestamp::from_secs(seconds).compact_utc(), expected);
        }
    }
}
