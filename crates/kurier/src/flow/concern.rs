//! What concerns somebody who follows the log. The rest need not even be read.

use kurier_core::event::{Kind, Position};
use kurier_core::projection::Projection;
use kurier_store::{Log, Result};

/// So many events are read sooner than asked about; and about so many is asked at once.
const FAR: i64 = 1_000;
const WITHOUT_MAX: usize = 100_000;

#[derive(Clone)]
pub struct Concern {
    projection: &'static dyn Projection,
    /// What it folds, if that is seldom; none if it folds what clients send.
    kinds: Vec<Kind>,
}

impl Concern {
    pub fn of(projection: &'static dyn Projection) -> Self {
        let folded = Kind::ALL.iter().filter(|kind| projection.folds(**kind));
        let mut kinds: Vec<Kind> = folded.copied().collect();
        if kinds.iter().any(|kind| kind.is_from_client()) {
            kinds.clear();
        }
        Self { projection, kinds }
    }

    /// Whether it is nothing that clients send.
    pub const fn is_seldom(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// The position up to which nothing of concern comes: of what this process appended itself,
    /// and, if much is to be caught up with, of what is in the database.
    pub async fn pass(&self, log: &dyn Log, after: Position) -> Result<Position> {
        let to = log.skip(after, &|kind| self.projection.folds(kind));
        let is_far = log.newest().is_some_and(|newest| newest.0 > to.0 + FAR);
        if is_far && self.is_seldom() {
            return log.without(to, WITHOUT_MAX, &self.kinds).await;
        }
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::projection::{Contacts, Daily, Templates};

    use super::*;

    #[test]
    fn who_folds_what_clients_send_reads_everything() {
        assert!(!Concern::of(&Contacts).is_seldom());
        assert!(!Concern::of(&Daily).is_seldom());
        let templates = Concern::of(&Templates);
        assert!(templates.kinds.contains(&Kind::TemplatePublished));
    }
}
