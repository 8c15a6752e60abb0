//! The body of a request, which notes when it is handed over: before, a failure means that
//! nothing was sent; after, nobody knows.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

pub struct Outgoing {
    data: Option<Bytes>,
    handed: Arc<AtomicBool>,
}

/// Whether the body is on its way.
pub struct Handed(Arc<AtomicBool>);

impl Handed {
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Outgoing {
    pub fn new(data: Bytes) -> (Self, Handed) {
        let handed = Arc::new(AtomicBool::new(false));
        let body = Self {
            data: Some(data),
            handed: handed.clone(),
        };
        (body, Handed(handed))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.handed.store(true, Ordering::Release);
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
}
