//! From a request to a letter. What a person looks at later is written by the same hand.

use std::sync::Arc;

use kurier_core::content::Target;
use kurier_core::id::{TemplateId, WorkspaceId};
use kurier_core::keys;
use kurier_core::message::channel::ChannelKind;
use kurier_core::message::{Blame, Category, Letter, Refusal, Rendered, Request};
use kurier_core::template::{Compiled, Quotes, RenderFault, Why, quoted_in};
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use kurier_store::{Error, Result, Scope, Store, Workspace};

use super::Waiting;
use crate::cache::Documents;
use crate::channel::Registry;
use crate::clock;
use crate::flow::Projector;
use crate::flow::content::{Quoting, absence, target_of, too_long};
use crate::links::Links;

/// So many templates are kept ready to write with.
const READY_MAX: u64 = 1_000;

type Place = (WorkspaceId, TemplateId, u32);

/// Writes letters.
pub struct Post {
    store: Store,
    links: Links,
    templates: Arc<Projector>,
    /// A version never changes.
    ready: moka::sync::Cache<Place, Arc<Compiled>>,
    documents: Option<Arc<Documents>>,
    quoting: Option<Quoted>,
}

/// What shows content, and who knows what each channel speaks.
struct Quoted {
    quoting: Quoting,
    channels: Arc<Registry>,
}

/// Why nothing could be written.
#[derive(Debug, thiserror::Error)]
pub enum Unwritten {
    #[error("{0}")]
    Never(String),
    /// What it quotes is not there: it can be when its template is mended.
    #[error("{0}")]
    NoContent(String),
    #[error(transparent)]
    Store(#[from] Error),
}

impl Post {
    pub fn new(store: Store, links: Links, templates: Arc<Projector>) -> Self {
        let cache = moka::sync::Cache::builder();
        Self {
            store,
            links,
            templates,
            ready: cache.max_capacity(READY_MAX).build(),
            documents: None,
            quoting: None,
        }
    }

    /// Templates may quote content.
    #[must_use]
    pub fn quoting(self, quoting: Quoting, channels: Arc<Registry>) -> Self {
        Self {
            quoting: Some(Quoted { quoting, channels }),
            ..self
        }
    }

    /// Documents are remembered here.
    #[must_use]
    pub fn remembering(self, documents: Arc<Documents>) -> Self {
        Self {
            documents: Some(documents),
            ..self
        }
    }

    /// The letter for a message.
    pub async fn letter(
        &self,
        workspace: &Workspace,
        waiting: &Waiting,
    ) -> std::result::Result<Letter, Refusal> {
        let (request, at) = (&waiting.request, clock::now());
        let rendered = self.write(Scope(workspace.id), request, at).await;
        Ok(Letter {
            message: request.message,
            attempt: waiting.claim.attempts,
            at,
            to: request.to.clone(),
            rendered: rendered.map_err(refusal)?,
            unsubscribe: self.unsubscribe(workspace, waiting),
            template: request.template.clone(),
            topic: request.topic.clone(),
        })
    }

    fn unsubscribe(&self, workspace: &Workspace, waiting: &Waiting) -> Option<String> {
        let (address, topic) = (waiting.address.as_ref()?, waiting.topic.as_ref()?);
        let message = waiting.request.message;
        self.links.unsubscribe(workspace, message, address, topic)
    }

    /// What a message says. It is written with the version it was asked for with, unless that
    /// quotes what is gone: a key does not come back, so then the newest version says it.
    pub async fn write(
        &self,
        scope: Scope,
        request: &Request,
        at: Timestamp,
    ) -> std::result::Result<Rendered, Unwritten> {
        if let Some(body) = &request.body {
            return Ok(body.clone());
        }
        let name = request.template_name();
        let missing = || Unwritten::Never(format!("there is no template `{name}`"));
        let version = request.template_version.ok_or_else(missing)?;
        let place = (scope.0, TemplateId::of_name(name), version);
        let template = self.find(scope, place).await?.ok_or_else(missing)?;
        let fault = match self.rendered(scope, &template, request, at).await? {
            Ok(rendered) => return Ok(rendered),
            Err(fault) => fault,
        };
        let Why::NoContent(key) = fault.why else {
            return Err(Unwritten::Never(fault.to_string()));
        };
        if let Some(mended) = self.mended(scope, place, &template).await?
            && let Ok(rendered) = self.rendered(scope, &mended, request, at).await?
        {
            return Ok(rendered);
        }
        let why = match absence(&self.store, scope, key).await? {
            Some(why) => why,
            // It came in between, unless it cannot be shown.
            None => match self.rendered(scope, &template, request, at).await? {
                Ok(rendered) => return Ok(rendered),
                Err(_) => too_long(key),
            },
        };
        let (name, part) = (&template.name, fault.part);
        let why = format!("template `{name}`, version {version}, {part}: {why}");
        Err(Unwritten::NoContent(why))
    }

