//! TF-IDF: the words that tell most about each document of a collection.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use firesteel::prelude::*;

const DOCUMENTS: [(&str, &str); 5] = [
    ("whale", "the white whale swims in the deep sea and the captain follows the whale over the sea"),
    ("wizard", "the young wizard learns a spell in the castle and the spell turns the castle into stone"),
    ("robot", "the robot counts the stars and the robot asks the engineer why the stars are so many"),
    ("garden", "the rose grows in the garden and the gardener waters the rose in the early morning"),
    ("train", "the night train leaves the station and the conductor counts the passengers on the train"),
];

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let documents =
        ctx.parallelize(DOCUMENTS.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec());
    let total = documents.count()? as f64;
    // How often each word is in each document: the term frequency.
    let terms = documents
        .flat_map(|(name, text)| {
            text.split_whitespace().map(|word| ((name.clone(), word.to_owned()), 1.0_f64)).collect::<Vec<_>>()
        })
        .reduce_by_key(|a, b| a + b)
        .cache();
    // In how many documents each word is, turned round: the inverse document frequency.
    let rarity = terms
        .map(|((_, word), _)| (word, 1.0_f64))
        .reduce_by_key(|a, b| a + b)
        .with(total)
        .map_values(|total, documents| (total / documents).ln());
    let scores = terms
        .map(|((name, word), frequency)| (word, (name, frequency)))
        .join(&rarity)
        .map(|(word, ((name, frequency), rarity))| (name, (word, frequency * rarity)));

    for (name, mut words) in scores.group_by_key().sort_by_key(Order::Ascending)?.collect()? {
        words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let best: Vec<_> = words.iter().take(3).map(|(word, score)| format!("{word} {score:.2}")).collect();
        println!("{name:>8}: {}", best.join(", "));
    }
    Ok(())
}
