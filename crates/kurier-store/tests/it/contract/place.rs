//! Opening the store under test.

use std::future::Future;
use std::path::PathBuf;

use kurier_store::{Log, Postgres, Sqlite, Store};

use super::backend::{with_postgres, with_sqlite};
use super::space::now;

/// Where a store is kept: it can be opened again, and by several at once.
#[derive(Clone)]
pub enum Place {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Place {
    pub async fn open(&self) -> Store {
        match self {
            Self::Sqlite(path) => Sqlite::open(path).expect("opened").into(),
            Self::Postgres(url) => open_postgres(url).await.into(),
        }
    }
}

/// Opened as the product does: with the months around now prepared.
pub async fn open_postgres(url: &str) -> Postgres {
    let store = Postgres::open(url).await.expect("opened");
    store.maintain(now()).await.expect("prepared");
    store
}

pub async fn on_sqlite<Done>(case: impl FnOnce(Place) -> Done)
where
    Done: Future<Output = ()>,
{
    with_sqlite(|path| case(Place::Sqlite(path))).await;
}

pub async fn on_postgres<Done>(case: impl FnOnce(Place) -> Done)
where
    Done: Future<Output = ()> + Send + 'static,
{
    with_postgres(|url| case(Place::Postgres(url))).await;
}

/// Makes a test per backend of each case.
macro_rules! cases {
    ($($case:ident),* $(,)?) => { $crate::contract::place::cases! { @each open, $($case,)* } };
    (place: $($case:ident),* $(,)?) => {
        $crate::contract::place::cases! { @each keep, $($case,)* }
    };
    (@each $how:ident, $($case:ident,)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                $crate::contract::place::on_sqlite(
                    $crate::contract::place::cases!(@$how $case)).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                $crate::contract::place::on_postgres(
                    $crate::contract::place::cases!(@$how $case)).await;
            })*
        }
    };
    (@open $case:ident) => { |place| async move { super::$case(place.open().await).await } };
    (@keep $case:ident) => { super::$case };
}
pub(super) use cases;
