//! Command lines that make no sense, and settings that are wrong.

use crate::support::run;

#[test]
fn mistakes_on_the_command_line_end_with_code_2() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(home.path(), arguments);

    for arguments in [
        &[][..],
        &["submit"],
        &["kill"],
        &["worker"],
        &["nonsense"],
        &["cluster"],
        &["master", "--prot", "1"],
    ] {
        run(arguments).failed(2, &["Usage: firesteel"]);
    }
    run(&["kill", "--all", "driver-1"]).failed(2, &["cannot be used with"]);
    run(&["master", "--conf", "nonsense"]).failed(2, &["--conf nonsense", "key=value"]);
    run(&["worker", "local[2]", "--cores", "1", "--memory", "1g"]).failed(2, &["firesteel://host:7077"]);
    run(&["cluster", "up", "--workers", "0"]).failed(2, &["0 is not in 1..=1024"]);
}

#[test]
fn wrong_settings_are_told_with_the_remedy() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(home.path(), arguments);

    let typo = ["master", "--conf", "firesteel.master.prot=1"];
    run(&typo)
        .failed(1, &["unknown setting `firesteel.master.prot`", "did you mean `firesteel.master.port`?"]);
    let memory = ["worker", "firesteel://h:1", "--cores", "1", "--memory", "much"];
    run(&memory).failed(1, &["--memory much", "a size of at least"]);
    run(&["master", "--properties-file", "/no/such/file"]).failed(1, &["cannot read `/no/such/file`"]);
    let recovery = ["master", "--port", "0", "--conf", "firesteel.deploy.recoveryMode=FILESYSTEM"];
    run(&recovery).failed(1, &["firesteel.deploy.recoveryDirectory"]);
    run(&["status"]).failed(1, &["no cluster is named", "firesteel cluster up"]);
}

#[test]
fn help_names_every_command() {
    let home = tempfile::tempdir().unwrap();

    let help = run(home.path(), &["--help"]).worked().out;

    for command in ["master", "worker", "submit", "cluster", "status", "kill", "decommission"] {
        assert!(help.contains(&format!("\n  {command}")), "{command} in {help}");
    }
    assert!(run(home.path(), &["--version"]).worked().out.starts_with("firesteel 0."));
}
