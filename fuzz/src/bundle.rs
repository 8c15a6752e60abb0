//! Any bytes as a proof, a transaction, a header or a bundle: read or refused, never
//! stumbled over.

use kurier_core::bundle::chain::{Chain, Header, Tree};
use kurier_core::bundle::proof::{Beef, Bump, Tsc, Tx, without_witnesses};
use kurier_core::bundle::{Envelope, Given, Policy, verify};

/// Later than any header has a right to be.
const NOW: i64 = i64::MAX;

/// What holds of any bytes, as they are and as the hexadecimal text of others:
/// * a proof that is read is written as the same bytes, and each transaction in it can be
///   had alone if the whole leads to a root, which is then the same;
/// * a wallet's proof that is taken is one of ours afterwards;
/// * a bundle that is read is written, read as the same, and verified;
/// * headers are taken or refused.
pub fn bundle(bytes: &[u8]) {
    read(bytes);
    if let Some(inner) = unhex(bytes) {
        read(&inner);
    }
}

fn read(bytes: &[u8]) {
    proof(bytes);
    if let Ok(tx) = Tx::parse(bytes) {
        assert_eq!(tx.raw(), bytes);
        let pushes = tx.scripts().iter().map(|script| script.pushes().count());
        assert!(pushes.sum::<usize>() <= bytes.len());
    }
    if let Ok(stripped) = without_witnesses(bytes) {
        assert!(stripped.len() <= bytes.len());
    }
    if let Ok(beef) = Beef::parse(bytes) {
        for proven in beef.proven() {
            assert!(proven.bump.only(&proven.txid).is_ok());
        }
    }
    if let Ok(tsc) = Tsc::parse(bytes)
        && let Ok(bump) = tsc.to_bump(1)
    {
        assert!(bump.root().is_ok());
    }
    envelope(bytes);
    headers(bytes);
}

fn proof(bytes: &[u8]) {
    if let Ok(bump) = Bump::parse(bytes) {
        assert_eq!(bump.bytes(), bytes);
        let root = bump.root();
        for txid in bump.txids() {
            let only = bump.only(&txid);
            assert_eq!(only.and_then(|only| only.root()), root);
        }
    }
    if let Ok(bump) = Bump::import(bytes) {
        assert!(bump.root().is_ok());
        assert_eq!(Bump::parse(&bump.bytes()), Ok(bump));
    }
}

fn envelope(bytes: &[u8]) {
    let Ok(envelope) = Envelope::parse(bytes) else {
        return;
    };
    let again = envelope.canonical().expect("what was read can be written");
    assert_eq!(Envelope::parse(&again).as_ref(), Ok(&envelope));
    let tree = Tree::from_genesis(Chain::Regtest);
    let given = Given {
        content: Some(bytes),
        tree: Some(&tree),
        policy: Policy::new(1, true).expect("one"),
        unstable: false,
    };
    let report = verify(&envelope, &given);
    assert!(!report.ready, "the tree holds no block of anyone's");
}

fn headers(bytes: &[u8]) {
    if let Ok(header) = Header::parse(bytes) {
        assert_eq!(header.bytes(), bytes);
    }
    let mut tree = Tree::from_genesis(Chain::Regtest);
    let before = tree.work();
    let taken = tree.extend(bytes, NOW);
    assert!(tree.work() > before || !matches!(taken, Ok(1..)));
    let _ = tree.accept(bytes, NOW);
}

/// The bytes of hexadecimal text.
fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let text = text.trim_ascii_end();
    let pairs = text.chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    let bytes = pairs.map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8));
    whole.then(|| bytes.collect())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One input a line, most of them as hexadecimal text.
    const SEEDS: &str = include_str!("../bundle.seeds");

    #[test]
    fn the_seeds_hold() {
        SEEDS.lines().for_each(|line| bundle(line.as_bytes()));
        let inner: Vec<Vec<u8>> = SEEDS
            .lines()
            .filter_map(|line| unhex(line.as_bytes()))
            .collect();
        let good = |bytes: &&Vec<u8>| Bump::import(bytes).is_ok();
        assert!(
            inner.iter().filter(good).count() > 5,
            "most seeds lead deep into a format"
        );
        assert!(inner.iter().any(|bytes| Beef::parse(bytes).is_ok()));
        assert!(inner.iter().any(|bytes| Tx::parse(bytes).is_ok()));
        let texts = || SEEDS.lines().map(str::as_bytes);
        assert!(texts().any(|text| Envelope::parse(text).is_ok()));
        assert!(texts().any(|text| Tsc::parse(text).is_ok()));
    }

    proptest! {
        /// Seeds cut, doubled and put together at any place.
        #[test]
        fn crossed_seeds_hold(
            pieces in prop::collection::vec(
                (0..SEEDS.lines().count(), 0..400usize, 0..400usize), 1..4),
        ) {
            let text: Vec<u8> = pieces.iter().flat_map(|(line, skip, take)| {
                let line = SEEDS.lines().nth(*line).expect("a line");
                line.bytes().skip(*skip * 2).take(*take * 2).collect::<Vec<u8>>()
            }).collect();
            bundle(&text);
        }
    }
}
