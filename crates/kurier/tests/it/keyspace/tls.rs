//! `rediss://`: encrypted, to a server whose certificate is checked.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::cli::with_variables;
use crate::harness::Redis;

/// A certificate for `localhost`, signed by an authority of its own.
fn certify(folder: &Path) {
    let name = "-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    let authority = "-addext basicConstraints=critical,CA:TRUE";
    for line in [
        format!("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca {authority}"),
        format!("req -newkey rsa:2048 -nodes -keyout redis.key -out redis.csr -subj /CN=localhost {name}"),
        "x509 -req -in redis.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out redis.crt -days 2 -copy_extensions copy".to_owned(),
    ] {
        let output = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(folder)
            .output()
            .expect("openssl is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn an_encrypted_redis_is_used_if_its_certificate_is_trusted() {
    let folder = TempDir::new().expect("a folder");
    certify(folder.path());
    let redis = Redis::start_encrypted(folder.path());
    let ca = folder.path().join("ca.crt");
    let trusted = [("SSL_CERT_FILE", ca.to_str().expect("a path"))];
    let url = format!("rediss://localhost:{}", redis.port());
    let health = ["keys", "health", "--pings", "3", "--redis-url", &url];
    with_variables(&health, &trusted).expect(0);
    let refused = with_variables(&health, &[]).expect(1).stdout;
    assert!(refused.contains("invalid peer certificate"), "{refused}");
    let other = format!("rediss://127.0.0.1:{}", redis.port());
    let health = ["keys", "health", "--pings", "3", "--redis-url", &other];
    let refused = with_variables(&health, &trusted).expect(1).stdout;
    assert!(refused.contains("invalid peer certificate"), "{refused}");
}
