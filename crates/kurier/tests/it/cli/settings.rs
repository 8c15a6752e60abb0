//! Settings, help, doctor and exit codes.

use serde_json::json;

use super::import::file;
use super::{founded, kurier, on, with_variables};
use crate::harness::{Database, Server, on_both};

on_both![
    the_doctor_says_what_is_wrong,
    the_log_status_is_for_people_and_machines
];

async fn the_doctor_says_what_is_wrong(database: Database) {
    // Before the first start there is no workspace, and that is a finding.
    let early = on(&database, &["doctor"]).expect(1).stdout;
    assert!(early.contains("BAD  workspaces   none yet"), "{early}");
    let database = founded(database).await;
    let well = on(&database, &["doctor"]).expect(0).stdout;
    assert!(well.lines().all(|line| line.starts_with("ok   ")), "{well}");
    let checks = on(&database, &["doctor", "--json"]).expect(0).json();
    let names: Vec<_> = checks
        .as_array()
        .expect("a list")
        .iter()
        .map(|c| c["check"].clone())
        .collect();
    assert_eq!(
        json!(names),
        json!([
            "version",
            "database",
            "durability",
            "workspaces",
            "projections",
            "snapshot",
            "clock"
        ])
    );
    let poison = "INSERT INTO poison (projection, position, reason) VALUES ('contacts', 1, 'x')";
    database.execute(poison).await;
    let ill = on(&database, &["doctor"]).expect(1).stdout;
    assert!(
        ill.contains("BAD  projections  contacts has set 1 event(s) aside"),
        "{ill}"
    );
}

async fn the_log_status_is_for_people_and_machines(database: Database) {
    let server = Server::start(database).await;
    server
        .api
        .send("track", json!({"userId": "u", "event": "e"}))
        .await;
    server.api.settle().await;
    let status = on(&server.database, &["log", "status", "--json"])
        .expect(0)
        .json();
    assert_eq!(status["position"], json!(4));
    let contacts = json!({"name": "contacts", "position": 4, "lag": 0, "set_aside": 0});
    assert_eq!(status["projections"][2], contacts);
    let others = [0, 1, 3].map(|at| status["projections"][at]["name"].clone());
    assert_eq!(others, ["audit", "channel_health", "content"]);
    let shown = on(&server.database, &["log", "status"]).expect(0).stdout;
    assert!(shown.starts_with("log position 4\nPROJECTION"), "{shown}");
}

#[test]
fn a_database_that_cannot_be_used_is_named() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let path = folder.path().join("kurier.db");
    std::fs::write(
        &path,
        "this is not a database, and it is long enough to be read as one".repeat(50),
    )
    .expect("written");
    let data = folder.path().display().to_string();
    for arguments in [
        &["doctor", "--data", &data][..],
        &["serve", "--data", &data],
        &["log", "status", "--data", &data],
    ] {
        let output = kurier(arguments).expect(1);
        let said = output.stdout + &output.stderr;
        assert!(said.contains("kurier.db cannot be used"), "{said}");
    }
    // Nobody listens on port 1.
    let output = kurier(&[
        "doctor",
        "--database-url",
        "postgres://nobody@127.0.0.1:1/x",
    ])
    .expect(1);
    assert!(
        output.stdout.contains("Connection refused"),
        "{}",
        output.stdout
    );
    let output = kurier(&[
        "doctor",
        "--data",
        &data,
        "--redis-url",
        "redis://127.0.0.1:1",
    ])
    .expect(1);
    assert!(output.stdout.contains("BAD  redis"), "{}", output.stdout);
}

