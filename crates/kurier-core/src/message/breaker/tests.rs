use proptest::prelude::*;

use super::*;

const LIMITS: BreakerLimits = BreakerLimits {
    failure_threshold: 5,
    success_threshold: 2,
    timeout_seconds: 60,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn failing(times: u32) -> Breaker {
    let mut breaker = Breaker::default();
    (0..times).for_each(|_| breaker.note(Signal::Bad, LIMITS, at(0)));
    breaker
}

#[test]
fn seed_6_1_opens_after_five_failures_for_a_minute() {
    let mut breaker = failing(4);
    assert_eq!(breaker.admit(100, at(1), at(9)), 100);
    breaker.note(Signal::Bad, LIMITS, at(1));
    assert_eq!(breaker.as_str(), "open");
    assert_eq!(breaker.admit(100, at(60), at(70)), 0);
    assert_eq!(breaker.admit(100, at(61), at(70)), 1);
}

#[test]
fn seed_6_1_two_successes_close_it() {
    let mut breaker = failing(5);
    for second in [60, 61] {
        assert_eq!(breaker.admit(9, at(second), at(90)), 1);
        breaker.note(Signal::Good, LIMITS, at(second));
    }
    assert_eq!(breaker, Breaker::default());
}

#[test]
fn resolution_half_open_admits_one_probe_and_any_failure_reopens() {
    let mut breaker = failing(5);
    assert_eq!(breaker.admit(9, at(60), at(90)), 1);
    assert_eq!(breaker.admit(9, at(61), at(91)), 0);
    breaker.note(Signal::Good, LIMITS, at(62));
    assert_eq!(breaker.admit(9, at(62), at(90)), 1);
    breaker.note(Signal::Bad, LIMITS, at(63));
    assert_eq!(breaker.until(), Some(at(123)));
}

#[test]
fn resolution_successes_and_failures_are_counted_apart() {
    let mut breaker = failing(4);
    breaker.note(Signal::Good, LIMITS, at(0));
    (0..4).for_each(|_| breaker.note(Signal::Bad, LIMITS, at(0)));
    assert_eq!(breaker.as_str(), "closed");
}

#[test]
fn a_probe_that_never_reports_does_not_block_for_ever() {
    let mut breaker = failing(5);
    assert_eq!(breaker.admit(1, at(60), at(90)), 1);
    assert_eq!(breaker.admit(1, at(90), at(120)), 1);
}

#[test]
fn a_wrong_password_opens_it_at_once() {
    let mut breaker = Breaker::default();
    breaker.note(Signal::Down, LIMITS, at(0));
    assert_eq!(breaker.as_str(), "open");
}

/// The plainest model there is: the whole history, read again at every question.
#[derive(Debug, Default)]
struct Model {
    failures: u32,
    opened: Option<i64>,
    half: bool,
    successes: u32,
    probe: Option<i64>,
}

impl Model {
    fn admit(&mut self, now: i64) -> usize {
        if self.opened.is_some_and(|since| now - since >= 60) {
            (self.opened, self.half, self.successes, self.probe) = (None, true, 0, None);
        }
        if self.opened.is_some() || (self.half && self.probe.is_some_and(|by| now < by)) {
            return 0;
        }
        if self.half {
            self.probe = Some(now + 30);
            return 1;
        }
        7
    }

    fn report(&mut self, is_good: bool, now: i64) {
        match (self.opened.is_some(), self.half, is_good) {
            (true, _, _) => {}
            (false, true, true) => {
                self.successes += 1;
                self.probe = None;
                self.half = self.successes < 2;
                self.failures = 0;
            }
            (false, true, false) => (self.half, self.opened) = (false, Some(now)),
            (false, false, true) => self.failures = 0,
            (false, false, false) => {
                self.failures += 1;
                if self.failures >= 5 {
                    (self.opened, self.failures) = (Some(now), 0);
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Wait(i64),
    Ask,
    Report(bool),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0_i64..40).prop_map(Act::Wait),
        Just(Act::Ask),
        prop::bool::weighted(0.4).prop_map(Act::Report),
    ]
}

proptest! {
    #[test]
    fn does_what_the_model_does(acts in prop::collection::vec(act(), 0..200)) {
        let (mut breaker, mut model, mut now) = (Breaker::default(), Model::default(), 0);
        for act in acts {
            match act {
                Act::Wait(seconds) => now += seconds,
                Act::Ask => prop_assert_eq!(breaker.admit(7, at(now), at(now + 30)), model.admit(now)),
                Act::Report(is_good) => {
                    let signal = if is_good { Signal::Good } else { Signal::Bad };
                    breaker.note(signal, LIMITS, at(now));
                    model.report(is_good, now);
                }
            }
        }
    }
}
