//! Web servers that misbehave: the rows are right, or the job fails and says why, soon.

use std::{error::Error as _, iter, time::Duration};

use firesteel::prelude::*;

use crate::{
    reference::{self, compressed},
    server::{Answer, Request, Server},
    within,
};

const LIMIT: Duration = Duration::from_secs(60);

/// Two windows of a reader and a bit.
fn text() -> Vec<u8> {
    (0..500_000).flat_map(|row| format!("row {row} from a web server\n").into_bytes()).collect()
}

fn small() -> Vec<u8> {
    (0..2_000).flat_map(|row| format!("row {row} from a web server\r\n").into_bytes()).collect()
}

/// The rows that a server's file gives in `splits` splits, or why there are none.
fn read(url: &str, splits: u32) -> Result<Vec<String>, String> {
    let ctx = Context::local(2).unwrap();
    let rows = ctx.text_file_into(url, splits).and_then(|rows| rows.collect());
    rows.map_err(|error| {
        let causes = iter::successors(error.source(), |&cause| cause.source());
        causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
    })
}

/// Reads what `answer` makes of a text and checks that its rows are all there.
fn gives_the_rows(content: fn() -> Vec<u8>, answer: fn(&[u8], &Request) -> Answer) {
    within(LIMIT, move || {
        let expected = reference::lines(&content());
        let bytes = content();
        let server = Server::start(move |request| answer(&bytes, request));
        for splits in [1, 3] {
            let rows = read(&server.url("data/file.txt"), splits);
            assert!(rows.as_ref() == Ok(&expected), "{splits} splits: {:?}", rows.map(|rows| rows.len()));
        }
    });
}

/// Reads what `answer` makes of a text and checks that the job fails with `reasons`.
fn fails_with(
    content: fn() -> Vec<u8>,
    answer: fn(&[u8], &Request) -> Answer,
    reasons: &'static [&'static str],
) {
    within(LIMIT, move || {
        let bytes = content();
        let server = Server::start(move |request| answer(&bytes, request));
        for splits in [1, 3] {
            let url = server.url("data/file.txt");
            let error = read(&url, splits).expect_err("rows of a server that misbehaves");
            for reason in reasons.iter().chain([&url.as_str()]) {
                assert!(error.contains(reason), "`{reason}` is not in: {error}");
            }
        }
    });
}

#[test]
fn a_head_that_says_nothing_true_is_not_asked() {
    gives_the_rows(text, |content, request| match request.method.as_str() {
        "HEAD" => Answer::new("200 OK", b""),
        _ => Answer::honest(content, request),
    });
}

#[test]
fn a_server_that_refuses_head_is_read() {
    gives_the_rows(small, |content, request| match request.method.as_str() {
        "HEAD" => Answer::new("405 Method Not Allowed", b""),
        _ => Answer::honest(content, request),
    });
}

#[test]
fn a_server_that_refuses_to_be_read_is_not_called_empty_or_missing() {
    fails_with(small, |_, _| Answer::new("405 Method Not Allowed", b""), &["cannot read", "405"]);
    fails_with(small, |_, _| Answer::new("403 Forbidden", b""), &["cannot read", "403"]);
}

#[test]
fn a_missing_file_is_missing() {
    fails_with(small, |_, _| Answer::new("404 Not Found", b""), &["does not exist"]);
}

#[test]
fn a_server_without_ranges_is_read() {
    gives_the_rows(small, |content, _| Answer::new("200 OK", content));
}

#[test]
fn a_server_that_calls_every_range_wrong_is_read_as_a_whole() {
    gives_the_rows(small, |content, request| match request.range {
        Some(_) => Answer::new("416 Range Not Satisfiable", b""),
        None => Answer::honest(content, request),
    });
}

#[test]
fn an_empty_file_has_no_rows() {
    gives_the_rows(Vec::new, Answer::honest);
    gives_the_rows(Vec::new, |content, _| Answer::new("200 OK", content));
}

#[test]
fn the_file_as_it_is_is_asked_for() {
    gives_the_rows(small, |content, request| {
        if request.accepts.as_deref() == Some("identity") {
            return Answer::honest(content, request);
        }
        let packed = compressed(firesteel::Codec::Gzip, content, 1);
        Answer::honest(&packed, request).header("Content-Encoding: gzip")
    });
}

#[test]
fn an_answer_in_another_encoding_is_refused() {
    let packed = |content: &[u8], request: &Request| {
        let packed = compressed(firesteel::Codec::Gzip, content, 1);
        Answer::honest(&packed, request).header("Content-Encoding: gzip")
    };

    fails_with(small, packed, &["Content-Encoding: gzip", "turn that off on the server"]);
    fails_with(
        small,
        |content, _| Answer::new("200 OK", content).header("Content-Encoding: br"),
        &["Content-Encoding: br"],
    );
}

