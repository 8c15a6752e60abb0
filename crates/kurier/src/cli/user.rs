//! `kurier user`: who signs in. A password comes by standard input, or is made and shown once.

use std::io::BufRead as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use kurier_core::user;
use kurier_store::{Role, Scope, User};
use serde_json::json;

use super::table;
use super::workspace::WorkspaceArgs;
use crate::app::App;
use crate::clock;
use crate::config::Config;
use crate::flow::user::{Error, Wanted, Wish, create, delete, edit};

#[derive(Debug, Args)]
pub struct UserArgs {
    #[command(subcommand)]
    command: UserCommand,
    #[command(flatten)]
    workspace: WorkspaceArgs,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    /// Make a user; without --password-stdin a password is made and shown, this once
    Create {
        /// The e-mail address to sign in with
        #[arg(long)]
        email: String,
        /// What the user is called
        #[arg(long)]
        name: String,
        /// owner, editor or viewer
        #[arg(long, default_value = "viewer")]
        role: Role,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// List the users of a workspace
    List,
    /// Let a user do more or less
    SetRole {
        /// The user's e-mail address
        email: String,
        /// owner, editor or viewer
        role: Role,
    },
    /// Give a user another password and end their sessions
    SetPassword {
        /// The user's e-mail address
        email: String,
        #[command(flatten)]
        password: PasswordArgs,
    },
    /// Delete a user and end their sessions
    Delete {
        /// The user's e-mail address
        email: String,
    },
}

/// Not on the command line, where everyone on the machine could read it.
#[derive(Debug, Args)]
struct PasswordArgs {
    /// Read the password from the first line of standard input
    #[arg(long)]
    password_stdin: bool,
}

/// A password, and whether somebody has to be told.
struct Password {
    text: String,
    is_made: bool,
}

impl PasswordArgs {
    fn read(&self) -> anyhow::Result<Password> {
        if !self.password_stdin {
            return Ok(Password {
                text: hex::encode(clock::random::<12>()),
                is_made: true,
            });
        }
        let mut text = String::new();
        std::io::stdin().lock().read_line(&mut text)?;
        let end = text.trim_end_matches(['\n', '\r']).len();
        text.truncate(end);
        Ok(Password {
            text,
            is_made: false,
        })
    }
}

pub async fn run(config: &Config, args: UserArgs) -> anyhow::Result<ExitCode> {
    let app = App::open(config).await?;
    let scope = Scope(args.workspace.find(&app.store).await?.id);
    let desk = Desk {
        app,
        scope,
        json: args.json,
    };
    match args.command {
        UserCommand::Create {
            email,
            name,
            role,
            password,
        } => desk.create(email, name, role, password.read()?).await?,
        UserCommand::List => desk.list().await?,
        UserCommand::SetRole { email, role } => desk.set_role(&email, role).await?,
        UserCommand::SetPassword { email, password } => {
            desk.set_password(&email, password.read()?).await?;
        }
        UserCommand::Delete { email } => desk.delete(&email).await?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Desk {
    app: Arc<App>,
    scope: Scope,
    json: bool,
}

impl Desk {
    async fn create(
        &self,
        email: String,
        name: String,
        role: Role,
        password: Password,
    ) -> anyhow::Result<()> {
        let wanted = Wanted {
            email,
            name,
            password: password.text.clone(),
        };
        let made = create(&self.app, self.scope, wanted, role).await;
        self.tell(&made.map_err(in_words)?, Some(password));
        Ok(())
    }

    async fn list(&self) -> anyhow::Result<()> {
        let users = self.app.store.users.users(self.scope).await?;
        if self.json {
            let users: Vec<_> = users.iter().map(as_json).collect();
            println!("{}", json!(users));
            return Ok(());
        }
        let row = |user: &User| {
            vec![
                user.email.clone(),
                user.name.clone(),
                user.role.to_string(),
                user.created_at.to_string(),
            ]
        };
        table::print(&["e-mail", "name", "role", "made"], users.iter().map(row));
        Ok(())
    }

    async fn set_role(&self, email: &str, role: Role) -> anyhow::Result<()> {
        let wish = Wish {
            role: Some(role),
            ..Wish::default()
        };
        self.edit(email, wish, None).await
    }

    async fn set_password(&self, email: &str, password: Password) -> anyhow::Result<()> {
        let wish = Wish {
            password: Some(password.text.clone()),
            ..Wish::default()
        };
        self.edit(email, wish, Some(password)).await
    }

    async fn edit(
        &self,
        email: &str,
        wish: Wish,
        password: Option<Password>,
    ) -> anyhow::Result<()> {
        let user = self.find(email).await?;
        let edited = edit(&self.app, self.scope, user.id, wish).await;
        self.tell(&edited.map_err(in_words)?, password);
        Ok(())
    }

    async fn delete(&self, email: &str) -> anyhow::Result<()> {
        let user = self.find(email).await?;
        delete(&self.app, self.scope, user.id)
            .await
            .map_err(in_words)?;
        match self.json {
            true => println!("{}", json!({"id": user.id, "deleted": true})),
            false => println!("deleted {}", user.email),
        }
        Ok(())
    }

    async fn find(&self, email: &str) -> anyhow::Result<User> {
        let users = self.app.store.users.users(self.scope).await?;
        let email = user::email(email).unwrap_or_default();
        let found = users.into_iter().find(|user| user.email == email);
        found.context("there is no user with this e-mail address in this workspace")
    }

    fn tell(&self, user: &User, password: Option<Password>) {
        let made = password.filter(|password| password.is_made);
        if self.json {
            let mut shown = as_json(user);
            if let Some(password) = made {
                shown["password"] = json!(password.text);
            }
            println!("{shown}");
            return;
        }
        println!("{} is {} ({})", user.email, user.role, user.name);
        if let Some(password) = made {
            println!("password  {}", password.text);
            eprintln!("it is not shown again");
        }
    }
}

fn as_json(user: &User) -> serde_json::Value {
    json!({"id": user.id, "email": user.email, "name": user.name, "role": user.role.as_str(),
        "created_at": user.created_at})
}

fn in_words(error: Error) -> anyhow::Error {
    match error {
        Error::Faults(problems) => {
            let each = problems.iter();
            let each =
                each.map(|it| format!("{} {}", it.pointer.trim_start_matches('/'), it.detail));
            anyhow::anyhow!(each.collect::<Vec<_>>().join("; "))
        }
        other => other.into(),
    }
}