    async fn rendered(
        &self,
        scope: Scope,
        template: &Compiled,
        request: &Request,
        at: Timestamp,
    ) -> Result<std::result::Result<Rendered, RenderFault>> {
        let quotes = self.quotes(scope, template, &request.channel).await?;
        let noted = template.render_quoting(&request.inputs, at, &quotes);
        Ok(noted.map(|noted| noted.rendered))
    }

    /// The newest version of a template, if it is a newer one and asks for nothing that was not
    /// gathered for this one.
    async fn mended(
        &self,
        scope: Scope,
        (workspace, id, version): Place,
        template: &Compiled,
    ) -> Result<Option<Arc<Compiled>>> {
        self.templates.drain().await?;
        let newest = self.store.templates.template(scope, id).await?;
        let Some(newest) = newest.filter(|it| it.version > version && it.retired_at.is_none())
        else {
            return Ok(None);
        };
        let newest = self.find(scope, (workspace, id, newest.version)).await?;
        let gathered = template.reads();
        Ok(newest.filter(|newest| inputs_of(newest).all(|read| gathered.contains(&read))))
    }

    /// What a template quotes, as it is now, for a channel.
    pub async fn quotes(&self, scope: Scope, template: &Compiled, channel: &str) -> Result<Quotes> {
        let quotes_nothing = template.quotes().next().is_none();
        let Some(Quoted { quoting, channels }) = self.quoting.as_ref().filter(|_| !quotes_nothing)
        else {
            return Ok(Quotes::default());
        };
        let found = channels.find(scope, channel).await?;
        let kind = found.map(|found| found.settings.kind());
        // The outbox stands in for what it is called.
        let kind = kind.filter(|kind| *kind != ChannelKind::Outbox);
        let kind = kind.or_else(|| ChannelKind::of(channel));
        let target = kind.map_or(Target::Text, target_of);
        quoting.quotes(scope, template, target).await
    }

    async fn find(&self, scope: Scope, place: Place) -> Result<Option<Arc<Compiled>>> {
        if let Some(ready) = self.ready.get(&place) {
            return Ok(Some(ready));
        }
        let (_, id, version) = place;
        let found = match &self.documents {
            Some(documents) => {
                let key = keys::cache::template(scope.0, id, &documents.ttls);
                documents
                    .version(&key, version, async || self.load(scope, place).await)
                    .await?
            }
            None => self.load(scope, place).await?.map(Into::into),
        };
        let Some(found) = found else { return Ok(None) };
        let damaged = || Error::Damaged(format!("version {version} of template {id}"));
        let document: Value = serde_json::from_str(&found).map_err(|_| damaged())?;
        let compiled = Arc::new(Compiled::new(&document).map_err(|_| damaged())?);
        self.ready.insert(place, compiled.clone());
        Ok(Some(compiled))
    }

    async fn load(&self, scope: Scope, (_, id, version): Place) -> Result<Option<String>> {
        let views = &self.store.templates;
        let mut found = views.template_version(scope, id, version).await?;
        // It was published a moment ago: whoever asked for the message knew it.
        if found.is_none() {
            self.templates.drain().await?;
            found = views.template_version(scope, id, version).await?;
        }
        Ok(found.map(|found| found.document))
    }
}

/// What a template reads of a message's inputs.
fn inputs_of(template: &Compiled) -> impl Iterator<Item = String> {
    let reads = template.reads().into_iter();
    reads.filter(|read| quoted_in([read]).is_empty())
}

/// What cannot be written never can be; what could not be looked up is tried again.
fn refusal(why: Unwritten) -> Refusal {
    let (category, code) = match why {
        Unwritten::Never(_) => (Category::Permanent, "template"),
        Unwritten::NoContent(_) => (Category::Permanent, "no_content"),
        Unwritten::Store(_) => (Category::Retryable, "template"),
    };
    Refusal {
        category,
        blame: Blame::Message,
        code: code.into(),
        detail: match why {
            Unwritten::Never(why) | Unwritten::NoContent(why) => why,
            // Its cause is in the server's log.
            Unwritten::Store(error) => {
                tracing::error!(%error, "a template could not be read");
                "the template could not be read".into()
            }
        },
        retry_after: None,
    }
}
