//! Files from a web server, with ranges and without.

use super::server::{Ranges, Server};
use crate::{Depth, IoError, LineReader, ReadOptions, expand, plan_splits};

fn lines(url: &str, min_partitions: usize) -> Result<Vec<String>, IoError> {
    let files = expand(url, Depth::Flat)?;
    let mut lines = Vec::new();
    for split in plan_splits(&files, min_partitions, None) {
        let mut reader = LineReader::open(&split, ReadOptions::default())?;
        while reader.next_batch(&mut lines, 1000)? {}
    }
    Ok(lines)
}

fn text(count: usize) -> (String, Vec<String>) {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n} from a web server")).collect();
    (lines.join("\r\n"), lines)
}

#[test]
fn pieces_are_fetched_by_ranges() {
    let (content, expected) = text(1000);
    let size = content.len();
    let server = Server::start("/data/file.txt", content.into_bytes(), Ranges::Given);

    let read = lines(&server.url("data/file.txt"), 2).unwrap();

    assert_eq!(read, expected);
    let half = size / 2;
    let wanted = [
        "GET /data/file.txt 0-0".to_owned(),
        format!("GET /data/file.txt 0-{}", half + (64 << 10) - 1),
        format!("GET /data/file.txt {}-{}", half - 1, size + (64 << 10) - 1),
    ];
    assert_eq!(server.requests(), wanted);
}

#[test]
fn a_large_file_is_fetched_window_by_window() {
    let (content, expected) = text(700_000);
    let size = content.len() as u64;
    let server = Server::start("/data/file.txt", content.into_bytes(), Ranges::Given);

    let read = lines(&server.url("data/file.txt"), 1).unwrap();

    assert!(read == expected);
    let window = 8 << 20;
    let windows = server.requests().len() as u64 - 1;
    assert_eq!(windows, size.div_ceil(window), "{:?}", server.requests());
}

#[test]
fn a_server_without_ranges_gives_the_whole_file() {
    let (content, expected) = text(200_000);
    let server = Server::start("/data/file.txt", content.into_bytes(), Ranges::Ignored);

    let read = lines(&server.url("data/file.txt"), 4).unwrap();

    assert!(read == expected);
    let whole = server.requests().into_iter().filter(|request| request == "GET /data/file.txt -").count();
    assert_eq!(whole, 2, "one to look it up, which ends at the head of the answer, and one to read it");
}

#[test]
fn a_piece_of_a_file_from_a_server_that_lost_its_ranges_is_read() {
    let (content, expected) = text(200_000);
    let size = content.len() as u64;
    let server = Server::start("/data/file.txt", content.into_bytes(), Ranges::Ignored);
    let mut file = expand(&server.url("data/file.txt"), Depth::Flat).unwrap().remove(0);
    file.has_ranges = true;

    let mut read = Vec::new();
    for split in plan_splits(&[file], 3, None) {
        assert!(split.length < size);
        let mut reader = LineReader::open(&split, ReadOptions::default()).unwrap();
        while reader.next_batch(&mut read, 1000).unwrap() {}
    }

    assert!(read == expected);
}

#[test]
fn a_query_is_sent_and_not_displayed() {
    let server = Server::start("/data/file.txt", b"a\n".to_vec(), Ranges::Given);

    let url = server.url("data/file.txt?sig=secret");
    let files = expand(&url, Depth::Flat).unwrap();

    assert_eq!(files[0].location.to_string(), server.url("data/file.txt"));
    assert_eq!(lines(&url, 1).unwrap(), ["a"]);
    assert!(server.requests().contains(&"GET /data/file.txt?sig=secret 0-0".to_owned()));
}

#[test]
fn names_are_encoded_on_the_wire() {
    let server = Server::start("/data/a%20b.txt", b"a\n".to_vec(), Ranges::Given);

    assert_eq!(lines(&server.url("data/a%20b.txt"), 1).unwrap(), ["a"]);
}

#[test]
fn an_empty_file_has_no_lines() {
    let server = Server::start("/data/file.txt", Vec::new(), Ranges::Given);

    assert_eq!(lines(&server.url("data/file.txt"), 2).unwrap(), Vec::<String>::new());
}

#[test]
fn compressed_files_are_decompressed() {
    for ranges in [Ranges::Given, Ranges::Ignored] {
        let content = zstd::encode_all(&b"a\nb\n"[..], 1).unwrap();
        let server = Server::start("/data/file.zst", content, ranges);

        assert_eq!(lines(&server.url("data/file.zst"), 4).unwrap(), ["a", "b"]);
    }
}

#[test]
fn a_missing_file_is_named() {
    let server = Server::start("/data/file.txt", b"a".to_vec(), Ranges::Given);
    let url = server.url("gone");

    let error = expand(&url, Depth::Flat).unwrap_err();

    assert_eq!(error.to_string(), format!("{url} does not exist"));
}

#[test]
fn reading_works_from_inside_another_runtime() {
    let server = Server::start("/data/file.txt", b"a\nb".to_vec(), Ranges::Given);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();

    let read = runtime.block_on(async { lines(&server.url("data/file.txt"), 1).unwrap() });

    assert_eq!(read, ["a", "b"]);
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/data/file.txt", listener.local_addr().unwrap());
    let began = std::time::Instant::now();

    let error = expand(&url, Depth::Flat).unwrap_err().to_string();

    assert_eq!(error, format!("cannot read {url} at byte 0"));
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
}
