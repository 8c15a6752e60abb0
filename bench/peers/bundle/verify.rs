//! Proofs a second with the crate: read the bytes, find the root, compare it.

use std::time::{Duration, Instant};

use bsv_rs::transaction::MerklePath;

#[derive(serde::Deserialize)]
struct Given {
    proofs: Vec<Proof>,
    seconds: f64,
}

#[derive(serde::Deserialize)]
struct Proof {
    bump: String,
    txid: String,
    root: String,
}

fn run(proofs: &[(Vec<u8>, Proof)], length: Duration) -> f64 {
    let (began, mut count) = (Instant::now(), 0_u32);
    while began.elapsed() < length {
        for (bytes, proof) in proofs {
            let path = MerklePath::from_binary(bytes).expect("it reads the proof");
            let root = path.compute_root(Some(&proof.txid)).expect("a root");
            assert_eq!(root, proof.root, "another root");
            count += 1;
        }
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

fn main() {
    let file = std::env::args().nth(1).expect("a file of proofs");
    let text = std::fs::read_to_string(file).expect("it is there");
    let given: Given = serde_json::from_str(&text).expect("JSON");
    let bytes = |proof: &Proof| hex::decode(&proof.bump).expect("hexadecimal");
    let proofs: Vec<_> = given.proofs.into_iter().map(|it| (bytes(&it), it)).collect();
    run(&proofs, Duration::from_millis(200));
    println!("{}", run(&proofs, Duration::from_secs_f64(given.seconds)));
}
