//! Long work among short.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// So few events are folded sooner than another thread has taken over.
const FEW: usize = 200;

/// Folds so many events. If they are many, others take over meanwhile what else this thread had
/// to do: no client waits for what is being caught up with.
pub fn aside<T>(events: usize, fold: impl FnOnce() -> T) -> T {
    let is_long = events > FEW;
    let has_others = || Handle::try_current().is_ok_and(|it| it.runtime_flavor() == SEVERAL);
    match is_long && has_others() {
        true => block_in_place(fold),
        false => fold(),
    }
}

const SEVERAL: RuntimeFlavor = RuntimeFlavor::MultiThread;
