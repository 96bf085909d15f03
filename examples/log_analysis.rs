//! Log analysis: requests, errors and traffic of a web server, from its log.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::{fmt::Write as _, fs, path::PathBuf};

use firesteel::{Rng, prelude::*};
use serde::{Deserialize, Serialize};

/// One request.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Request {
    client: String,
    path: String,
    status: u16,
    bytes: u64,
}

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let folder = make_logs(4, 50_000)?;
    let bad_lines = ctx.long_accumulator("bad lines");
    let requests = ctx
        .text_file(&format!("{}/*.log", folder.display()))?
        .with(bad_lines.clone())
        .flat_map(|bad_lines, line| {
            let request = parse(&line);
            if request.is_none() {
                bad_lines.add(1);
            }
            request
        })
        .cache();

    println!("{} requests, {} bad lines", requests.count()?, bad_lines.value().sum);
    println!("\nmost wanted:");
    let by_path = requests.map(|request| (request.path, 1_u64)).reduce_by_key(|a, b| a + b);
    for (path, n) in by_path.top_by(5, |(_, n)| *n)? {
        println!("{n:>9} {path}");
    }
    println!("\nby status:");
    let by_status = requests.map(|request| (request.status, 1_u64)).reduce_by_key(|a, b| a + b);
    for (status, n) in by_status.sort_by_key(Order::Ascending)?.collect()? {
        println!("{n:>9} {status}");
    }
    println!("\nheaviest clients:");
    let by_client = requests.map(|request| (request.client, request.bytes)).reduce_by_key(|a, b| a + b);
    for (client, bytes) in by_client.top_by(3, |(_, bytes)| *bytes)? {
        println!("{:>7.1} MB {client}", bytes as f64 / 1e6);
    }
    fs::remove_dir_all(folder).map_err(Error::from)
}

/// `client "GET path" status bytes`, or nothing if the line is garbled.
fn parse(line: &str) -> Option<Request> {
    let (client, rest) = line.split_once(" \"GET ")?;
    let (path, numbers) = rest.split_once("\" ")?;
    let (status, bytes) = numbers.split_once(' ')?;
    let (client, path) = (client.to_owned(), path.to_owned());
    Some(Request { client, path, status: status.parse().ok()?, bytes: bytes.parse().ok()? })
}

fn make_logs(files: u64, lines: usize) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("firesteel-logs-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    for file in 0..files {
        let mut rng = Rng::new(file);
        let mut text = String::new();
        for _ in 0..lines {
            let status = [200, 200, 200, 200, 304, 404, 500][rng.below(7)];
            let pages = 1 << rng.below(7);
            let (client, page, bytes) = (rng.below(200), rng.below(pages), rng.below(40_000));
            let end = if rng.below(1000) == 0 { "garbage" } else { "" };
            let _ = writeln!(text, "10.0.0.{client} \"GET /page/{page}\" {status} {bytes}{end}");
        }
        fs::write(folder.join(format!("server-{file}.log")), text)?;
    }
    Ok(folder)
}