#[test]
fn unknown_settings_are_refused() {
    let (folder, toml) = file(
        "kurier.toml",
        b"listen = \"127.0.0.1:0\"\ndatabse_url = \"postgres://x\"\n",
    );
    let output = kurier(&["serve", "--config", &toml]).expect(1);
    assert!(
        output.stderr.contains("unknown field `databse_url`"),
        "{}",
        output.stderr
    );
    let data = folder.path().join("data").display().to_string();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", &data];
    let output = with_variables(&serve, &[("KURIER_DATABSE_URL", "postgres://x")]).expect(1);
    assert!(
        output.stderr.contains("unknown setting KURIER_DATABSE_URL"),
        "{}",
        output.stderr
    );
    let keys = |write, admin| {
        let variables = [
            ("KURIER_BOOTSTRAP_WRITE_KEY", write),
            ("KURIER_BOOTSTRAP_ADMIN_KEY", admin),
        ];
        with_variables(&serve, &variables).expect(1).stderr
    };
    assert!(keys("short", "long-enough-key").contains("at least 8 characters"));
    assert!(keys("the-same-key-twice", "the-same-key-twice").contains("must differ"));
    assert!(!std::path::Path::new(&data).exists(), "nothing was made");
    let output = kurier(&["serve", "--database-url", "mysql://x"]).expect(1);
    assert!(
        output.stderr.contains("must begin with postgres://"),
        "{}",
        output.stderr
    );
    kurier(&["serve", "--nonsense"]).expect(2);
    kurier(&["nonsense"]).expect(2);
    kurier(&["serve", "--listen", "nonsense"]).expect(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_come_from_a_file_too() {
    let (folder, toml) = file("kurier.toml", b"listen = \"127.0.0.1:1\"\n");
    let data = folder.path().join("from-file");
    let content = format!("listen = \"127.0.0.1:1\"\ndata = \"{}\"\n", data.display());
    std::fs::write(&toml, content).expect("written");
    // The flag wins over the file; a command without flags finds the data by the file alone.
    let variables = [("KURIER_CONFIG", toml.as_str()), ("NO_COLOR", "")];
    let server = Server::start_with(Database::sqlite_in(&data), &variables).await;
    let status = kurier(&["log", "status", "--config", &toml])
        .expect(0)
        .stdout;
    assert!(status.starts_with("log position 3\n"), "{status}");
    let taken = server.api.url.strip_prefix("http://").expect("an address");
    let second = folder.path().join("second").display().to_string();
    let output = kurier(&["serve", "--listen", taken, "--data", &second]).expect(1);
    assert!(
        output.stderr.contains(&format!(
            "cannot listen on {taken}; --listen or KURIER_LISTEN"
        )),
        "{}",
        output.stderr
    );
    // A log that goes into a file holds no colours.
    let stopped = server.terminate().await;
    assert!(stopped.log().contains("stopped"));
    assert!(!stopped.log().contains('\u{1b}'), "{:?}", stopped.log());
}

#[test]
fn help_names_every_option() {
    let store = ["--data", "--database-url", "--config"];
    let cases: [(&[&str], &[&str]); 13] = [
        (
            &[],
            &[
                "serve", "import", "api-key", "contact", "log", "doctor", "openapi",
            ],
        ),
        (&["serve"], &["--listen", "--redis-url"]),
        (&["import"], &["contacts", "events"]),
        (
            &["import", "contacts"],
            &[
                "<FILE>",
                "--map",
                "--format",
                "--delimiter",
                "--text",
                "--include-erased",
                "--dry-run",
                "--json",
                "--workspace",
            ],
        ),
        (
            &["import", "events"],
            &["<FILE>", "--dry-run", "--json", "--workspace"],
        ),
        (
            &["api-key", "create"],
            &[
                "--name",
                "--scopes",
                "--expires-at",
                "--workspace",
                "--json",
            ],
        ),
        (&["api-key", "list"], &["--workspace", "--json"]),
        (&["api-key", "revoke"], &["<ID>", "--workspace", "--json"]),
        (&["contact", "show"], &["--id", "--user-id", "--workspace"]),
        (&["contact", "export"], &["--id", "--user-id"]),
        (&["contact", "erase"], &["--id", "--user-id"]),
        (&["log", "archive"], &["--before"]),
        (&["doctor"], &["--redis-url", "--json"]),
    ];
    for (command, options) in cases {
        let help = kurier(&[command, &["--help"]].concat()).expect(0).stdout;
        for option in options.iter().chain(&store) {
            let line = help.lines().find(|line| line.contains(option));
            let line = line.unwrap_or_else(|| panic!("{command:?} does not name {option}: {help}"));
            assert!(
                line.trim() != *option,
                "{option} of {command:?} says nothing"
            );
        }
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{help}"
        );
    }
}

#[test]
fn commands_without_a_database_answer() {
    let bare = kurier(&[]).expect(2);
    assert!(bare.stderr.contains("Usage: kurier"), "{}", bare.stderr);
    let openapi = kurier(&["openapi"]).expect(0).json();
    assert!(
        openapi["openapi"]
            .as_str()
            .is_some_and(|version| version.starts_with("3.1"))
    );
}