#[test]
fn a_compressed_file_with_its_own_encoding_is_read() {
    within(LIMIT, || {
        let packed = compressed(firesteel::Codec::Gzip, &small(), 2);
        let server =
            Server::start(move |request| Answer::honest(&packed, request).header("Content-Encoding: x-gzip"));

        assert_eq!(read(&server.url("data/file.txt.GZ"), 2), Ok(reference::lines(&small())));
    });
}

#[test]
fn a_body_shorter_than_its_length_is_no_end_of_the_file() {
    fails_with(
        small,
        |content, request| {
            let mut answer = Answer::honest(content, request);
            answer.body.truncate(answer.body.len().min(1000));
            answer
        },
        &["cannot read"],
    );
    fails_with(
        small,
        |content, _| {
            let mut answer = Answer::new("200 OK", content);
            answer.body.truncate(content.len() / 2);
            answer
        },
        &["cannot read"],
    );
}

#[test]
fn a_part_that_is_not_as_long_as_its_range_is_refused() {
    fails_with(
        small,
        |content, request| {
            let mut answer = Answer::honest(content, request);
            answer.body.truncate(answer.body.len().min(1000));
            answer.length = Some(answer.body.len());
            answer
        },
        &["1000 bytes instead of the"],
    );
}

#[test]
fn another_part_than_the_one_asked_for_is_refused() {
    fails_with(
        small,
        |content, request| {
            let shifted = request.range.map(|(first, last)| (first + 10, last.map(|last| last + 10)));
            Answer::honest(content, &Request { range: shifted, ..request.clone() })
        },
        &["cannot read"],
    );
}

#[test]
fn a_connection_that_breaks_once_is_taken_up_again_where_the_version_is_known() {
    gives_the_rows(text, |content, request| {
        let mut answer = Answer::honest(content, request).header("ETag: \"one\"");
        if request.number.is_multiple_of(3) {
            answer.body.truncate(answer.body.len() / 2);
        }
        answer
    });
}

#[test]
fn a_server_in_trouble_once_is_asked_again() {
    gives_the_rows(small, |content, request| match request.number {
        0 | 2 => Answer::new("503 Service Unavailable", b"later"),
        _ => Answer::honest(content, request),
    });
}

#[test]
fn redirects_are_followed_and_loops_end() {
    gives_the_rows(small, |content, request| match request.path.as_str() {
        "/data/file.txt" => Answer::new("302 Found", b"").header("Location: /elsewhere/it%20is"),
        _ => Answer::honest(content, request),
    });
    fails_with(
        small,
        |_, request| Answer::new("301 Moved Permanently", b"").header(format!("Location: {}", request.path)),
        &["cannot read", "redirect"],
    );
}

#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    within(LIMIT, || {
        let (before, after) = (text(), [b"new row\n".to_vec(), text()].concat());
        let server = Server::start(move |request| {
            // The first window of 8 MiB is of one file, the next of the other.
            let is_first = request.range.is_some_and(|(first, _)| first == 0);
            Answer::honest(if is_first { &before } else { &after }, request)
        });

        let error = read(&server.url("data/file.txt"), 1).unwrap_err();

        assert!(error.contains("its size changed from"), "{error}");
    });
}

#[test]
fn a_file_without_ranges_that_shrank_since_it_was_looked_up_is_refused() {
    within(LIMIT, || {
        let content = small();
        let server = Server::start(move |request| {
            // Two requests look the file up: for its first byte, and for the whole.
            let length = if request.number < 2 { content.len() } else { content.len() / 2 };
            Answer::new("200 OK", &content[..length])
        });

        let error = read(&server.url("data/file.txt"), 3).unwrap_err();

        let length = small().len();
        assert!(
            error.contains(&format!("ends at byte {}, but had at least {length}", length / 2)),
            "{error}"
        );
    });
}

#[test]
fn a_slow_server_is_waited_for() {
    gives_the_rows(small, |content, request| {
        let mut answer = Answer::honest(content, request);
        answer.pieces = Some((4_000, Duration::from_millis(5)));
        answer
    });
}

#[test]
fn an_answer_without_a_length_is_refused() {
    fails_with(
        small,
        |content, request| Answer { length: None, ..Answer::honest(content, request) },
        &["cannot read", "Content-Length"],
    );
}

#[test]
fn a_file_is_looked_up_by_one_request() {
    within(LIMIT, || {
        let content = small();
        let server = Server::start(move |request| Answer::honest(&content, request));

        assert!(read(&server.url("data/file.txt"), 1).is_ok());

        let asked: Vec<_> =
            server.requests().into_iter().map(|request| (request.method, request.range)).collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!(asked[0], ("GET".to_owned(), Some((0, Some(0)))));
    });
}
