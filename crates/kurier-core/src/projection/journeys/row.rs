//! Journeys, versions and counts as rows, and back.

use std::collections::BTreeMap;

use super::super::{Cell, Row};
use crate::id::{JourneyId, SegmentId, WorkspaceId};
use crate::journey::Course;
use crate::time::Timestamp;

/// How a journey stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JourneyStanding {
    /// It was never published.
    Draft,
    Active,
    /// Nobody enters, and nobody in it moves on.
    Paused,
    /// Nobody enters; who is in it goes on.
    Retired,
}

impl JourneyStanding {
    pub const ALL: &[Self] = &[Self::Draft, Self::Active, Self::Paused, Self::Retired];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Retired => "retired",
        }
    }

    fn named(text: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|standing| standing.as_str() == text);
        named.copied()
    }
}

/// A journey, without its definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JourneySummary {
    pub id: JourneyId,
    pub name: String,
    /// There is a draft that was not published.
    pub has_draft: bool,
    /// The version that who enters now enters.
    pub version: Option<u32>,
    pub standing: JourneyStanding,
    /// The segments that this version names.
    pub segments: Vec<SegmentId>,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
}

impl JourneySummary {
    /// Whether a segment may begin it.
    pub fn uses(&self, segment: SegmentId) -> bool {
        let is_live = matches!(
            self.standing,
            JourneyStanding::Active | JourneyStanding::Paused
        );
        is_live && self.segments.contains(&segment)
    }
}

/// A version of a journey; its definition is JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JourneyVersion {
    pub version: u32,
    pub definition: String,
    pub published_at: Timestamp,
}

pub fn row_of(workspace: WorkspaceId, journey: &JourneySummary, draft: Option<&str>) -> Row {
    let segments = (!journey.segments.is_empty()).then(|| {
        let ids = serde_json::to_string(&journey.segments);
        ids.expect("a list of ids serialises")
    });
    vec![
        workspace.into(),
        Cell::Id(journey.id.as_uuid()),
        journey.name.as_str().into(),
        draft.into(),
        journey.version.map(i64::from).into(),
        journey.standing.as_str().into(),
        segments.into(),
        journey.created_at.into(),
        journey.changed_at.into(),
    ]
}

/// Reads a row of [`super::JOURNEY`]; `None` if it is not one that this version wrote.
pub fn journey_of_row(row: &Row) -> Option<(WorkspaceId, JourneySummary)> {
    let time = |column: usize| Some(Timestamp::from_micros(row.get(column)?.as_int()?));
    let version = row.get(4)?.as_int().map(u32::try_from).transpose().ok()?;
    let segments = row.get(6)?.as_text().map(serde_json::from_str).transpose();
    let journey = JourneySummary {
        id: JourneyId::from_uuid(row.get(1)?.as_id()?),
        name: row.get(2)?.as_text()?.to_owned(),
        has_draft: row.get(3)? != &Cell::Null,
        version,
        standing: JourneyStanding::named(row.get(5)?.as_text()?)?,
        segments: segments.ok()?.unwrap_or_default(),
        created_at: time(7)?,
        changed_at: time(8)?,
    };
    Some((WorkspaceId::from_uuid(row.first()?.as_id()?), journey))
}

/// A way through a version of a journey.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountKey {
    pub journey: JourneyId,
    pub version: u32,
    /// Empty for the way in.
    pub node: String,
    /// How the node was left, `enter`, or the ending.
    pub way: String,
    /// Empty for an ending.
    pub target: String,
}

impl CountKey {
    /// The name of the way in.
    pub const ENTER: &str = "enter";

    pub fn cells(&self, workspace: WorkspaceId) -> Vec<Cell> {
        vec![
            workspace.into(),
            Cell::Id(self.journey.as_uuid()),
            i64::from(self.version).into(),
            self.node.as_str().into(),
            self.way.as_str().into(),
            self.target.as_str().into(),
        ]
    }

    pub fn is_entry(&self) -> bool {
        self.node.is_empty()
    }

    pub fn is_ending(&self) -> bool {
        self.target.is_empty()
    }
}

/// How often a way was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JourneyCount {
    pub key: CountKey,
    pub times: i64,
}

/// Reads a row of [`super::JOURNEY_COUNT`].
pub fn count_of_row(row: &Row) -> Option<(WorkspaceId, JourneyCount)> {
    let text = |column: usize| Some(row.get(column)?.as_text()?.to_owned());
    let key = CountKey {
        journey: JourneyId::from_uuid(row.get(1)?.as_id()?),
        version: u32::try_from(row.get(2)?.as_int()?).ok()?,
        node: text(3)?,
        way: text(4)?,
        target: text(5)?,
    };
    let times = row.get(6)?.as_int()?;
    let workspace = WorkspaceId::from_uuid(row.first()?.as_id()?);
    Some((workspace, JourneyCount { key, times }))
}

/// The ways that a record takes, each with how often.
pub fn ways(run: &Course) -> BTreeMap<CountKey, i64> {
    let way = |node: &str, way: &str, target: &str| CountKey {
        journey: run.journey,
        version: run.version,
        node: node.to_owned(),
        way: way.to_owned(),
        target: target.to_owned(),
    };
    let mut ways = BTreeMap::new();
    if run.seq == 1 {
        let start = run.hops.first().map_or(&run.at, |hop| &hop.node);
        ways.insert(way("", CountKey::ENTER, start), 1);
    }
    for hop in &run.hops {
        let key = way(&hop.node, &hop.by.to_string(), &hop.to);
        *ways.entry(key).or_default() += 1;
    }
    if let Some(ending) = run.ending {
        ways.insert(way(&run.at, ending.as_str(), ""), 1);
    }
    ways
}
