//! Slack workspaces at the edge: without their secrets, sealed or not.

use uuid::Uuid;

use super::{Kept, Module, Standing};
use crate::event::Recorded;
use crate::keys::{Lifetime, NOTIFICATION_SLACK, Namespace, Ttls};
use crate::projection::{
    Projection as _, Row, SLACK_WORKSPACE, SlackWorkspaces, Table, slack_workspace_of_row,
};
use crate::slack_workspace::SlackWorkspace;

pub struct NotificationSlack;

impl Module for NotificationSlack {
    type Value = SlackWorkspace;

    const NAMESPACE: Namespace = NOTIFICATION_SLACK;
    const GROUP: &'static str = "workspace-projection";
    const TABLE: &'static Table = &SLACK_WORKSPACE;
    const KEPT: Kept = Kept::Whole;

    fn touched(recorded: &Recorded) -> Vec<Uuid> {
        let needs = SlackWorkspaces.needs(std::slice::from_ref(recorded));
        let keys = needs.into_iter().flat_map(|need| need.keys);
        keys.filter_map(|key| key.get(1)?.as_id()).collect()
    }

    fn standing(row: &Row) -> Option<Standing<SlackWorkspace>> {
        let (_, value, _) = slack_workspace_of_row(row)?;
        let revision = value.revision;
        Some(match value.archived_at {
            Some(at) => Standing::Deleted { revision, at },
            None => Standing::Live { revision, value },
        })
    }

    fn indexed(value: &SlackWorkspace) -> Vec<(&'static str, String)> {
        let category = value.definition.category.clone();
        category.map(|it| ("category", it)).into_iter().collect()
    }

    fn lifetime(_: &Ttls) -> Lifetime {
        Lifetime::FOREVER
    }
}
