//! Users: made, changed and deleted, each with the event that says so.

use kurier_core::accept::Problem;
use kurier_core::event::Kind;
use kurier_core::id::UserId;
use kurier_core::user;
use kurier_store::{Edited, NewUser, Role, Scope, User, UserEdit};
use serde_json::json;

use crate::app::App;
use crate::clock;
use crate::keyring::operator_event;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the user cannot be accepted")]
    Faults(Vec<Problem>),
    #[error("another user has this e-mail address")]
    Taken,
    #[error("there are users already")]
    NotFirst,
    #[error("there is no such user")]
    Unknown,
    #[error("this is the last owner: make somebody else an owner first")]
    LastOwner,
    #[error(transparent)]
    Store(#[from] kurier_store::Error),
    #[error("{0:#}")]
    Hash(anyhow::Error),
}

/// Who is to be made.
#[derive(Default)]
pub struct Wanted {
    pub email: String,
    pub name: String,
    pub password: String,
}

/// What is to be different; the rest stays.
#[derive(Default)]
pub struct Wish {
    pub name: Option<String>,
    pub role: Option<Role>,
    pub password: Option<String>,
}

pub async fn create(app: &App, scope: Scope, wanted: Wanted, role: Role) -> Result<User, Error> {
    let (new, event) = prepare(app, wanted, role).await?;
    let user = new.user.clone();
    match app.store.users.create_user(scope, new, event).await {
        Ok(()) => Ok(user),
        Err(kurier_store::Error::Taken(_)) => Err(Error::Taken),
        Err(error) => Err(error.into()),
    }
}

/// Makes the first user of a workspace, an owner.
pub async fn create_first(app: &App, scope: Scope, wanted: Wanted) -> Result<User, Error> {
    let (new, event) = prepare(app, wanted, Role::Owner).await?;
    let user = new.user.clone();
    match app.store.users.create_first_user(scope, new, event).await {
        Ok(true) => Ok(user),
        Ok(false) => Err(Error::NotFirst),
        Err(kurier_store::Error::Taken(_)) => Err(Error::Taken),
        Err(error) => Err(error.into()),
    }
}

async fn prepare(
    app: &App,
    wanted: Wanted,
    role: Role,
) -> Result<(NewUser, kurier_core::event::Event), Error> {
    let (email, name) = (user::email(&wanted.email), user::name(&wanted.name));
    let checked = user::check_password(&wanted.password);
    let (email, name) = match (email, name, checked) {
        (Ok(email), Ok(name), Ok(())) => (email, name),
        (email, name, checked) => {
            let faults = [email.err(), name.err(), checked.err()];
            return Err(Error::Faults(faults.into_iter().flatten().collect()));
        }
    };
    let now = clock::now();
    let user = User {
        id: UserId::new(now, clock::random()),
        email,
        name,
        role,
        created_at: now,
    };
    let said =
        json!({"id": user.id, "email": user.email, "name": user.name, "role": role.as_str()});
    let event = operator_event(Kind::UserCreated, said, now);
    let password = hash(app, &wanted.password).await?;
    Ok((NewUser { user, password }, event))
}

async fn hash(app: &App, password: &str) -> Result<String, Error> {
    let hash = app.sessions.passwords.hash(password).await;
    hash.map_err(Error::Hash)
}

pub async fn edit(app: &App, scope: Scope, id: UserId, wish: Wish) -> Result<User, Error> {
    let before = app.store.users.user(scope, id).await?;
    let before = before.ok_or(Error::Unknown)?;
    let name = wish.name.as_deref().map(user::name).transpose();
    let checked = wish.password.as_deref().map(user::check_password);
    let name = match (name, checked.transpose()) {
        (Ok(name), Ok(_)) => name,
        (name, checked) => {
            let faults = [name.err(), checked.err()];
            return Err(Error::Faults(faults.into_iter().flatten().collect()));
        }
    };
    let said = json!({"id": id, "email": before.email, "name": name,
        "role": wish.role.map(Role::as_str), "password_changed": wish.password.is_some()});
    let edit = UserEdit {
        name,
        role: wish.role,
        password: match &wish.password {
            Some(password) => Some(hash(app, password).await?),
            None => None,
        },
    };
    let event = operator_event(Kind::UserChanged, said, clock::now());
    let edited = app.store.users.edit_user(scope, id, edit, event).await?;
    app.sessions.forget();
    done(edited)?;
    let user = app.store.users.user(scope, id).await?;
    user.ok_or(Error::Unknown)
}

pub async fn delete(app: &App, scope: Scope, id: UserId) -> Result<(), Error> {
    let before = app.store.users.user(scope, id).await?;
    let before = before.ok_or(Error::Unknown)?;
    let said = json!({"id": id, "email": before.email});
    let event = operator_event(Kind::UserDeleted, said, clock::now());
    let deleted = app.store.users.delete_user(scope, id, event).await?;
    app.sessions.forget();
    done(deleted)
}

const fn done(edited: Edited) -> Result<(), Error> {
    match edited {
        Edited::Done => Ok(()),
        Edited::Unknown => Err(Error::Unknown),
        Edited::LastOwner => Err(Error::LastOwner),
    }
}
