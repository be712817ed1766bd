//! Secrets of addresses and of the environment are in no byte that the command writes.
//!
//! Addresses that can be fetched need a server: `python/tests/test_secrets.py`.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::BINARY;
use serde_json::{Value, json};

const SECRETS: [&str; 5] = ["USERSECRET", "PWSECRET", "SIGSECRET", "FRAGSECRET", "ENVSECRET"];

/// Addresses that are refused before anything is fetched, with or without object storage.
const ADDRESSES: [&str; 12] = [
    "http://USERSECRET:PWSECRET@host/a*.csv?sig=SIGSECRET#FRAGSECRET",
    "https://USERSECRET:PW%40PWSECRET@host:80/logs/#FRAGSECRET",
    "http://USERSECRET:PWSECRET/PWSECRET@host/a.csv?sig=SIG SECRET SIGSECRET",
    "http:/host/a.csv?sig=SIGSECRET",
    "http:/USERSECRET:PWSECRET@host/a.csv#FRAGSECRET",
    "http:USERSECRET:PWSECRET@host/a.csv",
    "/here/https:/USERSECRET:PWSECRET@host/a.csv?SIGSECRET",
    "ftp://USERSECRET:PWSECRET@host/a.csv?SIGSECRET#FRAGSECRET",
    "s3://USERSECRET:PWSECRET@bucket/a.csv?SIGSECRET#FRAGSECRET",
    "s3://bucket/a.csv?X-Amz-Signature=SIGSECRET",
    "az://container/a.csv?sv=1&sig=SIGSECRET",
    "file://USERSECRET:PWSECRET@host/a.csv?SIGSECRET",
];

const RULES: &str = "[[rule]]\nname = \"r\"\nrequire = \"mean(target) > 0\"\n";

struct Folder(tempfile::TempDir);

impl Folder {
    /// With a log, its summary, and rules.
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        let row = |i: usize| format!("{},0.5,0.{}\n", (i * 7) % 101, 1 + i % 9);
        let rows: String = (0..200).map(row).collect();
        fs::write(folder.path("log.csv"), format!("reward,mu_1,pi_1\n{rows}bad,0.5,0.5\n")).unwrap();
        fs::write(folder.path("rules.toml"), RULES).unwrap();
        let saved = folder.run(&["evaluate", "log.csv", "--on-bad-row", "skip", "--save", "good.slateval"]);
        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(BINARY);
        for name in
            ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_ACCOUNT_KEY"]
        {
            command.env(name, "ENVSECRET");
        }
        command.env("AWS_ENDPOINT_URL", "http://ENVSECRET:ENVSECRET@127.0.0.1:9");
        let debug = ["--log-level", "debug"];
        let is_command = words.first().is_some_and(|word| !word.contains(':'));
        let more: &[&str] = if is_command { &debug } else { &[] };
        command.args(words).args(more).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs a command, and looks for secrets in all that it wrote.
    fn run_searched(&self, words: &[&str]) -> Output {
        let output = self.run(words);
        let mut written = vec![("stdout".into(), output.stdout.clone()), ("stderr".into(), output.stderr.clone())];
        let files = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        written.extend(
            files.filter(|path| !path.ends_with("old.slateval")).map(|path| (path.clone(), fs::read(path).unwrap())),
        );
        for (name, bytes) in written {
            let found = SECRETS.iter().find(|secret| contains(&bytes, secret));
            assert_eq!(found, None, "{words:?}: {}: {}", name.display(), String::from_utf8_lossy(&bytes));
        }
        output
    }
}

