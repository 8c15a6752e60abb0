//! The front door. Events are most of what comes: they go straight to ingest. Everything else
//! takes the router, whose layers (a boxed service and a copy each) cost an event more than
//! reading it does. The router has the same addresses, for what is unusual about a request.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::ingest::{Accepted, Straight};
use super::observe;
use super::plain::Plain;
use super::problem::Problem;
use crate::app::App;
use crate::keyring::Shown;

#[derive(Clone)]
pub struct Front {
    app: Arc<App>,
    router: TowerToHyperService<Router>,
}

impl Front {
    pub fn new(app: Arc<App>) -> Self {
        let router = TowerToHyperService::new(super::router(app.clone()));
        Self { app, router }
    }

    pub async fn answer(self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let is_post = request.method() == Method::POST;
        match Straight::of(request.uri().path()).filter(|_| is_post) {
            Some(straight) => {
                let answer = straight.answer(self.app, request.map(Body::new));
                Ok(observe::watch(straight.route(), answer).await)
            }
            None => self.router.call(request).await,
        }
    }

    /// The same for a plain request.
    pub async fn accept(&self, plain: Plain<'_>, shown: &mut Shown) -> Result<Accepted, Problem> {
        let pass = (shown, plain.authorization);
        plain.straight.accept(&self.app, pass, plain.body).await
    }
}
