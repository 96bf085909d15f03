//! A join of two CSV files: what each customer's country spent.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::{fmt::Write as _, fs, path::PathBuf};

use firesteel::{Rng, prelude::*};

const COUNTRIES: [&str; 6] = ["Chile", "Estonia", "Ghana", "Japan", "Norway", "Peru"];

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let folder = make_files(2_000, 100_000)?;
    let read = |name: &str| ctx.text_file(&folder.join(name).display().to_string());
    // id,country
    let customers = read("customers.csv")?.filter(|line| !line.starts_with("id,")).flat_map(|line| {
        let (id, country) = line.split_once(',')?;
        Some((id.parse::<u32>().ok()?, country.to_owned()))
    });
    // order,customer,cents
    let orders = read("orders.csv")?.filter(|line| !line.starts_with("order,")).flat_map(|line| {
        let mut fields = line.split(',').skip(1);
        Some((fields.next()?.parse::<u32>().ok()?, fields.next()?.parse::<u64>().ok()?))
    });
    let spent = customers
        .left_outer_join(&orders)
        .map(|(_, (country, cents))| (country, (cents.unwrap_or(0), u64::from(cents.is_some()))))
        .reduce_by_key(|(a, n), (b, m)| (a + b, n + m));

    println!("{:>10} {:>8} {:>12}", "country", "orders", "spent");
    for (country, (cents, orders)) in spent.sort_by_key(Order::Ascending)?.collect()? {
        println!("{country:>10} {orders:>8} {:>12.2}", cents as f64 / 100.0);
    }
    let strangers = orders.subtract_by_key(&customers).count()?;
    println!("{strangers} orders of unknown customers");
    fs::remove_dir_all(&folder).map_err(Error::from)
}

fn make_files(customers: usize, orders: usize) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("firesteel-csv-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let mut rng = Rng::new(3);
    let mut text = "id,country\n".to_owned();
    for id in 0..customers {
        let _ = writeln!(text, "{id},{}", COUNTRIES[rng.below(COUNTRIES.len())]);
    }
    fs::write(folder.join("customers.csv"), text)?;
    let mut text = "order,customer,cents\n".to_owned();
    for order in 0..orders {
        let _ = writeln!(text, "{order},{},{}", rng.below(customers + customers / 50), rng.below(100_000));
    }
    fs::write(folder.join("orders.csv"), text)?;
    Ok(folder)
}
