//! From a request to a letter.

use kurier_core::message::{Blame, Category, Letter, Refusal, Rendered, Request};
use kurier_store::Workspace;

use super::Waiting;
use crate::clock;
use crate::links::Links;

/// Writes letters.
pub struct Post {
    pub links: Links,
}

impl Post {
    /// The letter for a message, and the version of the template it was written with.
    pub async fn letter(
        &self,
        workspace: &Workspace,
        waiting: &Waiting,
    ) -> Result<(Letter, Option<u32>), Refusal> {
        let request = &waiting.request;
        let (rendered, version) = self.render(request).await?;
        let letter = Letter {
            message: request.message,
            attempt: waiting.claim.attempts,
            at: clock::now(),
            to: request.to.clone(),
            rendered,
            unsubscribe: self.unsubscribe(workspace, waiting),
            template: request.template.clone(),
            topic: request.topic.clone(),
        };
        Ok((letter, version))
    }

    fn unsubscribe(&self, workspace: &Workspace, waiting: &Waiting) -> Option<String> {
        let (address, topic) = (waiting.address.as_ref()?, waiting.topic.as_ref()?);
        let message = waiting.request.message;
        self.links.unsubscribe(workspace, message, address, topic)
    }

    async fn render(&self, request: &Request) -> Result<(Rendered, Option<u32>), Refusal> {
        match &request.body {
            Some(body) => Ok((body.clone(), None)),
            None => Err(unwritten("there is no such template")),
        }
    }
}

fn unwritten(why: &str) -> Refusal {
    Refusal {
        category: Category::Permanent,
        blame: Blame::Message,
        code: "template".into(),
        detail: why.to_owned(),
        retry_after: None,
    }
}
