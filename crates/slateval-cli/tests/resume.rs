//! Runs that are killed at any moment: nothing is lost, nothing is counted twice, nothing is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use common::BINARY;
use slateval_testing::Random;

/// A moment of a run that takes so long; some come after its end.
fn moment(random: &mut Random, run: Duration) -> Duration {
    run * u32::try_from(random.below(1200)).unwrap() / 1000
}

/// A folder of small logs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: u64, rows: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random::new(5);
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        for file in 0..files {
            let mut text = "reward,mu_1,mu_2,pi_1,pi_2,city\n".to_owned();
            for _ in 0..rows {
                let reward = random.below(1000) as f64 / 999.0;
                let mut share = || 0.1 + random.below(800) as f64 / 1000.0;
                let [a, b, c, d] = [share(), share(), share(), share()];
                text += &format!("{reward},{a},{b},{c},{d},{}\n", random.below(3));
            }
            std::fs::write(folder.path().join(format!("logs/{file:02}.csv")), text).unwrap();
        }
        Folder(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn start(&self, words: &[&str]) -> Child {
        let mut command = Command::new(BINARY);
        command.args(words).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs to the end.
    fn run(&self, words: &[&str]) {
        let output = self.start(words).wait_with_output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn remove(&self, name: &str) {
        let _ = std::fs::remove_file(self.path(name));
    }

    /// Names of hidden files: temporary ones and locks.
    fn hidden(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with('.')).collect()
    }
}

/// How long a run takes, at least.
fn duration(mut run: impl FnMut()) -> Duration {
    let once = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    std::iter::repeat_with(once).take(3).min().unwrap()
}

/// Kills a run at a moment; tells whether it had come to its end before.
fn kill(mut child: Child, moment: Duration) -> bool {
    std::thread::sleep(moment);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    status.success()
}

fn signal(mut child: Child, name: &str, moment: Duration) -> ExitStatus {
    std::thread::sleep(moment);
    // It may have ended already.
    let _ = Command::new("kill").args(["-s", name, &child.id().to_string()]).stderr(Stdio::null()).status().unwrap();
    child.wait().unwrap()
}

const EVALUATE: [&str; 10] =
    ["evaluate", "logs", "--structure", "additive", "--by", "city", "--draws", "200", "--json", "out.json"];

fn evaluate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [EVALUATE.as_slice(), more].concat()
}

#[test]
fn a_resumed_reading_ends_as_if_it_had_not_been_interrupted() {
    let folder = Folder::new(40, 300);
    folder.run(&evaluate(&[]));
    let whole = folder.read("out.json");
    let resuming = evaluate(&["--resume", "work.slateval"]);
    let run = duration(|| {
        folder.run(&resuming);
        assert!(!folder.path("work.slateval").exists(), "the work is done");
    });
    let mut random = Random::new(1);
    let (mut kills, mut resumed) = (0, 0);
    while kills < 120 {
        folder.remove("out.json");
        for _ in 0..=random.below(4) {
            kills += u32::from(!kill(folder.start(&resuming), moment(&mut random, run)));
            if folder.path("out.json").exists() {
                assert!(folder.read("out.json") == whole, "whole, or not there");
            }
        }
        resumed += u32::from(folder.path("work.slateval").exists());
        let threads = ["1", "2", "5"][random.below(3) as usize];
        folder.run(&evaluate(&["--resume", "work.slateval", "--threads", threads]));
        assert!(folder.read("out.json") == whole, "after {kills} kills");
        assert!(!folder.path("work.slateval").exists());
        assert!(folder.hidden().is_empty(), "the run removes what killed ones left: {:?}", folder.hidden());
    }
    assert!(resumed > 10, "{resumed} runs had something to go on from");
}

#[test]
fn a_state_loses_nothing_and_counts_nothing_twice() {
    let folder = Folder::new(8, 2000);
    let logs: Vec<String> = (0..8).map(|file| format!("logs/{file:02}.csv")).collect();
    let update = |log| ["update", "state.slateval", log, "--structure", "additive", "--draws", "200"];
    let show = ["show", "state.slateval", "--draws", "200", "--json", "out.json"];
    logs.iter().for_each(|log| folder.run(&update(log)));
    folder.run(&show);
    let whole = folder.read("out.json");
    let run = duration(|| {
        folder.remove("state.slateval");
        folder.run(&update(&logs[0]));
    });
    let mut random = Random::new(2);
    let mut kills = 0;
    while kills < 80 {
        folder.remove("state.slateval");
        for log in &logs {
            for _ in 0..=random.below(3) {
                kills += u32::from(!kill(folder.start(&update(log)), moment(&mut random, run)));
            }
            folder.run(&update(log));
        }
        // A job that is tried again.
        folder.run(&update(&logs[3]));
        folder.run(&show);
        assert!(folder.read("out.json") == whole, "after {kills} kills");
        assert!(folder.hidden().is_empty(), "{:?}", folder.hidden());
    }
}

#[test]
fn a_run_that_is_stopped_leaves_nothing_behind() {
    let folder = Folder::new(30, 300);
    let resuming = evaluate(&["--resume", "work.slateval", "--save", "all.slateval"]);
    let update = ["update", "state.slateval", "logs", "--structure", "additive"];
    let run = duration(|| folder.run(&resuming));
    let mut random = Random::new(3);
    let mut stopped = 0;
    for turn in 0..60 {
        let (name, number) = [("TERM", 15), ("INT", 2), ("HUP", 1)][turn % 3];
        let words: &[&str] = if turn % 2 == 0 { &resuming } else { &update };
        let status = signal(folder.start(words), name, moment(&mut random, run));
        assert!(status.success() || status.signal() == Some(number), "{name}: {status}");
        stopped += u32::from(!status.success());
        assert!(folder.hidden().is_empty(), "{name}: {:?}", folder.hidden());
        folder.remove("state.slateval");
    }
    assert!(stopped > 10, "{stopped} runs were stopped");
}

/// Containers that share a directory often have the same process numbers.
#[test]
fn two_writers_of_one_file_do_not_meet() {
    let folder = Folder::new(4, 300);
    folder.run(&EVALUATE);
    let whole = folder.read("out.json");
    let alone = ["--pid", "--fork", BINARY];
    let separate = Command::new("unshare").args(["--pid", "--fork", "true"]).stderr(Stdio::null()).status();
    let separate = separate.is_ok_and(|status| status.success());
    let start = || {
        if !separate {
            return folder.start(&EVALUATE);
        }
        let mut command = Command::new("unshare");
        command.args(alone).args(EVALUATE).current_dir(folder.0.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for _ in 0..5 {
        let writers: Vec<Child> = (0..4).map(|_| start()).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        assert!(folder.read("out.json") == whole);
        assert!(folder.hidden().is_empty());
    }
}

#[test]
fn updates_at_once_wait_for_each_other() {
    let folder = Folder::new(6, 100);
    let update = |file: usize| {
        let own = format!("logs/{file:02}.csv");
        folder.start(&["update", "state.slateval", "logs/00.csv", &own, "--structure", "additive"])
    };
    let updates: Vec<Child> = (1..6).map(update).collect();
    for update in updates {
        let output = update.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    folder.run(&["log", "state.slateval", "--json", "out.json"]);
    let found: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!(found["rows"], 600);
    assert_eq!(found["inputs"].as_array().unwrap().len(), 6);
    assert!(folder.hidden().is_empty());
    assert!(Path::new(&folder.path("state.slateval")).exists());
}
