//! From a request to a letter.

use kurier_core::message::{Blame, Category, Letter, Refusal, Rendered, Request};
use kurier_store::Claim;

use crate::clock;

/// Writes letters.
pub struct Post;

impl Post {
    /// The letter for a message, and the version of the template it was written with.
    pub async fn letter(
        &self,
        claim: &Claim,
        request: &Request,
    ) -> Result<(Letter, Option<u32>), Refusal> {
        let (rendered, version) = self.render(request).await?;
        let letter = Letter {
            message: request.message,
            attempt: claim.attempts,
            at: clock::now(),
            to: request.to.clone(),
            rendered,
            unsubscribe: None,
            template: request.template.clone(),
            topic: request.topic.clone(),
        };
        Ok((letter, version))
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
