//! The pages of an application, in local mode and on a cluster.

use firesteel::{ContextBuilder, prelude::*};
use firesteel_types::StorageLevel;

use crate::support::{eventually, get};

fn context(master: &str) -> Context {
    let builder = Context::builder().master(master).app_name("<script>alert(1)</script>");
    let settings = builder
        .set("firesteel.ui.port", 0)
        .and_then(|builder| builder.set("firesteel.authenticate.secret", "a secret that no page shows"));
    settings.and_then(ContextBuilder::start).expect("the settings are right")
}

#[test]
fn an_application_shows_its_jobs_stages_executors_and_cached_rdds() {
    for master in ["local[2]", "local-cluster[1,2,512]"] {
        let ctx = context(master);
        let kept = ctx.range_into(0..100_u64, 4).map(|x| (x % 3, x)).persist(StorageLevel::MEMORY_ONLY);
        kept.reduce_by_key(|a, b| a + b).count().unwrap();
        let page = ctx.ui_web_url().expect("its pages are served");
        let api = format!("/api/v1/applications/{}", ctx.application_id());
        // Listeners hear of things a little later than the caller of a job.
        ctx.status().unwrap();

        let jobs = get(&page, &format!("{api}/jobs")).json();
        assert_eq!(
            (&jobs[0]["status"], &jobs[0]["numCompletedTasks"]),
            (&"SUCCEEDED".into(), &8.into()),
            "{jobs}"
        );
        let stages = get(&page, &format!("{api}/stages?status=complete")).json();
        assert_eq!(stages.as_array().unwrap().len(), 2, "{stages}");
        let executors = get(&page, &format!("{api}/executors")).json();
        assert_eq!(executors[0]["totalCores"], 2, "{executors}");
        let rdds = eventually("all partitions are kept", || {
            let rdds = get(&page, &format!("{api}/storage/rdd")).json();
            (rdds[0]["numCachedPartitions"] == 4).then_some(rdds)
        });
        assert!(rdds[0]["memoryUsed"].as_u64().unwrap() > 0, "{rdds}");
        for (path, shown) in [
            ("/jobs/", "Completed jobs (1)"),
            ("/stages/", "Completed stages (2)"),
            ("/executors/", "Executors (1)"),
            ("/storage/", "Cached RDDs (1)"),
            ("/environment/", "(redacted)"),
        ] {
            let body = get(&page, path).body;
            assert!(body.contains(shown), "{shown} at {path} in {body}");
            assert!(body.contains("&lt;script&gt;") && !body.contains("<script"), "{body}");
            assert!(!body.contains("a secret that no page shows"), "{body}");
        }
        ctx.stop().unwrap();
        let host = page.trim_start_matches("http://").to_owned();
        assert!(std::net::TcpStream::connect(host).is_err(), "its pages go with it");
    }
}

#[test]
fn pages_can_be_left_out_and_a_place_that_others_see_needs_a_secret() {
    let none =
        Context::builder().master("local").set("firesteel.ui.enabled", false).unwrap().start().unwrap();
    assert_eq!(none.ui_web_url(), None);

    let open = Context::builder().master("local").set("firesteel.ui.host", "0.0.0.0").unwrap().start();
    let error = open.expect_err("the page would be public").to_string();
    assert!(
        error.contains("firesteel.ui.host") && error.contains("firesteel.authenticate.secret"),
        "{error}"
    );
}

#[test]
fn a_second_application_of_one_machine_takes_the_next_port() {
    let first = context("local");
    let port: u16 = first.ui_web_url().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();

    let second = Context::builder().master("local").set("firesteel.ui.port", port).unwrap().start().unwrap();
    let tries = Context::builder().master("local").set("firesteel.ui.port", port).unwrap();
    let third = tries.set("firesteel.port.maxRetries", 0).unwrap().start().unwrap();

    assert!(second.ui_web_url().is_some_and(|url| url != first.ui_web_url().unwrap()));
    assert_eq!(third.ui_web_url(), None, "no port is free, and the application runs all the same");
    assert_eq!(third.range(0..9).count().unwrap(), 9);
}
