//! Transactions as Bitcoin's nodes hand them over, with witnesses: an id is the hash of the
//! transaction without them.

use super::super::bytes::Reader;
use super::anchor::check_txid;
use super::fault::Fault;
use super::tx::{TX_BYTES_MAX, Tx, read_inputs, read_outputs};

/// Where the number of inputs stands otherwise, which is never zero.
const MARKER: [u8; 2] = [0, 1];
const VERSION_BYTES: usize = 4;

/// The transaction without its witnesses, if it has some; its hash is its id.
pub fn without_witnesses(raw: &[u8]) -> Result<Vec<u8>, Fault> {
    let behind = raw.get(VERSION_BYTES..).ok_or(Fault::Truncated)?;
    match behind.strip_prefix(&MARKER) {
        Some(body) => strip(&raw[..VERSION_BYTES], body),
        None => {
            // What has the length of an inner node is refused for that, whatever it says.
            check_txid(raw, None)?;
            Tx::parse(raw).map(|tx| tx.raw().to_vec())
        }
    }
}

fn strip(version: &[u8], body: &[u8]) -> Result<Vec<u8>, Fault> {
    if body.len() > TX_BYTES_MAX {
        return Err(Fault::TooLarge);
    }
    let mut reader = Reader::new(body);
    let inputs = read_inputs(&mut reader)?.len();
    read_outputs(&mut reader)?;
    let kept = &body[..body.len() - reader.left()];
    for _ in 0..inputs {
        for _ in 0..reader.count(1)? {
            reader.sized()?;
        }
    }
    let lock_time: [u8; 4] = reader.array()?;
    match reader.left() {
        0 => Ok([version, kept, &lock_time].concat()),
        _ => Err(Fault::Trailing),
    }
}
