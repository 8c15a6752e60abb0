//! A workspace with one journey and a clock, for the tests of nodes.

use crate::id::JourneyId;
use crate::journey::simulate::{Run, Simulation};
use crate::journey::{Instance, Known, check, read_document};
use crate::time::Timestamp;
use crate::value::Object;

pub struct Ground {
    pub simulation: Simulation,
    now: Timestamp,
}

impl Ground {
    pub fn new(definition: &str) -> Self {
        let checked = check(definition, 1, &Known::default());
        assert!(checked.definition.is_some(), "{:#?}", checked.faults);
        let mut simulation = Simulation::default();
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        simulation.pass_to(now);
        let document = read_document(definition).expect("a document");
        simulation.publish(JourneyId::of_name("t"), 1, document);
        Self { simulation, now }
    }

    pub const fn now(&self) -> Timestamp {
        self.now
    }

    pub fn pass(&mut self, seconds: i64) {
        self.now = self.now.shifted(seconds * 1_000_000);
        self.simulation.pass_to(self.now);
    }

    pub fn say(&mut self, raw: &str) {
        self.simulation.say(raw, self.now).expect("accepted");
    }

    pub fn track(&mut self, user: &str, event: &str, properties: &str) {
        self.say(&format!(
            r#"{{"type": "track", "userId": "{user}", "event": "{event}", "properties": {properties}}}"#
        ));
    }

    pub fn identify(&mut self, user: &str, traits: &str) {
        self.say(&format!(
            r#"{{"type": "identify", "userId": "{user}", "traits": {traits}}}"#
        ));
    }

    pub fn runs(&self, user: &str) -> Vec<&Run> {
        let runs = self.simulation.runs().iter();
        runs.filter(|run| run.user == user).collect()
    }

    pub fn paths(&self, user: &str) -> Vec<String> {
        self.runs(user).into_iter().map(Run::path).collect()
    }

    #[track_caller]
    fn run(&self, user: &str) -> &Run {
        let runs = self.runs(user);
        assert_eq!(runs.len(), 1, "{user} has {runs:#?}");
        runs[0]
    }

    #[track_caller]
    pub fn path(&self, user: &str) -> String {
        self.run(user).path()
    }

    #[track_caller]
    pub fn because(&self, user: &str) -> Vec<String> {
        self.run(user).because.concat()
    }

    #[track_caller]
    pub fn finished_at(&self, user: &str) -> Timestamp {
        self.run(user).finished_at.expect("finished")
    }

    pub fn messages(&self) -> Vec<String> {
        let messages = self.simulation.messages().iter();
        messages
            .map(|message| {
                let request = &message.request;
                format!(
                    "{} {}/{} {}",
                    message.user,
                    request.channel,
                    request.template_name(),
                    request.priority
                )
            })
            .collect()
    }

    #[track_caller]
    pub fn instance(&self, user: &str) -> Instance {
        let journeys = self.simulation.journeys();
        journeys
            .instance(self.run(user).instance)
            .expect("active")
            .clone()
    }

    #[track_caller]
    pub fn state_data(&self, user: &str) -> Object {
        let instance = self.instance(user);
        let journeys = self.simulation.journeys();
        instance.state_data(journeys.definition_of(&instance))
    }
}
