//! Why something elsewhere cannot be read: each reason is told from the others.
#![cfg(feature = "object-store")]
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::BINARY;

/// A server that answers every request alike, and how many there were.
fn server(answer: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let _ = write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    (address, requests)
}

fn refused(address: &str, variables: &[(&str, &str)], says: &[&str]) {
    let mut command = Command::new(BINARY);
    command.args(["evaluate", address]).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in says {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    for wrong in ["retries", "network", "panicked"] {
        assert!(!message.contains(wrong), "`{wrong}` is in: {message}");
    }
}

#[test]
fn a_request_that_is_refused_is_not_said_to_be_tried_again() {
    let (server, requests) = server("400 Bad Request");
    refused(&format!("http://{server}/log.csv"), &[], &["the server refuses the request", "400 Bad Request"]);
    assert_eq!(requests.load(Ordering::Relaxed), 1);
    let s3 = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", &format!("http://{server}")),
    ];
    refused("s3://bucket/log.csv", &s3, &["the server refuses the request", "400 Bad Request"]);
}

#[test]
fn addresses_that_are_none_are_named_so() {
    for address in ["http://host:99999/log.csv", "http://[::1/log.csv", "http://ho st/log.csv"] {
        refused(address, &[], &[address, "not a valid address"]);
    }
}

#[test]
fn a_server_without_encryption_is_told_from_one_that_is_gone() {
    let (server, _) = server("200 OK");
    refused(&format!("https://{server}/log.csv"), &[], &["does not speak https", "http://"]);
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let says = ["the settings of the environment cannot be used", "check "];
    let google = [("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")];
    refused("gs://bucket/log.csv", &google, &[&says[..], &["GOOGLE_APPLICATION_CREDENTIALS"]].concat());
    let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("AZURE_STORAGE_ACCOUNT_KEY", "notbase64")];
    refused("az://container/log.csv", &azure, &[&says[..], &["AZURE_STORAGE_ACCOUNT_KEY"]].concat());
    let s3 = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_ENDPOINT_URL", "http://ho st")];
    refused("s3://bucket/log.csv", &s3, &[&says[..], &["AWS_ENDPOINT_URL"]].concat());
}
