//! Versions of a journey, and how often each way through them was taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use kurier_core::projection::{CountKey, JourneyCount};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::address::Path;
use super::credential::Reader;
use super::journeys::find;
use super::problem::Problem;
use crate::app::App;

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JourneyVersionList)]
pub struct VersionList {
    data: Vec<VersionName>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VersionName {
    version: u32,
    published_at: String,
}

/// The versions of a journey, the first one first.
#[utoipa::path(get, path = "/api/v1/journeys/{id}/versions", tag = "journeys", params(("id" = String, Path)), responses(
    (status = 200, body = VersionList)))]
pub async fn versions(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Json<VersionList>, Problem> {
    let journey = find(&app, &grant, &id).await?;
    let versions = &app.store.journeys;
    let versions = versions.versions(grant.scope(), journey.id).await?;
    let data = versions.into_iter().map(|(version, at)| VersionName {
        version,
        published_at: at.to_string(),
    });
    Ok(Json(VersionList {
        data: data.collect(),
    }))
}

/// A version: it never changes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JourneyVersion)]
pub struct VersionView {
    version: u32,
    published_at: String,
    definition: Value,
}

/// A version of a journey with its definition.
#[utoipa::path(get, path = "/api/v1/journeys/{id}/versions/{version}", tag = "journeys", params(("id" = String, Path),
        ("version" = u32, Path)), responses(
    (status = 200, body = VersionView)))]
