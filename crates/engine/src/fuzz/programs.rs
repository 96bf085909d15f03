//! Damaged programs of stages: an error or another program, never a crash, and no memory for promises.

use std::sync::Arc;

use proptest::prelude::*;

use super::{
    damage::{damaged, many},
    memory::measured,
};
use crate::{
    Parent, RangePartitioner, RddHandle,
    job::{JobFunction, ResultTask},
    prelude::*,
    task::{freeze_program, thaw_program},
};

/// Takes rows and gives nothing.
struct Drain;

crate::ship!(impl[] Drain {});

impl<T> JobFunction<T> for Drain {
    type Output = ();

    fn run(&self, _rows: impl Iterator<Item = T>, _task: &TaskContext) {}
}

/// The shipped forms of the stages of a job on `rdd`.
fn stages<R: Rdd>(rdd: R, found: &mut Vec<Vec<u8>>) {
    let mut pending: Vec<RddHandle> = vec![rdd.handle().clone()];
    while let Some(handle) = pending.pop() {
        for parent in handle.parents() {
            match parent {
                Parent::Narrow(parent, _) => pending.push(parent),
                Parent::Shuffle(shuffle) => found.push(shuffle.program().to_bytes().unwrap()),
            }
        }
    }
    found.push(freeze_program(&ResultTask { rdd, function: Drain }).unwrap());
}

/// Stages with all kinds of items: closures, environments, boxes in boxes, partitioners, lists of operators.
fn programs(ctx: &Context) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let numbers = ctx.range_into(0..100_u64, 4);
    let words = ctx.parallelize_into(vec!["a".to_owned(), "b".to_owned()], 2);
    let broadcast = ctx.broadcast(vec![1_u64, 2]).unwrap();
    let counter = ctx.long_accumulator("rows");
    let pairs = numbers.map(|x| (x % 7, x.to_string()));
    let ranges = KeyPartitioner::custom(RangePartitioner::new(vec![2_u64, 4], Order::Ascending));
    stages(numbers.map(|x| x + 1).filter(|x| x % 2 == 0), &mut found);
    stages(
        numbers.with((vec![1_u32; 20], Some("text".to_owned()))).map(|(list, _), x| list.len() as u64 + x),
        &mut found,
    );
    stages(numbers.with((broadcast, counter)).flat_map(|_, x| [x, x]), &mut found);
    stages(words.map_partitions(|rows| rows).boxed().map(|word| word.len()).boxed(), &mut found);
    stages(ctx.union(vec![numbers.boxed(), numbers.map(|x| x * 2).boxed(), numbers.boxed()]), &mut found);
    stages(words.union(&words.boxed()).zip_with_unique_id(), &mut found);
    stages(pairs.reduce_by_key(|left, right| left + &right), &mut found);
    stages(pairs.partition_by(ranges).map_values(|text| text.len()), &mut found);
    stages(pairs.group_by_key().join(&pairs), &mut found);
    stages(pairs.sort_by_key(Order::Descending).unwrap(), &mut found);
    stages(numbers.sample(Replacement::Without, 0.5, 7).coalesce(2), &mut found);
    stages(numbers.cartesian(&words).glom(), &mut found);
    stages(
        pairs.aggregate_by_key(0_u64, |sum, text| sum + text.len() as u64, |one, two| one + two),
        &mut found,
    );
    found
}

/// The items of a shipped form: kind and content.
fn items(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut items = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        let (length, rest) = rest.split_first_chunk().unwrap();
        let (content, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        items.push((kind, content.to_vec()));
        bytes = rest;
    }
    items
}

fn framed(items: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let frame = |(kind, content): &(u8, Vec<u8>)| {
        [&[*kind][..], &(content.len() as u64).to_le_bytes(), content].concat()
    };
    items.iter().flat_map(frame).collect()
}

#[test]
fn programs_of_stages() {
    let ctx = Context::local(2).unwrap();
    let valid = programs(&ctx);
    for bytes in &valid {
        assert_eq!(thaw_program(bytes).unwrap().to_bytes().unwrap(), *bytes);
    }
    proptest!(many(), |(bytes in damaged(valid))| {
        measured(&bytes, thaw_program);
    });
}

/// Frames that are right again around content that is not reach further.
#[test]
fn items_of_programs() {
    let ctx = Context::local(2).unwrap();
    let valid: Arc<[Vec<(u8, Vec<u8>)>]> = programs(&ctx).iter().map(|bytes| items(bytes)).collect();
    assert!(valid.iter().all(|items| thaw_program(&framed(items)).is_ok()));
    let places: Vec<(usize, usize)> = (0..valid.len())
        .flat_map(|program| (0..valid[program].len()).map(move |item| (program, item)))
        .collect();
    let source = valid.clone();
    let broken = proptest::sample::select(places).prop_flat_map(move |(program, item)| {
        let content = source[program][item].1.clone();
        (Just(program), Just(item), damaged(vec![content]))
    });
    proptest!(many(), |((program, item, content) in broken, other in any::<prop::sample::Index>(), exchange: bool)| {
        let mut items = valid[program].clone();
        items[item].1 = content;
        if exchange {
            let other = other.index(items.len());
            items.swap(item, other);
        }
        measured(&framed(&items), thaw_program);
    });
}
