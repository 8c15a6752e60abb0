//! Who quotes content: templates, and the journeys that send them.

use std::collections::{BTreeMap, BTreeSet};

use kurier_core::content::Key;
use kurier_core::journey::{Known, check_value};
use kurier_core::projection::{JourneyStanding, JourneySummary};
use kurier_core::template::quoted_in;
use kurier_core::value::Value;
use kurier_store::{Result, Scope};

use crate::app::App;

/// By name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used {
    pub templates: BTreeSet<String>,
    pub journeys: BTreeSet<String>,
}

/// Who quotes each of these keys; those that nobody quotes are left out.
pub async fn used(app: &App, scope: Scope, keys: &[Key]) -> Result<BTreeMap<Key, Used>> {
    let wanted: BTreeSet<Key> = keys.iter().copied().collect();
    let mut used: BTreeMap<Key, Used> = BTreeMap::new();
    for template in app.store.templates.templates(scope).await? {
        let quoted = quoted_in(&template.reads).into_iter();
        let is_in_use = template.retired_at.is_none();
        for key in quoted.filter(|key| is_in_use && wanted.contains(key)) {
            let by = used.entry(key).or_default();
            by.templates.insert(template.name.clone());
        }
    }
    if used.is_empty() {
        return Ok(used);
    }
    for journey in app.store.journeys.journeys(scope).await? {
        let sent = sent(app, scope, &journey).await?;
        for by in used.values_mut() {
            if !by.templates.is_disjoint(&sent) {
                by.journeys.insert(journey.name.clone());
            }
        }
    }
    Ok(used)
}

/// The templates that a journey's current version sends.
async fn sent(app: &App, scope: Scope, journey: &JourneySummary) -> Result<BTreeSet<String>> {
    let version = journey.version;
    let version = version.filter(|_| journey.standing != JourneyStanding::Retired);
    let Some(version) = version else {
        return Ok(BTreeSet::new());
    };
    let definition = app.definition(scope, journey.id, version).await?;
    let read = definition.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let checked = read.map(|value| check_value(value, version, &Known::default()));
    let definition = checked.and_then(|checked| checked.definition);
    Ok(definition.map_or_else(BTreeSet::new, |it| it.templates()))
}
