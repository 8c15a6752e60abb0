//! Cursors: where a list goes on. They carry a tag only the workspace can make, so a client
//! cannot invent one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kurier_core::event::Position;
use kurier_core::id::{ContactId, IdentityKey, InstanceId};
use kurier_core::time::Timestamp;
use uuid::Uuid;

use super::problem::Problem;

fn seal(key: &IdentityKey, payload: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode([payload, &key.sign(payload)].concat())
}

fn refused() -> Problem {
    let detail = "this cursor is not one of ours; begin again without it";
    Problem::bad_request("bad_cursor", detail)
}

fn open<const N: usize>(key: &IdentityKey, cursor: &str) -> Result<[u8; N], Problem> {
    open_any(key, cursor)?.try_into().map_err(|_| refused())
}

fn open_any(key: &IdentityKey, cursor: &str) -> Result<Vec<u8>, Problem> {
    let mut payload = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| refused())?;
    let at = payload.len().checked_sub(8).ok_or_else(refused)?;
    let tag = payload.split_off(at);
    if tag != key.sign(&payload) {
        return Err(refused());
    }
    Ok(payload)
}

pub fn of_contact(key: &IdentityKey, at: Timestamp, id: ContactId) -> String {
    of_id(key, at, id.as_uuid())
}

pub fn to_contact(key: &IdentityKey, cursor: &str) -> Result<(Timestamp, ContactId), Problem> {
    let (at, id) = to_id(key, cursor)?;
    Ok((at, ContactId::from_uuid(id)))
}

pub fn of_id(key: &IdentityKey, at: Timestamp, id: Uuid) -> String {
    let at = at.as_micros().to_be_bytes();
    seal(key, &[&at[..], id.as_bytes()].concat())
}

pub fn to_id(key: &IdentityKey, cursor: &str) -> Result<(Timestamp, Uuid), Problem> {
    let bytes: [u8; 24] = open(key, cursor)?;
    let (at, id) = bytes.split_at(8);
    let at = i64::from_be_bytes(at.try_into().expect("8 of 24 bytes"));
    let id: [u8; 16] = id.try_into().expect("16 of 24 bytes");
    Ok((Timestamp::from_micros(at), Uuid::from_bytes(id)))
}

/// A place of as many parts as a list needs.
pub fn of_parts(key: &IdentityKey, at: Timestamp, id: Uuid, rest: &str) -> String {
    let at = at.as_micros().to_be_bytes();
    seal(key, &[&at[..], id.as_bytes(), rest.as_bytes()].concat())
}

pub fn to_parts(key: &IdentityKey, cursor: &str) -> Result<(Timestamp, Uuid, String), Problem> {
    let bytes = open_any(key, cursor)?;
    let (head, rest) = bytes.split_at_checked(24).ok_or_else(refused)?;
    let (at, id) = head.split_at(8);
    let at = i64::from_be_bytes(at.try_into().expect("8 of 24 bytes"));
    let id: [u8; 16] = id.try_into().expect("16 of 24 bytes");
    let rest = String::from_utf8(rest.to_vec()).map_err(|_| refused())?;
    Ok((Timestamp::from_micros(at), Uuid::from_bytes(id), rest))
}

pub fn of_instance(key: &IdentityKey, at: Timestamp, id: InstanceId) -> String {
    of_contact(key, at, ContactId::from_uuid(id.as_uuid()))
}

pub fn to_instance(key: &IdentityKey, cursor: &str) -> Result<(Timestamp, InstanceId), Problem> {
    let (at, id) = to_contact(key, cursor)?;
    Ok((at, InstanceId::from_uuid(id.as_uuid())))
}

pub fn of_event(key: &IdentityKey, at: Timestamp, position: Position) -> String {
    seal(
        key,
        &[at.as_micros().to_be_bytes(), position.0.to_be_bytes()].concat(),
    )
}

pub fn to_event(key: &IdentityKey, cursor: &str) -> Result<(Timestamp, Position), Problem> {
    let bytes: [u8; 16] = open(key, cursor)?;
    let (at, position) = bytes.split_at(8);
    let int = |bytes: &[u8]| i64::from_be_bytes(bytes.try_into().expect("8 of 16 bytes"));
    Ok((Timestamp::from_micros(int(at)), Position(int(position))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_and_cannot_be_made_up() {
        let (ours, theirs) = (IdentityKey::new([1; 32]), IdentityKey::new([2; 32]));
        let at = Timestamp::from_micros(-5);
        let cursor = of_event(&ours, at, Position(7));
        assert_eq!(to_event(&ours, &cursor).expect("ours"), (at, Position(7)));
        assert!(to_event(&theirs, &cursor).is_err());
        assert!(to_contact(&ours, &cursor).is_err());
        assert!(to_event(&ours, "").is_err());
        let id = ours.contact_of_user("u");
        let cursor = of_parts(&ours, at, id.as_uuid(), "ä");
        let parts = (at, id.as_uuid(), "ä".to_owned());
        assert_eq!(to_parts(&ours, &cursor).expect("ours"), parts);
        assert!(to_parts(&theirs, &cursor).is_err());
        assert!(to_parts(&ours, "AAAA").is_err());
        let cursor = of_contact(&ours, at, id);
        assert_eq!(to_contact(&ours, &cursor).expect("ours"), (at, id));
    }
}
