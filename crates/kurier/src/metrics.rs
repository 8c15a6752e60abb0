//! What `/metrics` shows. Names and units follow Prometheus; no label names a contact.

mod exposition;
mod histogram;
mod recorder;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use recorder::PrometheusRecorder;

pub const EVENTS: &str = "kurier_ingest_events_total";
pub const REQUESTS: &str = "kurier_http_requests_total";
pub const REQUEST_SECONDS: &str = "kurier_http_request_duration_seconds";
pub const REFUSED: &str = "kurier_ingest_overload_total";
pub const LOG_POSITION: &str = "kurier_log_position";
pub const PROJECTION_POSITION: &str = "kurier_projection_position";
pub const PROJECTION_LAG: &str = "kurier_projection_lag_events";
pub const PROJECTION_EVENTS: &str = "kurier_projection_events_total";
pub const PROJECTION_POISON: &str = "kurier_projection_poison_events";
pub const PROJECTION_PAUSED: &str = "kurier_projection_paused";
pub const PROJECTION_FAILING: &str = "kurier_projection_failing";
pub const MESSAGES: &str = "kurier_messages_total";
pub const CHANNEL_SECONDS: &str = "kurier_channel_send_duration_seconds";
pub const DECISIONS: &str = "kurier_decisions_total";
pub const REACTOR_POSITION: &str = "kurier_reactor_position";
pub const WORLD_BYTES: &str = "kurier_world_bytes";
pub const WORLD_BYTES_MAX: &str = "kurier_world_bytes_max";
pub const WORLD_UNKEPT: &str = "kurier_world_unkept_values";
pub const SNAPSHOT_POSITION: &str = "kurier_snapshot_position";
pub const SNAPSHOT_BYTES: &str = "kurier_snapshot_bytes";
pub const SNAPSHOT_AGE: &str = "kurier_snapshot_age_seconds";
pub const EDGE_OPERATIONS: &str = "kurier_edge_operations_total";
pub const EDGE_HINT_HITS: &str = "kurier_edge_version_hint_hits_total";
pub const EDGE_HINT_MISSES: &str = "kurier_edge_version_hint_misses_total";
pub const EDGE_DEDUP_HITS: &str = "kurier_edge_dedup_hits_total";
pub const EDGE_DEDUP_MISSES: &str = "kurier_edge_dedup_misses_total";
pub const EDGE_OLDER: &str = "kurier_edge_older_total";
pub const EDGE_HEALED: &str = "kurier_edge_healed_total";
pub const EDGE_FAULTS: &str = "kurier_edge_faults_total";
pub const EDGE_READS: &str = "kurier_edge_reads_total";
pub const CACHE_HITS: &str = "kurier_cache_hits_total";
pub const CACHE_MISSES: &str = "kurier_cache_misses_total";
pub const CACHE_RATIO: &str = "kurier_cache_hit_ratio";
pub const CACHE_BYTES: &str = "kurier_cache_bytes";
pub const CACHE_ENTRIES: &str = "kurier_cache_entries";
pub const KEYSPACE_OPERATIONS: &str = "kurier_keyspace_operations_total";
pub const KEYSPACE_ERRORS: &str = "kurier_keyspace_errors_total";
pub const KEYSPACE_SECONDS: &str = "kurier_keyspace_duration_seconds";
pub const BUNDLE_HITS: &str = "kurier_bundle_cache_hits_total";
pub const BUNDLE_MISSES: &str = "kurier_bundle_cache_misses_total";
pub const BUNDLE_RATIO: &str = "kurier_bundle_cache_hit_ratio";
pub const BUNDLE_BUILDS: &str = "kurier_bundle_builds_total";
pub const BUNDLE_BUILD_P95: &str = "kurier_bundle_build_latency_ms_p95";
pub const BUNDLE_CONFS: &str = "kurier_bundle_confs";
pub const HEADERS_FETCH: &str = "kurier_headers_fetch_latency_seconds";
pub const HEADERS_RATIO: &str = "kurier_headers_cache_hit_ratio";
pub const HEADERS_FAULTS: &str = "kurier_headers_faults_total";
pub const HEADERS_HEIGHT: &str = "kurier_headers_tip_height";
pub const REORGS: &str = "kurier_reorg_detected_total";
pub const STALE_SERVED: &str = "kurier_stale_served_total";
pub const READY_CHANGES: &str = "kurier_ready_decision_changes_total";

/// Confirmations are counted, not timed; -1 is a block that was replaced.
const CONFS_BUCKETS: [f64; 10] = [
    -1.0, 0.0, 1.0, 2.0, 3.0, 6.0, 12.0, 100.0, 1_000.0, 10_000.0,
];

/// Seconds.
const TIME_BUCKETS: [f64; 13] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0,
];

/// The recorder is the process's: a second server in one process (a test) shares it.
pub fn recorder() -> &'static PrometheusRecorder {
    static RECORDER: LazyLock<&'static PrometheusRecorder> = LazyLock::new(install);
    &RECORDER
}

fn install() -> &'static PrometheusRecorder {
    let recorder: &PrometheusRecorder = Box::leak(Box::new(PrometheusRecorder::new(bounds_of)));
    let installed = metrics::set_global_recorder(recorder);
    assert!(installed.is_ok(), "another recorder is installed");
    describe();
    recorder
}

