use super::*;

const POLICY: Policy = Policy {
    max_retries: 5,
    on_unknown: OnUnknown::Resend,
};

fn tried(attempt: u32) -> Tried {
    Tried {
        message: MessageId::new(Timestamp::from_millis(1), [1; 10]),
        attempt: attempt + 10,
        counted: attempt,
        now: Timestamp::from_micros(0),
        chance: u64::MAX / 2,
    }
}

fn refusal(category: Category, blame: Blame) -> Outcome {
    Outcome::Refused(Refusal {
        category,
        blame,
        code: "x".into(),
        detail: String::new(),
        retry_after: None,
    })
}

fn ended(attempt: u32, outcome: Outcome, policy: Policy) -> (Kind, Option<Reason>) {
    let verdict = judge(tried(attempt), outcome, policy);
    (verdict.kind, verdict.report.reason)
}

#[test]
fn seed_4_3_permanent_errors_are_not_retried() {
    let outcome = refusal(Category::Permanent, Blame::Message);
    assert_eq!(
        ended(1, outcome, POLICY),
        (Kind::MessageFailed, Some(Reason::Refused))
    );
}

#[test]
fn seed_4_3_temporary_and_retryable_errors_are_until_there_were_enough() {
    for category in [Category::Temporary, Category::Retryable] {
        let outcome = || refusal(category, Blame::Recipient);
        assert_eq!(ended(4, outcome(), POLICY).0, Kind::MessageRetried);
        let exhausted = (Kind::MessageFailed, Some(Reason::RetriesExhausted));
        assert_eq!(ended(5, outcome(), POLICY), exhausted);
    }
}

#[test]
fn seed_6_2_what_failed_is_put_aside_and_never_tried_by_itself() {
    let permanent = judge(
        tried(1),
        refusal(Category::Permanent, Blame::Recipient),
        POLICY,
    );
    let exhausted = judge(
        tried(5),
        refusal(Category::Temporary, Blame::Message),
        POLICY,
    );
    assert_eq!([permanent.then, exhausted.then], [Then::Aside; 2]);
}

#[test]
fn a_dead_address_is_suppressed_and_a_full_mailbox_is_not() {
    let dead = judge(
        tried(1),
        refusal(Category::Permanent, Blame::Recipient),
        POLICY,
    );
    let full = judge(
        tried(1),
        refusal(Category::Temporary, Blame::Recipient),
        POLICY,
    );
    let spam = judge(
        tried(1),
        refusal(Category::Permanent, Blame::Message),
        POLICY,
    );
    assert_eq!(
        [dead, full, spam].map(|it| it.suppresses),
        [true, false, false]
    );
}

#[test]
fn a_wrong_password_costs_no_message_its_attempt() {
    let verdict = judge(
        tried(1),
        refusal(Category::Permanent, Blame::Channel),
        POLICY,
    );
    assert_eq!(verdict.signal, Signal::Down);
    assert_eq!(
        (verdict.kind, verdict.then),
        (
            Kind::MessageHeld,
            Then::Uncounted(Timestamp::from_micros(0))
        )
    );
}

#[test]
fn only_the_channels_own_failures_count_for_its_breaker() {
    let signals = [Blame::Recipient, Blame::Message, Blame::Channel].map(|blame| {
        let outcome = refusal(Category::Temporary, blame);
        judge(tried(1), outcome, POLICY).signal
    });
    assert_eq!(signals, [Signal::Good, Signal::Good, Signal::Bad]);
}

#[test]
fn a_lost_answer_is_said_whatever_is_done_about_it() {
    let lost = || Outcome::Unknown {
        detail: "gone".into(),
    };
    let ask = Policy {
        on_unknown: OnUnknown::Ask,
        ..POLICY
    };
    let (resent, asked) = (
        judge(tried(1), lost(), POLICY),
        judge(tried(1), lost(), ask),
    );
    assert_eq!([resent.kind, asked.kind], [Kind::MessageUnknown; 2]);
    assert!(matches!(resent.then, Then::Again(_)));
    assert_eq!(asked.then, Then::Aside);
    let last = judge(tried(5), lost(), POLICY);
    assert_eq!(last.then, Then::Aside);
}

#[test]
fn the_provider_is_left_alone_as_long_as_it_asks() {
    let outcome = Outcome::Refused(Refusal {
        category: Category::Temporary,
        blame: Blame::Channel,
        code: "http 429".into(),
        detail: String::new(),
        retry_after: Some(120),
    });
    let verdict = judge(tried(1), outcome, POLICY);
    let later = Timestamp::from_micros(120_000_000);
    assert_eq!(verdict.rests_until, Some(later));
    assert!(matches!(verdict.then, Then::Again(at) if at >= later));
}
