//! Properties of threads.

use firesteel::prelude::*;

use crate::support::each_backend;

fn team(ctx: &Context) -> Option<String> {
    let seen = ctx.range_into(0..1, 1).map(|_| TaskContext::current()?.property("team").map(str::to_owned));
    seen.collect().unwrap().remove(0)
}

/// Behaviours: CANC-010.
#[test]
fn a_child_thread_begins_with_a_copy_and_neither_sees_what_the_other_changes() {
    each_backend(|ctx| {
        ctx.set_local_property("team", Some("search"));

        let child = ctx.spawn(|ctx| {
            let inherited = team(ctx);
            ctx.set_local_property("team", Some("ads"));
            (inherited, team(ctx))
        });
        let (inherited, changed) = child.unwrap().join().unwrap();

        assert_eq!(inherited.as_deref(), Some("search"));
        assert_eq!(changed.as_deref(), Some("ads"));
        assert_eq!(team(ctx).as_deref(), Some("search"));
        ctx.set_local_property("team", None);
        assert_eq!(team(ctx), None);
    });
}

#[test]
fn two_contexts_do_not_share_properties() {
    each_backend(|ctx| {
        let other = Context::local(1).unwrap();
        ctx.set_local_property("team", Some("search"));

        assert_eq!(team(&other), None);
    });
}

#[test]
fn a_job_keeps_the_description_and_group_of_its_submission() {
    each_backend(|ctx| {
        ctx.set_job_group("nightly", "the report", false);
        ctx.range(0..3).count().unwrap();
        ctx.clear_job_group();
        ctx.range(0..3).count().unwrap();

        let status = ctx.status().unwrap();
        assert_eq!(status.job_ids_for_group(Some("nightly")).len(), 1);
        assert_eq!(status.jobs().len(), 2);
    });
}
