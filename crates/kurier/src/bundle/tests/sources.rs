//! Where headers come from, and what is made of sources that fail, lie, lag or disagree.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kurier_core::bundle::chain::Header;

use super::kit::{Kit, pass, settings};
use super::server::{Manner, Server, chain_on, genesis, headers};

#[tokio::test]
async fn a_server_is_followed_over_blocks_and_a_reorg() {
    let chain = chain_on(&genesis(), 5, 1);
    let server = Server::start(Manner::Honest(chain.clone())).await;
    let headers = headers(&[&server.url]);
    assert!(headers.refresh().await);
    assert_eq!(headers.tip().expect("a tip").hash, chain[5].hash());
    let longer = chain_on(&chain, 1, 2);
    server.now_is(Manner::Honest(longer.clone()));
    pass(30_000);
    headers.refresh().await;
    assert_eq!(headers.tip().expect("a tip").height, 6);
    let other = chain_on(&chain[..2], 9, 3);
    server.now_is(Manner::Honest(other.clone()));
    pass(30_000);
    headers.refresh().await;
    assert_eq!(headers.tip().expect("a tip").hash, other[10].hash());
    assert!(!headers.calm().1, "one source agrees with itself");
}

#[tokio::test]
async fn source_lying_its_headers_are_refused_and_the_others_are_used() {
    let good = chain_on(&genesis(), 5, 1);
    let bad = chain_on(&good, 9, 2);
    let (liar, honest) = (
        Server::start(Manner::Lying(bad, 9)).await,
        Server::start(Manner::Honest(good.clone())).await,
    );
    let both = headers(&[&liar.url, &honest.url]);
    both.refresh().await;
    assert_eq!(both.tip().expect("a tip").hash, good[5].hash());
    assert!(!both.calm().1);
    let reports = both.reports();
    let fault = reports[0].fault.as_deref().expect("refused");
    assert!(fault.contains("refused"), "{fault}");
    assert_eq!(reports[1].fault, None);
    let alone = headers(&[&liar.url]);
    assert!(!alone.refresh().await);
    assert!(alone.calm().1, "nobody was found good");
}

#[tokio::test]
async fn source_slow_keeps_none_of_the_others_waiting() {
    let good = chain_on(&genesis(), 3, 1);
    let (slow, honest) = (
        Server::start(Manner::Silent).await,
        Server::start(Manner::Honest(good.clone())).await,
    );
    let both = headers(&[&slow.url, &honest.url]);
    let began = std::time::Instant::now();
    both.refresh().await;
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    assert_eq!(both.tip().expect("a tip").hash, good[3].hash());
    let fault = both.reports()[0].fault.clone().expect("slow");
    assert!(fault.contains("no answer within"), "{fault}");
}

#[tokio::test]
async fn source_lagging_is_behind_and_disputes_nothing() {
    let long = chain_on(&genesis(), 6, 1);
    let behind = Server::start(Manner::Honest(long[..4].to_vec())).await;
    let ahead = Server::start(Manner::Honest(long.clone())).await;
    let both = headers(&[&behind.url, &ahead.url]);
    both.refresh().await;
    assert_eq!(both.tip().expect("a tip").height, 6);
    assert!(!both.calm().1);
}

#[tokio::test]
async fn sources_disagreeing_the_most_work_wins_and_answers_are_unstable() {
    let common = chain_on(&genesis(), 3, 1);
    let (short, long) = (chain_on(&common, 1, 2), chain_on(&common, 2, 3));
    let a = Server::start(Manner::Honest(short)).await;
    let b = Server::start(Manner::Honest(long.clone())).await;
    let both = headers(&[&a.url, &b.url]);
    both.refresh().await;
    assert_eq!(both.tip().expect("a tip").hash, long[5].hash());
    assert!(both.calm().1, "they disagree");
    a.now_is(Manner::Honest(long));
    pass(30_000);
    both.refresh().await;
    assert!(!both.calm().1, "they agree again");
}

