//! Taking a document away.

use kurier_core::content::{Withdrawal, withdrawn};
use kurier_core::event::{Kind, Position};
use kurier_store::Scope;

use super::{Error, Result, TRIES_MAX, append, catch_up, last_number};
use crate::app::App;

/// Takes a document away: its keys are gone for ever. `None` if there is none of this source.
pub async fn withdraw(app: &App, scope: Scope, source_id: &str) -> Result<Option<Position>> {
    for _ in 0..TRIES_MAX {
        catch_up(app).await?;
        let number = last_number(&app.store, scope).await? + 1;
        let Some(known) = app.library.of_source(scope, source_id).await? else {
            return Ok(None);
        };
        let Some(held) = app.library.held(scope, &known).await? else {
            continue;
        };
        let withdrawal = Withdrawal {
            number,
            id: known.id,
            name: known.source_id,
            gone: withdrawn(&held.body.document),
        };
        let id = withdrawal.event_id(scope.0);
        let told = append(&app.store, scope, id, Kind::ContentWithdrawn, &withdrawal).await?;
        if let Some(position) = told {
            catch_up(app).await?;
            return Ok(Some(position));
        }
    }
    Err(Error::Overtaken)
}
