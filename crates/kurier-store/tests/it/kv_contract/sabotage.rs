//! Broken keyspaces, each caught by the case beside it. A contract nobody can break is no test.

use std::sync::Arc;

use async_trait::async_trait;
use kurier_store::kv::{Command, Error, Kv, KvExt, Reply, Script};

use crate::kv_contract::ground::{Ground, check, memory};
use crate::kv_contract::{collections, lifetime, pipelines, scans, scripts, sorted};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    AnyoneReleasesTheLock,
    EmptyCollectionStays,
    EqualScoresInReverse,
    FailureEndsThePipeline,
    IncrementRenewsTheTtl,
    /// As seen in the wild: set-if-absent that does not look at, or does not set, the expiry.
    LockHasNoTtl,
    ScanForgetsTheLastPage,
    ScriptIsNotAtomic,
    ScriptIsWrong,
    SetKeepsTheOldValue,
}

/// A keyspace with one fault.
pub struct Sabotaged {
    kv: Arc<dyn Kv>,
    fault: Fault,
}

impl Sabotaged {
    pub fn with(kv: Arc<dyn Kv>, fault: Fault) -> Arc<dyn Kv> {
        Arc::new(Self { kv, fault })
    }

    async fn ask(&self, command: Command) -> Reply {
        match (self.fault, command) {
            (Fault::AnyoneReleasesTheLock, Command::CompareDelete { key, .. }) => {
                Reply::Flag(self.kv.delete(vec![key]).await == Ok(1))
            }
            (
                Fault::LockHasNoTtl,
                Command::Set {
                    key,
                    value,
                    if_absent: true,
                    ..
                },
            ) => {
                self.honest(Command::Set {
                    key,
                    value,
                    if_absent: true,
                    ttl_ms: None,
                })
                .await
            }
            (
                Fault::SetKeepsTheOldValue,
                Command::Set {
                    key, value, ttl_ms, ..
                },
            ) => {
                self.honest(Command::Set {
                    key,
                    value,
                    ttl_ms,
                    if_absent: true,
                })
                .await
            }
            (
                Fault::IncrementRenewsTheTtl,
                Command::Increment {
                    key,
                    by,
                    ttl_ms: Some(ttl_ms),
                },
            ) => self.renewing_increment(key, by, ttl_ms).await,
            (Fault::EmptyCollectionStays, Command::HashDelete { key, fields }) => {
                let reply = self
                    .honest(Command::HashDelete {
                        key: key.clone(),
                        fields,
                    })
                    .await;
                self.kv.set_if_absent(&key, "", None).await.unwrap();
                reply
            }
            (_, command) => self.distort(self.honest(command).await),
        }
    }

    async fn honest(&self, command: Command) -> Reply {
        self.kv.ask(command).await.unwrap_or_else(Reply::Failed)
    }

    async fn renewing_increment(&self, key: String, by: i64, ttl_ms: u64) -> Reply {
        let reply = self
            .honest(Command::Increment {
                key: key.clone(),
                by,
                ttl_ms: None,
            })
            .await;
        self.kv.expire(&key, ttl_ms).await.unwrap();
        reply
    }

    fn distort(&self, reply: Reply) -> Reply {
        match (self.fault, reply) {
            (Fault::EqualScoresInReverse, Reply::Scored(mut scored)) => {
                scored.reverse();
                scored.sort_by(|left, right| left.score.total_cmp(&right.score));
                Reply::Scored(scored)
            }
            (Fault::ScanForgetsTheLastPage, Reply::Page(mut page)) if page.next.is_none() => {
                page.keys.clear();
                Reply::Page(page)
            }
            (_, reply) => reply,
        }
    }
}

#[async_trait]
impl Kv for Sabotaged {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let mut replies = Vec::new();
        for command in commands {
            let reply = self.ask(command).await;
            if let (Fault::FailureEndsThePipeline, Reply::Failed(error)) = (self.fault, &reply) {
                return Err(error.clone());
            }
            replies.push(reply);
        }
        Ok(replies)
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        match self.fault {
            Fault::ScriptIsNotAtomic if script.name == scripts::ADD_ONE.name => {
                let text = self
                    .kv
                    .get(&keys[0])
                    .await?
                    .unwrap_or_else(|| b"0".to_vec());
                let sum = String::from_utf8(text).unwrap().parse::<i64>().unwrap() + 1;
                tokio::task::yield_now().await;
                self.kv.set(&keys[0], sum.to_string(), None).await?;
                Ok(Reply::Integer(sum))
            }
            Fault::ScriptIsWrong => {
                let local = |_: &mut kurier_store::kv::Keyspace<'_>, _: &[_], _: &[_]| {
                    Ok(Reply::List(vec![]))
                };
                self.kv
                    .script(&Script { local, ..*script }, keys, args)
                    .await
            }
            _ => self.kv.script(script, keys, args).await,
        }
    }

    async fn ping(&self) -> Result<(), Error> {
        self.kv.ping().await
    }
}

/// Runs the case on a keyspace with the fault, and wants it to fail.
async fn caught<F>(fault: Fault, case: fn(Arc<Ground>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let broken = memory().behind(|kv| Sabotaged::with(kv, fault));
    let outcome = tokio::spawn(check(broken, case)).await;
    assert!(outcome.is_err(), "{fault:?} was not caught");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_is_caught() {
    use Fault as F;
    caught(
        F::AnyoneReleasesTheLock,
        lifetime::a_lock_is_held_until_released_by_its_owner,
    )
    .await;
    caught(
        F::EmptyCollectionStays,
        collections::an_emptied_collection_is_gone,
    )
    .await;
    caught(
        F::EqualScoresInReverse,
        sorted::equal_scores_are_ordered_by_bytes,
    )
    .await;
    caught(
        F::FailureEndsThePipeline,
        pipelines::a_failing_command_does_not_swallow_the_others,
    )
    .await;
    caught(
        F::IncrementRenewsTheTtl,
        lifetime::an_increment_sets_the_ttl_only_on_creation,
    )
    .await;
    caught(F::LockHasNoTtl, lifetime::a_lock_carries_its_ttl).await;
    caught(
        F::LockHasNoTtl,
        lifetime::an_expired_lock_can_be_taken_again,
    )
    .await;
    caught(
        F::ScanForgetsTheLastPage,
        scans::a_scan_covers_the_prefix_and_ends,
    )
    .await;
    caught(F::ScriptIsNotAtomic, scripts::scripts_do_not_lose_updates).await;
    caught(F::ScriptIsWrong, scripts::a_script_sees_keys_and_arguments).await;
    caught(
        F::SetKeepsTheOldValue,
        lifetime::a_plain_set_forgets_the_ttl,
    )
    .await;
}
