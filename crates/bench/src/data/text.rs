//! A text of made-up words, drawn by Zipf's law.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use anyhow::{Context, Result};

use crate::checksum::mix;

/// How many different words there are.
pub const WORDS: u64 = 200_000;
/// Words in a line.
const LINE: u64 = 12;

/// Writes lines of words to `path` until there are at least `bytes` bytes.
///
/// A word's frequency is in inverse proportion to its rank, as in natural language.
pub fn write(path: &Path, bytes: u64) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let mut line = String::new();
    let (mut written, mut draw) = (0, 0);
    while written < bytes {
        line.clear();
        for place in 0..LINE {
            let rank = rank(mix(draw));
            spell(rank, &mut line);
            line.push(if place + 1 == LINE { '\n' } else { ' ' });
            draw += 1;
        }
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    Ok(out.flush()?)
}

/// A rank from 0 up to [`WORDS`], from 64 random bits.
///
/// The logarithm of the rank is uniform, so that ranks from 10 to 20 are as frequent as those from 1000 to 2000.
fn rank(random: u64) -> u64 {
    let uniform = (random >> 11) as f64 / (1_u64 << 53) as f64;
    #[expect(clippy::cast_sign_loss, reason = "an exponential is above zero")]
    let from_one = (uniform * ((WORDS + 1) as f64).ln()).exp() as u64;
    from_one.clamp(1, WORDS) - 1
}

/// Appends the word of a rank: two syllables for the ten thousand most frequent, three for the others.
fn spell(rank: u64, out: &mut String) {
    const CONSONANTS: &[u8] = b"bcdfghjklmnpqrstvwxz";
    const VOWELS: &[u8] = b"aeiou";
    let syllables = if rank < 10_000 { 2 } else { 3 };
    for place in 0..syllables {
        let digit = rank / 100_u64.pow(place) % 100;
        out.push(char::from(CONSONANTS[(digit / 5) as usize]));
        out.push(char::from(VOWELS[(digit % 5) as usize]));
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, fs};

    use super::*;

    #[test]
    fn every_rank_has_a_word_of_its_own() {
        let mut words = std::collections::HashSet::new();
        for rank in 0..WORDS {
            let mut word = String::new();
            spell(rank, &mut word);
            words.insert(word);
        }

        assert_eq!(words.len() as u64, WORDS);
    }

    #[test]
    fn the_first_words_are_drawn_most_and_the_last_ones_too() {
        let ranks: Vec<u64> = (0..100_000).map(|draw| rank(mix(draw))).collect();
        let times = |from, to| ranks.iter().filter(|rank| (from..to).contains(*rank)).count();

        assert!(times(0, 1) > 4000 && times(0, 1) < 7000, "{}", times(0, 1));
        assert!(times(9, 19).abs_diff(times(999, 1999)) < 1000);
        assert!(times(100_000, WORDS) > 4000);
        assert_eq!(rank(u64::MAX), WORDS - 1);
        assert_eq!(rank(0), 0);
    }

    #[test]
    fn a_text_is_as_long_as_asked_for_and_always_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));

        write(&one, 10_000).unwrap();
        write(&two, 10_000).unwrap();

        let text = fs::read_to_string(one).unwrap();
        assert_eq!(text, fs::read_to_string(two).unwrap());
        assert!((10_000..10_100).contains(&text.len()), "{}", text.len());
        assert!(text.lines().all(|line| line.split(' ').count() == 12));
        let mut counts = HashMap::new();
        text.split_whitespace().for_each(|word| *counts.entry(word).or_insert(0) += 1);
        assert!(counts.len() > 300);
    }
}
