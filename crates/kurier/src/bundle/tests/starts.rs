//! Headers that do not begin with the first block: how many it takes, and whose are believed.

use kurier_core::bundle::Hash256;
use kurier_core::bundle::chain::{Chain, HEADER_BYTES, Header};

use super::server::{Manner, Server, chain_on, genesis, headers};

fn from(server: &Server, start: usize, more: &str) -> String {
    format!("{}&start={start}{more}", server.url)
}

fn pin(hash: Hash256) -> String {
    format!("&checkpoint={hash}")
}

#[tokio::test]
async fn a_checkpoint_is_looked_for_page_by_page() {
    let chain = chain_on(&genesis(), 12, 1);
    let server = Server::start(Manner::Paged(chain[2..].to_vec(), 2, 3)).await;
    let pinned = headers(&[&from(&server, 2, &pin(chain[9].hash()))]);
    assert!(pinned.refresh().await, "{:?}", pinned.reports());
    assert_eq!(pinned.tip().expect("a tip").hash, chain[12].hash());
    let other = headers(&[&from(&server, 2, &pin(Hash256([7; 32])))]);
    assert!(!other.refresh().await);
    let fault = other.reports()[0].fault.clone().expect("refused");
    assert!(fault.contains("not the checkpoint"), "{fault}");
    assert!(other.calm().1);
}

/// Bitcoin's rule of difficulty looks 2,016 headers back, which is more than a page.
#[tokio::test]
async fn a_server_gives_what_the_rule_needs_in_as_many_pages_as_it_takes() {
    let above = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut files =
        above.map(|folder| folder.join("shared/vectors/spv/btc-mainnet-0-10236.headers"));
    let Some(bytes) = files.find_map(|file| std::fs::read(file).ok()) else {
        println!("there are no real headers to try");
        return;
    };
    let read = |bytes: &[u8]| Header::parse(bytes).expect("80 bytes");
    let real: Vec<Header> = bytes.chunks_exact(HEADER_BYTES).map(read).collect();
    for page in [usize::MAX, 300] {
        let served = Manner::Paged(real[1..5_000].to_vec(), 1, page);
        let server = Server::start(served).await;
        let url = from(&server, 1, "").replace("chain=regtest", "chain=btc");
        let headers = headers(&[&url]);
        assert!(headers.refresh().await, "{page}: {:?}", headers.reports());
        assert_eq!(headers.tip().expect("a tip").height, 4_999);
        assert_eq!(headers.chain(), Chain::Btc);
    }
}

/// Nobody can tell which of them is right, so nothing is ready; a checkpoint can.
#[tokio::test]
async fn sources_that_begin_with_other_headers_are_a_dispute_unless_there_is_a_checkpoint() {
    let (one, two) = (chain_on(&genesis(), 9, 1), chain_on(&genesis(), 9, 2));
    let a = Server::start(Manner::Paged(one[5..].to_vec(), 5, 100)).await;
    let b = Server::start(Manner::Paged(two[5..].to_vec(), 5, 100)).await;
    let both = headers(&[&from(&a, 5, ""), &from(&b, 5, "")]);
    both.refresh().await;
    assert!(both.tip().is_some(), "the first is used");
    assert!(both.calm().1, "and doubted");
    let alone = headers(&[&from(&a, 5, "")]);
    assert!(alone.refresh().await && !alone.calm().1);
    let pin = pin(two[6].hash());
    let pinned = headers(&[&from(&a, 5, &pin), &from(&b, 5, &pin)]);
    pinned.refresh().await;
    assert_eq!(pinned.tip().expect("a tip").hash, two[9].hash());
    assert!(!pinned.calm().1, "{:?}", pinned.reports());
    assert!(pinned.reports()[0].fault.is_some(), "it is refused");
}

#[tokio::test]
async fn a_source_that_forks_off_below_the_checkpoint_is_refused() {
    let one = chain_on(&genesis(), 9, 1);
    let two = chain_on(&one[..7], 5, 2);
    let a = Server::start(Manner::Paged(one[5..].to_vec(), 5, 100)).await;
    let pin = pin(one[8].hash());
    let pinned = headers(&[&from(&a, 5, &pin)]);
    assert!(pinned.refresh().await);
    a.now_is(Manner::Paged(two[5..].to_vec(), 5, 100));
    super::kit::pass(30_000);
    assert!(!pinned.refresh().await);
    assert_eq!(pinned.tip().expect("a tip").hash, one[9].hash());
    let fault = pinned.reports()[0].fault.clone().expect("refused");
    assert!(fault.contains("below the checkpoint"), "{fault}");
}

#[tokio::test]
async fn a_known_block_at_a_false_height_is_not_believed() {
    let chain = chain_on(&genesis(), 4, 1);
    let server = Server::start(Manner::Honest(chain.clone())).await;
    let headers = headers(&[&server.url]);
    assert!(headers.refresh().await);
    server.now_is(Manner::Raised(chain, 90));
    super::kit::pass(30_000);
    assert!(!headers.refresh().await);
    let fault = headers.reports()[0].fault.clone().expect("refused");
    assert!(fault.contains("height 94 that stands at 4"), "{fault}");
}