fn contains(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// Every command, with an address wherever a log, a file or a value is wanted.
fn commands(address: &str) -> Vec<Vec<&str>> {
    let mut commands: Vec<Vec<&str>> = [
        "evaluate ADDRESS --json o.json --report r.html --plot p.svg --cdf c.csv --save s.slateval --resume w.slateval --progress json",
        "evaluate log.csv ADDRESS --on-bad-file skip --on-bad-row skip",
        "inspect ADDRESS --json - --progress json",
        "gate ADDRESS --rules rules.toml --format json",
        "gate ADDRESS --rules rules.toml --format text",
        "gate ADDRESS --rules rules.toml --format github",
        "gate good.slateval ADDRESS --rules rules.toml",
        "gate good.slateval --rules ADDRESS",
        "update state.slateval ADDRESS",
        "update ADDRESS log.csv",
        "merge good.slateval ADDRESS -o m.slateval",
        "merge good.slateval -o ADDRESS",
        "show ADDRESS --json -",
        "log ADDRESS --json -",
        "show good.slateval ADDRESS",
        "evaluate log.csv --seed ADDRESS",
        "evaluate log.csv --target ADDRESS",
        "evaluate log.csv --target new=ADDRESS",
        "evaluate log.csv --chi ADDRESS",
        "evaluate log.csv --by ADDRESS",
        "evaluate log.csv --structure ADDRESS",
        "evaluate log.csv --resume ADDRESS",
        "evaluate log.csv --json ADDRESS",
        "evaluate log.csv --report ADDRESS",
        "evaluate log.csv --plot ADDRESS",
        "evaluate log.csv --cdf ADDRESS",
        "evaluate log.csv --save ADDRESS",
        "simulate additive -n 10 --output ADDRESS",
        "simulate ratings --ratings ADDRESS -n 10 --output l.parquet",
        "reproduce table-1b --ratings ADDRESS --trials 1",
        "reproduce figure-1 --figures ADDRESS --trials 1",
    ]
    .map(|command| command.split(' ').map(|word| if word == "ADDRESS" { address } else { word }).collect())
    .into();
    commands.push(vec![address]);
    commands
}

#[test]
fn no_command_repeats_the_secrets_of_an_address() {
    let folder = Folder::new();
    for address in ADDRESSES {
        for words in commands(address) {
            let output = folder.run_searched(&words);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let given = format!("--json={address}");
        assert_eq!(folder.run_searched(&["evaluate", "log.csv", &given]).status.code(), Some(2));
    }
}

#[test]
fn a_password_that_is_not_sent_is_refused_with_advice() {
    let folder = Folder::new();
    for (address, advice) in [
        (ADDRESSES[2], "write / as %2F"),
        (ADDRESSES[3], "two slashes belong behind the colon"),
        (ADDRESSES[8], "set AWS_ACCESS_KEY_ID"),
        (ADDRESSES[10], "AZURE_STORAGE_SAS_TOKEN"),
    ] {
        let output = folder.run_searched(&["evaluate", address]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(advice) && told.contains("a.csv"), "{told}");
    }
}

/// The same summary as an earlier version wrote it, with all that addresses held.
fn with_secrets(summary: &Path, old: &Path) {
    const PREAMBLE: usize = 20;
    let bytes = fs::read(summary).unwrap();
    let length = u64::from_le_bytes(bytes[12..PREAMBLE].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[PREAMBLE..PREAMBLE + length]).unwrap();
    let address = "http://USERSECRET:PWSECRET@host/it's a.csv?sig=SIGSECRET b#FRAGSECRET";
    header["inputs"][0]["name"] = address.into();
    header["skipped"]["examples"][0]["file"] = address.into();
    header["skipped"]["examples"][0]["value"] = "no: http://USERSECRET:PWSECRET@host/a.csv?sig=SIGSECRET".into();
    let quoted = address.replace('\'', "'\\''");
    header["history"]["commands"] = json!([format!("slateval evaluate '{quoted}' --json ftp://USERSECRET@host/x")]);
    let header = serde_json::to_vec(&header).unwrap();
    let rest = &bytes[PREAMBLE + length..bytes.len() - 4];
    let mut made = [&bytes[..12], &(header.len() as u64).to_le_bytes(), &header, rest].concat();
    made.extend(crc32fast::hash(&made).to_le_bytes());
    assert!(SECRETS[..4].iter().all(|secret| contains(&made, secret)));
    fs::write(old, made).unwrap();
}

#[test]
fn summaries_of_before_are_redacted_when_they_are_read() {
    let folder = Folder::new();
    with_secrets(&folder.path("good.slateval"), &folder.path("old.slateval"));
    for words in [
        "log old.slateval",
        "log old.slateval --json log.json",
        "show old.slateval --json show.json --report show.html",
        "gate old.slateval --rules rules.toml --format json",
        "merge old.slateval -o merged.slateval",
        "log merged.slateval --json -",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = folder.run_searched(&words);
        // A gate's rule may not hold.
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_some_and(|code| code == 0 || words[0] == "gate" && code == 1),
            "{words:?}: {told}"
        );
    }
    let told = String::from_utf8(folder.run(&["log", "merged.slateval"]).stdout).unwrap();
    assert!(told.contains("http://host/it's a.csv\n"), "{told}");
    assert!(told.contains(r"slateval evaluate 'http://host/it'\''s a.csv' --json ftp://host/x"), "{told}");
    // A state is written anew by its next update.
    fs::write(folder.path("more.csv"), "reward,mu_1,pi_1\n1,0.5,0.5\n").unwrap();
    assert_eq!(folder.run(&["update", "old.slateval", "more.csv"]).status.code(), Some(0));
    let bytes = fs::read(folder.path("old.slateval")).unwrap();
    assert!(!SECRETS.iter().any(|secret| contains(&bytes, secret)));
}
