//! What a site does with clients of every kind.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, routing::get as route};

use super::{
    Answer, BoundSite, Pages, Site, SiteConf, SiteError, ask,
    connections::Limits,
    testing::{connect, exchange, get, parse, request, site},
};

fn hello() -> Pages {
    Pages::new(|| Router::new().route("/", route(|| ask(|| Answer::Raw(b"hello".to_vec())))))
}

#[test]
fn a_site_answers_until_it_is_stopped_and_then_its_port_is_free() {
    let site = site(hello());
    let port = site.address().port;

    let hello = get(&site, "/");
    assert_eq!((hello.status, hello.body.as_str()), (200, "hello"));
    assert_eq!(get(&site, "/nothing").status, 404);
    assert_eq!(request(&site, "POST", "/", "", "").status, 405);
    assert_eq!(site.url(), format!("http://127.0.0.1:{port}"));

    site.stop();
    site.stop();
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free again");
}

#[test]
fn the_next_port_is_taken_when_one_is_not_free_and_the_last_one_tells() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let conf = |port_tries| SiteConf { port_tries, ..SiteConf::new("127.0.0.1", port) };

    let refused = Site::start(&conf(0), hello()).unwrap_err();
    assert!(
        refused.to_string().starts_with(&format!("cannot serve pages at 127.0.0.1:{port}: ")),
        "{refused}"
    );
    let next = Site::start(&conf(16), hello()).unwrap();

    assert!(next.address().port > port);
    assert_eq!(get(&next, "/").status, 200);
}

#[test]
fn nothing_is_served_beyond_this_machine_without_a_secret() {
    let refused = Site::start(&SiteConf::new("0.0.0.0", 0), hello()).unwrap_err();

    assert!(matches!(refused, SiteError::Unprotected(_)));
    assert!(refused.to_string().contains("firesteel.authenticate.secret"), "{refused}");
    let mut conf = SiteConf::new("0.0.0.0", 0);
    conf.security.secret = Some(firesteel_net::Secret::random());
    let open = Site::start(&conf, hello()).unwrap();
    assert_ne!(open.address().host.as_str(), "0.0.0.0", "others need a name");
}

#[test]
fn answers_forbid_scripts_and_a_foreign_name_is_refused() {
    let site = site(hello());

    let hello = get(&site, "/");
    for said in ["default-src 'none'", "nosniff", "no-store", "no-referrer"] {
        assert!(hello.head.contains(said), "{said} in {}", hello.head);
    }
    let foreign = exchange(&site, b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(parse(&foreign).status, 403);
}

#[test]
fn garbage_and_heads_that_are_too_large_are_refused_and_service_goes_on() {
    let site = site(hello());
    let many = "X-Many: 1\r\n".repeat(200);

    let long = "a".repeat(1 << 20);
    let cases = [
        "\0\u{1}\u{2} garbage\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {long}\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
    ];
    for request in cases {
        let answer = exchange(&site, request.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }

    assert_eq!(get(&site, "/").status, 200);
}

#[test]
fn a_client_that_says_nothing_loses_its_place() {
    let limits = Limits { connections: 1, header_timeout: Duration::from_millis(50), ..Limits::default() };
    let site =
        BoundSite::bind(&SiteConf::new("127.0.0.1", 0)).unwrap().serve_within(hello(), limits).unwrap();
    let mut silent = connect(&site);
    silent.write_all(b"GET / HT").unwrap();

    assert_eq!(get(&site, "/").status, 200, "the next one is served when the silent one is cut off");
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).expect("the site has hung up");
}

#[test]
fn a_connection_ends_however_busy_it_is() {
    let limits = Limits { connection_timeout: Duration::from_millis(50), ..Limits::default() };
    let site =
        BoundSite::bind(&SiteConf::new("127.0.0.1", 0)).unwrap().serve_within(hello(), limits).unwrap();
    let mut busy = connect(&site);

    let mut rounds = 0;
    let mut buffer = [0; 4096];
    while busy.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").is_ok() {
        match busy.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(_) => rounds += 1,
        }
    }
    assert!(rounds > 0, "it was served before");
}

#[test]
fn a_page_that_takes_long_keeps_nobody_else_waiting() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(parking_lot::Mutex::new(wait));
    let pages = Pages::new(move || {
        let slow = route(move || {
            let wait = wait.clone();
            ask(move || {
                // Ends when the test does at the latest.
                let _ = wait.lock().recv();
                Answer::Raw(b"at last".to_vec())
            })
        });
        Router::new().route("/slow", slow).route("/fast", route(|| async { Answer::Raw(b"fast".to_vec()) }))
    });
    let site = site(pages);
    let mut slow = connect(&site);
    slow.write_all(b"GET /slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();

    assert_eq!(get(&site, "/fast").body, "fast");
    release.send(()).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("at last"), "{answer}");
}

#[test]
fn a_page_that_panics_is_an_error_and_no_more() {
    let pages = Pages::new(|| {
        let broken = route(|| ask(|| panic!("on purpose")));
        Router::new().route("/broken", broken).route("/", route(|| async { Answer::Raw(b"ok".to_vec()) }))
    });
    let site = site(pages);

    assert_eq!(get(&site, "/broken").status, 500);
    assert_eq!(get(&site, "/").body, "ok");
}

#[test]
fn bodies_are_bounded() {
    let pages = Pages::new(|| {
        let echo = axum::routing::post(|body: axum::body::Bytes| async move { Answer::Raw(body.to_vec()) });
        Router::new().route("/", echo)
    });
    let site = site(pages);

    assert_eq!(request(&site, "POST", "/", "", "small").body, "small");
    let large = "x".repeat((1 << 20) + 1);
    let answer = exchange(
        &site,
        format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{large}",
            large.len()
        )
        .as_bytes(),
    );
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{answer}");
}

/// Not a bound that a slow machine could break: it only shows the cost, on request.
#[test]
#[ignore = "a measurement"]
fn starting_a_site_costs_little() {
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let start = Instant::now();
            let site = site(hello());
            let time = start.elapsed();
            drop(site);
            time
        })
        .collect();
    times.sort_unstable();
    tracing::info!(median = ?times[100], worst = ?times[199], "started");
    assert!(times[100] < Duration::from_millis(2), "{:?}", times[100]);
}
