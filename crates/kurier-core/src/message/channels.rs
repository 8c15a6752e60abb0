//! Which channels were set up, as the log tells it: enough to know what they write to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::channel::ChannelKind;
use crate::event::{Kind, Recorded};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    kinds: BTreeMap<String, ChannelKind>,
}

/// Of `channel.configured` and `channel.removed` what matters here.
#[derive(Deserialize)]
struct Told {
    channel: String,
    settings: Option<Settings>,
}

#[derive(Deserialize)]
struct Settings {
    kind: ChannelKind,
}

impl Channels {
    /// What a channel of this name speaks. One that nobody set up speaks what it is called.
    pub fn kind(&self, name: &str) -> Option<ChannelKind> {
        let known = self.kinds.get(name).copied();
        // The outbox stands in for what it is called.
        let known = known.filter(|kind| *kind != ChannelKind::Outbox);
        known.or_else(|| ChannelKind::of(name))
    }

    pub fn fold(&mut self, recorded: &Recorded) {
        if !matches!(
            recorded.event.kind,
            Kind::ChannelConfigured | Kind::ChannelRemoved
        ) {
            return;
        }
        let Ok(told) = serde_json::from_str::<Told>(&recorded.event.payload) else {
            return;
        };
        match told.settings {
            Some(settings) => self.learn(told.channel, settings.kind),
            None => drop(self.kinds.remove(&told.channel)),
        }
    }

    pub fn learn(&mut self, name: String, kind: ChannelKind) {
        self.kinds.insert(name, kind);
    }

    pub fn all(&self) -> impl ExactSizeIterator<Item = (&str, ChannelKind)> {
        let all = self.kinds.iter();
        all.map(|(name, kind)| (name.as_str(), *kind))
    }
}
