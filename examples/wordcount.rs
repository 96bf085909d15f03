//! Word count: the most frequent words of a text, on every core.
//!
//! Makes its own text, or reads the files named as the first argument: `cargo run --release --example wordcount -- 'books/*.txt'`.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::{fmt::Write as _, fs, path::PathBuf, time::Instant};

use firesteel::{Rng, prelude::*};

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let (path, made) = match std::env::args().nth(1) {
        Some(path) => (path, None),
        None => {
            let file = make_text(50_000_000)?;
            (file.display().to_string(), Some(file))
        }
    };
    let start = Instant::now();
    let counts = ctx
        .text_file(&path)?
        .flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .map(|word| (word, 1_u64))
        .reduce_by_key(|a, b| a + b);

    for (word, n) in counts.top_by(10, |(_, n)| *n)? {
        println!("{n:>9} {word}");
    }
    println!("{:.2} s for {path}", start.elapsed().as_secs_f64());
    println!("UI: {}", ctx.ui_web_url().unwrap_or_else(|| "not served in local mode".to_owned()));
    made.map_or(Ok(()), |file| fs::remove_file(file).map_err(Error::from))
}

/// Lines of 12 words, where a short word is much more frequent than a long one.
fn make_text(bytes: usize) -> Result<PathBuf> {
    let syllables = ["ka", "to", "mi", "re", "su", "no", "la", "he"];
    let mut rng = Rng::new(1);
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        for _ in 0..12 {
            let words = 1 << rng.below(17);
            let mut n = rng.below(words);
            while n > 0 {
                text.push_str(syllables[n % 8]);
                n /= 8;
            }
            text.push_str("a ");
        }
        let _ = writeln!(text);
    }
    let file = std::env::temp_dir().join(format!("firesteel-wordcount-{}.txt", std::process::id()));
    fs::write(&file, text)?;
    Ok(file)
}
