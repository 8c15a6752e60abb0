//! Rows in a worker's hands: claimed by a lease, and settled.

use kurier_core::id::{ContactId, MessageId};
use kurier_core::message::Gate;
use kurier_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

use super::cell::{optional_uuid, uuid};
use super::gates::{gate, put_gate};
use super::log::append;
use super::writer::Pen;
use crate::queue::{
    Claim, Claimed, Claiming, Lane, Lesson, Queued, Settled, left, lost, rank, sending,
};
use crate::{Result, Scope, rows_max};

pub(super) fn claim(pen: &Pen, lane: &Lane, claiming: Claiming) -> Result<Claimed> {
    let Some(limits) = claiming.gate else {
        let claims = take(pen, lane, claiming, claiming.limit)?;
        return Ok(Claimed {
            claims,
            closed: None,
        });
    };
    let times = (claiming.now, claiming.lease_until);
    let known = gate(pen, lane)?;
    let mut gate: Gate = known.clone().unwrap_or_default();
    let admitted = gate.admit(claiming.limit, limits, times);
    let claims = match admitted {
        0 => Vec::new(),
        admitted => take(pen, lane, claiming, admitted)?,
    };
    gate.passed(claims.len());
    if known.unwrap_or_default() != gate {
        put_gate(pen, lane, &gate)?;
    }
    let closed = gate.closed(limits, claiming.now);
    let events = lost(&claims, claiming.now);
    append(pen, Scope(lane.workspace), &events)?;
    Ok(Claimed {
        closed: closed.filter(|_| claims.is_empty()),
        claims,
    })
}

fn take(
    connection: &Connection,
    lane: &Lane,
    claiming: Claiming,
    limit: usize,
) -> Result<Vec<Claim>> {
    let mut statement = connection.prepare_cached(
        "UPDATE queue SET stage = 2, lease_until = ?3, fence = fence + 1, attempts = attempts + 1,
           told = 0
         WHERE (workspace, id) IN (
           SELECT workspace, id FROM queue WHERE stage = 0 AND workspace = ?1 AND channel = ?2
           ORDER BY rank LIMIT ?4)
         RETURNING id, contact, priority, due_at, payload, fence, attempts, before, interrupted,
           rank",
    )?;
    let mut rows = statement.query(params![
        lane.workspace.as_uuid().as_bytes(),
        lane.channel,
        claiming.lease_until.as_micros(),
        rows_max(limit),
    ])?;
    let mut claims: Vec<(i64, Claim)> = Vec::new();
    while let Some(row) = rows.next()? {
        claims.push((row.get(9)?, read_claim(lane, row)?));
    }
    // RETURNING promises no order.
    claims.sort_by_key(|(rank, _)| *rank);
    Ok(claims.into_iter().map(|(_, claim)| claim).collect())
}

/// Marks a claim as about to be handed over, and tells the log; false if it is not held.
pub(super) fn begin(pen: &Pen, claim: &Claim, now: Timestamp) -> Result<bool> {
    let changed = pen
        .prepare_cached(&format!("UPDATE queue SET told = 1 WHERE {CLAIMED}"))?
        .execute(params![
            claim.workspace.as_uuid().as_bytes(),
            claim.message.id.as_uuid().as_bytes(),
            claim.fence,
        ])?;
    if changed == 1 {
        append(pen, Scope(claim.workspace), &[sending(claim, now)])?;
    }
    Ok(changed == 1)
}

/// Where a claim stands that is settled, and with what fence.
pub(super) const CLAIMED: &str = "workspace = ?1 AND id = ?2 AND fence = ?3 AND stage = 2";
pub(super) const IN_HAND: &str = "workspace = ?1 AND id = ?2 AND fence = ?3 - 1 AND stage = 0";

pub(super) fn settle(
    pen: &Pen,
    settled: &Settled,
    standing: &str,
    (now, ageing): (Timestamp, i64),
) -> Result<bool> {
    let claim = &settled.claim;
    let workspace = claim.workspace.as_uuid().into_bytes();
    let id = claim.message.id.as_uuid().into_bytes();
    let changed = match left(claim, settled.then, now) {
        None => pen
            .prepare_cached(&format!("DELETE FROM queue WHERE {standing}"))?
            .execute(params![workspace, id, claim.fence])?,
        Some((stage, due_at, attempts)) => pen
            .prepare_cached(&format!(
                "UPDATE queue SET stage = ?4, due_at = ?5, rank = ?6, attempts = ?7, fence = ?3,
                   lease_until = NULL, interrupted = 0 WHERE {standing}"
            ))?
            .execute(params![
                workspace,
                id,
                claim.fence,
                stage,
                due_at.as_micros(),
                rank(due_at, claim.message.priority, ageing),
                attempts,
            ])?,
    };
    if changed == 1 {
        append(pen, Scope(claim.workspace), &settled.events)?;
    }
    Ok(changed == 1)
}

/// A gate without complaints that hears of none is left as it is.
pub(super) fn learn(connection: &Connection, lesson: &Lesson) -> Result<()> {
    let known = gate(connection, &lesson.lane)?.unwrap_or_default();
    if known.is_calm() && lesson.is_calm() {
        return Ok(());
    }
    let mut gate = known.clone();
    gate.learn(
        &lesson.signals,
        lesson.rests_until,
        lesson.limits,
        lesson.now,
    );
    match gate == known {
        true => Ok(()),
        false => put_gate(connection, &lesson.lane, &gate),
    }
}

pub(super) fn read_claim(lane: &Lane, row: &Row<'_>) -> Result<Claim> {
    Ok(Claim {
        workspace: lane.workspace,
        message: Queued {
            id: MessageId::from_uuid(uuid(row, 0)?),
            contact: optional_uuid(row, 1)?.map(ContactId::from_uuid),
            channel: lane.channel.clone(),
            priority: row.get(2)?,
            due_at: Timestamp::from_micros(row.get(3)?),
            payload: row.get(4)?,
        },
        fence: row.get(5)?,
        attempts: row.get(6)?,
        before: row.get(7)?,
        is_interrupted: row.get(8)?,
    })
}