pub async fn version(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path((id, version)): Path<(String, String)>,
) -> Result<Json<VersionView>, Problem> {
    let journey = find(&app, &grant, &id).await?;
    let unknown = || Problem::not_found("there is no such version");
    let version = version.parse().map_err(|_| unknown())?;
    let found = &app.store.journeys;
    let found = found.version(grant.scope(), journey.id, version).await?;
    let found = found.ok_or_else(unknown)?;
    let definition = serde_json::from_str(&found.definition);
    Ok(Json(VersionView {
        version,
        published_at: found.published_at.to_string(),
        definition: definition.map_err(|e| kurier_store::Error::Damaged(e.to_string()))?,
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StatsParams {
    /// Only this version; without it all of them together.
    version: Option<u32>,
}

/// How often each way through a journey was taken.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatsView {
    /// Runs that began.
    pub entered: i64,
    /// Runs that are under way.
    pub active: i64,
    /// Runs that ended, by how they did.
    pub endings: BTreeMap<String, i64>,
    /// Nodes that somebody came to, in the order of the definition.
    pub nodes: Vec<NodeStats>,
    /// Ways from node to node that somebody took.
    pub edges: Vec<EdgeStats>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NodeStats {
    #[schema(example = "an-hour")]
    pub node: String,
    /// How often somebody came here.
    pub entered: i64,
    /// How many are here now.
    pub at: i64,
    /// How often somebody left, or ended here.
    pub left: i64,
    /// Runs that ended here, by how they did.
    pub endings: BTreeMap<String, i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EdgeStats {
    #[schema(example = "wait_a_day")]
    pub node: String,
    /// `next`, `true`, `false`, `branch:0`, `default`, `met` or `timeout`.
    #[schema(example = "timeout")]
    pub by: String,
    #[schema(example = "send_offer")]
    pub to: String,
    pub count: i64,
}

/// How many entered a journey, are at each node, and left it by which way.
#[utoipa::path(get, path = "/api/v1/journeys/{id}/stats", tag = "journeys", params(("id" = String, Path),
        StatsParams), responses(
    (status = 200, body = StatsView)))]
pub async fn stats(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
    params: Result<Query<StatsParams>, QueryRejection>,
) -> Result<Json<StatsView>, Problem> {
    let Query(params) = params.map_err(|e| Problem::bad_request("bad_parameter", e.body_text()))?;
    let journey = find(&app, &grant, &id).await?;
    let (store, scope) = (&app.store, grant.scope());
    Ok(Json(
        StatsView::of(store, scope, &journey, params.version).await?,
    ))
}

impl StatsView {
    pub async fn of(
        store: &kurier_store::Store,
        scope: kurier_store::Scope,
        journey: &kurier_core::projection::JourneySummary,
        version: Option<u32>,
    ) -> kurier_store::Result<Self> {
        let counts = store.journeys.counts(scope, journey.id).await?;
        let counts = counts.into_iter();
        let counts = counts.filter(|it| version.is_none_or(|version| version == it.key.version));
        let order = match version.or(journey.version) {
            Some(version) => store.journeys.version(scope, journey.id, version).await?,
            None => None,
        };
        let order = order.map_or_else(Vec::new, |version| node_ids(&version.definition));
        Ok(Self::counted(counts, &order))
    }

    pub fn counted(counts: impl Iterator<Item = JourneyCount>, order: &[String]) -> Self {
        let mut tally = Tally::default();
        counts.for_each(|count| tally.add(&count));
        let places: BTreeMap<&str, usize> = order
            .iter()
            .enumerate()
            .map(|(place, id)| (id.as_str(), place))
            .collect();
        let place = |node: &str| places.get(node).copied().unwrap_or(usize::MAX);
        let mut nodes: Vec<NodeStats> = tally.nodes.into_values().collect();
        nodes.sort_by_key(|node| place(&node.node));
        let edges = tally
            .edges
            .into_iter()
            .map(|((node, by, to), count)| EdgeStats {
                node,
                by,
                to,
                count,
            });
        let mut edges: Vec<EdgeStats> = edges.collect();
        edges.sort_by_key(|edge| place(&edge.node));
        let ended: i64 = tally.endings.values().sum();
        Self {
            entered: tally.entered,
            active: tally.entered - ended,
            endings: tally.endings,
            nodes,
            edges,
        }
    }
}

/// The ids of the nodes in a definition, in its order.
fn node_ids(definition: &str) -> Vec<String> {
    let definition: Value = serde_json::from_str(definition).unwrap_or_default();
    let nodes = definition["nodes"].as_array().into_iter().flatten();
    let ids = nodes.map(|node| match &node["id"] {
        Value::String(id) => id.clone(),
        id => id.to_string(),
    });
    ids.collect()
}

#[derive(Default)]
struct Tally {
    entered: i64,
    endings: BTreeMap<String, i64>,
    nodes: BTreeMap<String, NodeStats>,
    edges: BTreeMap<(String, String, String), i64>,
}

impl Tally {
    fn add(&mut self, count: &JourneyCount) {
        let JourneyCount { key, times } = count;
        if key.is_entry() {
            self.entered += times;
        } else {
            self.leave(key, *times);
        }
        if key.is_ending() {
            *self.endings.entry(key.way.clone()).or_default() += times;
        } else {
            let node = self.node(&key.target);
            node.entered += times;
            node.at += times;
        }
    }

    fn leave(&mut self, key: &CountKey, times: i64) {
        let node = self.node(&key.node);
        node.left += times;
        node.at -= times;
        if key.is_ending() {
            *node.endings.entry(key.way.clone()).or_default() += times;
            return;
        }
        let edge = (key.node.clone(), key.way.clone(), key.target.clone());
        *self.edges.entry(edge).or_default() += times;
    }

    fn node(&mut self, id: &str) -> &mut NodeStats {
        self.nodes
            .entry(id.to_owned())
            .or_insert_with(|| NodeStats {
                node: id.to_owned(),
                entered: 0,
                at: 0,
                left: 0,
                endings: BTreeMap::new(),
            })
    }
}

#[cfg(test)]
mod tests {
    use kurier_core::id::JourneyId;

    use super::*;

    #[test]
    fn what_came_in_and_did_not_leave_is_there() {
        let count = |version, node: &str, way: &str, target: &str, times| JourneyCount {
            key: CountKey {
                journey: JourneyId::of_name("j"),
                version,
                node: node.to_owned(),
                way: way.to_owned(),
                target: target.to_owned(),
            },
            times,
        };
        let counts = [
            count(1, "", "enter", "start", 5),
            count(2, "", "enter", "start", 1),
            count(1, "start", "next", "wait", 5),
            count(2, "start", "next", "wait", 1),
            count(1, "wait", "timeout", "done", 2),
            count(1, "wait", "exit_when", "", 1),
            count(1, "done", "exit", "", 2),
        ];
        let order = ["start", "wait", "done"].map(str::to_owned);
        let stats = StatsView::counted(counts.into_iter(), &order);
        assert_eq!((stats.entered, stats.active), (6, 3));
        let nodes: Vec<_> = stats
            .nodes
            .iter()
            .map(|it| (it.node.as_str(), it.entered, it.at, it.left))
            .collect();
        assert_eq!(
            nodes,
            [("start", 6, 0, 6), ("wait", 6, 3, 3), ("done", 2, 0, 2)]
        );
        let edges: Vec<_> = stats
            .edges
            .iter()
            .map(|it| (it.by.as_str(), it.count))
            .collect();
        assert_eq!(edges, [("next", 6), ("timeout", 2)]);
        assert_eq!(stats.endings["exit_when"], 1);
    }
}