/// In an hour of looking every second it is asked after 1, 2, 4 … 300 seconds, more or less a
/// fifth, though everybody asks for the newest all the time.
#[tokio::test]
async fn source_down_is_left_alone_longer_and_longer() {
    let server = Server::start(Manner::Broken).await;
    let headers = headers(&[&server.url]);
    let mut asked_at = Vec::new();
    for second in 0..3_600_i64 {
        let before = server.asked.load(Ordering::SeqCst);
        headers.hurry();
        headers.refresh().await;
        if server.asked.load(Ordering::SeqCst) > before {
            asked_at.push(second);
        }
        pass(1_000);
    }
    assert!((16..=24).contains(&asked_at.len()), "{asked_at:?}");
    let gaps: Vec<i64> = asked_at.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps[..7].is_sorted(), "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap <= 300), "{gaps:?}");
    // And one that works again is asked as before.
    server.now_is(Manner::Honest(genesis()));
    pass(300_000);
    assert!(headers.refresh().await);
    let asked = server.asked.load(Ordering::SeqCst);
    pass(30_000);
    assert!(headers.refresh().await);
    assert!(server.asked.load(Ordering::SeqCst) > asked);
}

#[tokio::test]
async fn done_header_cache_a_source_is_not_asked_by_every_request() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 1).await;
    let server = Server::start(Manner::Honest(kit.chain.clone())).await;
    let with = settings(&server.url, true);
    let (store, kv) = (kit.store.clone(), kit.kv.clone());
    let made = super::super::Bundles::new(store, kv, kit.versions.clone(), &with, super::kit::now);
    let made = Arc::new(made.expect("usable"));
    made.refresh().await;
    let asked = server.asked.load(Ordering::SeqCst);
    for _ in 0..200 {
        made.answer(kit.scope, id, 0)
            .await
            .expect("answered")
            .expect("known");
    }
    made.refresh().await;
    assert_eq!(server.asked.load(Ordering::SeqCst), asked);
}

#[tokio::test]
async fn a_tip_alone_is_shown_and_proves_nothing() {
    let mut kit = Kit::new().await;
    let id = kit.proven("a", 3).await;
    let server = Server::start(Manner::TipOnly(kit.chain.clone())).await;
    let with = settings(&server.url, true);
    let (store, kv) = (kit.store.clone(), kit.kv.clone());
    let made = super::super::Bundles::new(store, kv, kit.versions.clone(), &with, super::kit::now);
    let made = Arc::new(made.expect("usable"));
    made.refresh().await;
    let answer = made
        .answer(kit.scope, id, 0)
        .await
        .expect("answered")
        .expect("known");
    assert_eq!(
        (answer.confs, answer.unstable, answer.ready),
        (None, true, false)
    );
    assert_eq!(answer.state, kurier_core::bundle::State::UnknownHeader);
    assert_eq!(answer.tip.expect("told").height, 4);
}

#[tokio::test]
async fn a_file_of_json_is_read_as_well_and_what_is_wrong_in_it_is_refused() {
    let kit = Kit::new().await;
    let chain = chain_on(&genesis(), 3, 1);
    let path = kit.folder.path().join("h.json");
    let source = format!("file://{}?chain=regtest", path.display());
    let entries = |chain: &[Header]| -> String {
        let entry = |(height, header): (usize, &Header)| {
            format!(
                r#"{{"height":{height},"header":"{}"}}"#,
                hex::encode(header.bytes())
            )
        };
        let all: Vec<String> = chain.iter().enumerate().map(entry).collect();
        format!("[{}]", all.join(","))
    };
    std::fs::write(&path, entries(&chain)).expect("written");
    let good = headers(&[&source]);
    assert!(good.refresh().await);
    assert_eq!(good.tip().expect("a tip").hash, chain[3].hash());
    std::fs::write(
        &path,
        format!(r#"{{"height":3,"hash":"{}"}}"#, chain[3].hash()),
    )
    .expect("written");
    let tip_only = headers(&[&source]);
    assert!(!tip_only.refresh().await);
    assert_eq!(tip_only.tip().expect("told").height, 3);
    assert!(tip_only.calm().1);
    let mut wrong = chain.clone();
    wrong[2].nonce ^= 0x5555;
    std::fs::write(&path, entries(&wrong)).expect("written");
    let refused = headers(&[&source]);
    assert!(!refused.refresh().await);
    std::fs::write(&path, "[{\"height\":").expect("written");
    assert!(!headers(&[&source]).refresh().await);
}