fn bounds_of(histogram: &str) -> &'static [f64] {
    match histogram {
        BUNDLE_CONFS => &CONFS_BUCKETS,
        _ => &TIME_BUCKETS,
    }
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!(EVENTS, "Events by result: accepted, duplicate or rejected");
    describe_counter!(REQUESTS, "HTTP requests by route and status");
    describe_histogram!(REQUEST_SECONDS, "Time to answer an HTTP request");
    describe_counter!(
        REFUSED,
        "Requests answered 503 because too much was in flight"
    );
    describe_gauge!(LOG_POSITION, "The last position in the log");
    describe_counter!(
        DECISIONS,
        "What this process has put into the log by itself, by kind"
    );
    describe_counter!(MESSAGES, "What became of messages, by kind");
    describe_histogram!(
        CHANNEL_SECONDS,
        "Time to hand a message to a channel, by kind and outcome"
    );
    describe_gauge!(PROJECTION_POSITION, "How far a projection has come");
    describe_gauge!(PROJECTION_LAG, "Events a projection has still to fold");
    describe_counter!(PROJECTION_EVENTS, "Events a projection has folded");
    describe_gauge!(
        PROJECTION_POISON,
        "Events a projection could not fold and set aside"
    );
    describe_gauge!(PROJECTION_PAUSED, "1 while a projection is paused");
    describe_gauge!(
        PROJECTION_FAILING,
        "1 while a projection cannot go on; see `kurier projection status`"
    );
    describe_edge();
    describe_gauge!(REACTOR_POSITION, "How far the log was reacted to");
    describe_gauge!(WORLD_BYTES, "Memory that contacts and events take");
    describe_gauge!(WORLD_BYTES_MAX, "More than this it should not take");
    describe_gauge!(
        WORLD_UNKEPT,
        "Values beyond the limits of columns, missing to expressions, by kind"
    );
    describe_gauge!(SNAPSHOT_POSITION, "Where the newest snapshot was taken");
    describe_gauge!(SNAPSHOT_BYTES, "How large the newest snapshot is");
    describe_gauge!(SNAPSHOT_AGE, "How old the newest snapshot is");
    describe_caches();
    describe_bundles();
}

fn describe_bundles() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!(BUNDLE_HITS, "Bundles that were cached");
    describe_counter!(BUNDLE_MISSES, "Bundles that were not, or no longer");
    describe_gauge!(BUNDLE_RATIO, "Hits of all bundles that were asked for");
    describe_counter!(BUNDLE_BUILDS, "Bundles that were built and verified");
    describe_gauge!(
        BUNDLE_BUILD_P95,
        "Of the last builds 95 in 100 took no longer, in milliseconds"
    );
    describe_histogram!(
        BUNDLE_CONFS,
        "Confirmations in answers; -1 for replaced blocks"
    );
    describe_histogram!(
        HEADERS_FETCH,
        "Time to ask a source of headers for what is new"
    );
    describe_gauge!(HEADERS_RATIO, "How often the cached tip was there");
    describe_counter!(HEADERS_FAULTS, "Times a source of headers failed");
    describe_gauge!(HEADERS_HEIGHT, "The height of the tip");
    describe_counter!(
        REORGS,
        "Cached bundles whose block was found to be replaced"
    );
    describe_counter!(
        STALE_SERVED,
        "Old bundles served while they were looked at again"
    );
    describe_counter!(READY_CHANGES, "Versions that became ready, or ceased to be");
}

fn describe_caches() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!(
        CACHE_HITS,
        "What was remembered, by cache and level (l1: in this process, l2: in Redis)"
    );
    describe_counter!(CACHE_MISSES, "What the store had to be asked for, by cache");
    describe_gauge!(CACHE_RATIO, "Hits of all that was asked for, by cache");
    describe_gauge!(CACHE_BYTES, "Memory that is taken by what is remembered");
    describe_gauge!(CACHE_ENTRIES, "How much is remembered in this process");
    describe_counter!(KEYSPACE_OPERATIONS, "Commands to the keyspace, by call");
    describe_counter!(KEYSPACE_ERRORS, "What the keyspace failed to do, by kind");
    describe_histogram!(KEYSPACE_SECONDS, "Time the keyspace takes to answer");
}

fn describe_edge() {
    use metrics::describe_counter;
    describe_counter!(
        EDGE_OPERATIONS,
        "Entities that came to the edge to be projected"
    );
    describe_counter!(
        EDGE_HINT_HITS,
        "Entities skipped since a version hint knew them"
    );
    describe_counter!(EDGE_HINT_MISSES, "Entities that no version hint knew");
    describe_counter!(
        EDGE_DEDUP_HITS,
        "Entities skipped since all their events were projected"
    );
    describe_counter!(EDGE_DEDUP_MISSES, "Entities written to the edge");
    describe_counter!(
        EDGE_OLDER,
        "Entities left out since the edge had something newer"
    );
    describe_counter!(
        EDGE_HEALED,
        "Tenants put back into the edge after they were lost"
    );
    describe_counter!(EDGE_FAULTS, "Times the keyspace failed the edge");
    describe_counter!(
        EDGE_READS,
        "Reads from the edge by result: hit, or why the store was asked"
    );
}
