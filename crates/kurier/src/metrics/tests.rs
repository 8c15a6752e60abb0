use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use metrics::{counter, gauge, histogram, with_local_recorder};

use super::*;

/// What dashboards and alerts read: it stays to the letter.
const TEXT: &str = "\
# HELP kurier_http_requests_total HTTP requests by route and status
# TYPE kurier_http_requests_total counter
kurier_http_requests_total{route=\"/api/v1/contacts\",status=\"200\"} 7
kurier_http_requests_total{route=\"/v1/{type}\",status=\"200\"} 2
kurier_http_requests_total{route=\"/v1/{type}\",status=\"503\"} 0

# HELP kurier_ingest_overload_total Requests answered 503 because too much was in flight
# TYPE kurier_ingest_overload_total counter
kurier_ingest_overload_total 1

# TYPE undescribed_total counter
undescribed_total{said=\"a \\\"quote\\\"\\nand an end\"} 18446744073709551615

# HELP kurier_cache_hit_ratio Hits of all that was asked for, by cache
# TYPE kurier_cache_hit_ratio gauge
kurier_cache_hit_ratio{cache=\"contact\"} 0.1

# HELP kurier_log_position The last position in the log
# TYPE kurier_log_position gauge
kurier_log_position 12345678901

# HELP kurier_bundle_confs Confirmations in answers; -1 for replaced blocks
# TYPE kurier_bundle_confs histogram
kurier_bundle_confs_bucket{le=\"-1\"} 1
kurier_bundle_confs_bucket{le=\"0\"} 1
kurier_bundle_confs_bucket{le=\"1\"} 1
kurier_bundle_confs_bucket{le=\"2\"} 1
kurier_bundle_confs_bucket{le=\"3\"} 1
kurier_bundle_confs_bucket{le=\"6\"} 2
kurier_bundle_confs_bucket{le=\"12\"} 2
kurier_bundle_confs_bucket{le=\"100\"} 2
kurier_bundle_confs_bucket{le=\"1000\"} 2
kurier_bundle_confs_bucket{le=\"10000\"} 2
kurier_bundle_confs_bucket{le=\"+Inf\"} 3
kurier_bundle_confs_sum 20005
kurier_bundle_confs_count 3

# HELP kurier_channel_send_duration_seconds Time to hand a message to a channel, by kind and outcome
# TYPE kurier_channel_send_duration_seconds histogram
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.0005\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.001\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.0025\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.005\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.01\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.025\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.05\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.1\"} 1
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.25\"} 2
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"0.5\"} 2
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"1\"} 2
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"5\"} 2
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"30\"} 2
kurier_channel_send_duration_seconds_bucket{kind=\"email\",outcome=\"sent\",le=\"+Inf\"} 2
kurier_channel_send_duration_seconds_sum{kind=\"email\",outcome=\"sent\"} 0.2505
kurier_channel_send_duration_seconds_count{kind=\"email\",outcome=\"sent\"} 2

";

fn count_some() {
    describe();
    let requests = |route, status| counter!(REQUESTS, "route" => route, "status" => status);
    requests("/v1/{type}", "200").increment(2);
    requests("/v1/{type}", "503").increment(0);
    for count in [4, 3] {
        let contacts = [
            ("route", "/api/v1/contacts".to_owned()),
            ("status", "200".to_owned()),
        ];
        counter!(REQUESTS, &contacts).increment(count);
    }
    counter!(REFUSED).increment(1);
    counter!("undescribed_total", "said" => "a \"quote\"\nand an end").absolute(u64::MAX);
    gauge!(CACHE_RATIO, "cache" => "contact").set(0.1);
    gauge!(LOG_POSITION).set(12_345_678_901.0);
    for confs in [-1.0, 6.0, 20_000.0] {
        histogram!(BUNDLE_CONFS).record(confs);
    }
    let sent = histogram!(CHANNEL_SECONDS, "kind" => "email", "outcome" => "sent");
    // A bound belongs to its bucket.
    sent.record(0.000_5);
    sent.record(Duration::from_millis(250));
}

#[test]
fn the_text_is_to_the_letter() {
    let recorder = PrometheusRecorder::new(bounds_of);
    with_local_recorder(&recorder, count_some);
    assert_eq!(recorder.render(), TEXT);
}

#[test]
fn nothing_counted_is_lost_between_threads() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 10_000;
    let recorder = PrometheusRecorder::new(bounds_of);
    let count = |thread: u64| {
        with_local_recorder(&recorder, || {
            for round in 0..ROUNDS {
                // Some series are new to all threads at the same time.
                let series = (round % 100).to_string();
                counter!(EVENTS, "result" => series).increment(1);
                histogram!(HEADERS_FETCH).record(thread as f64);
            }
        });
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || count(thread));
        }
    });
    let text = recorder.render();
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    let values: HashMap<&str, &str> = lines.collect();
    for series in 0..100 {
        let name = format!("{EVENTS}{{result=\"{series}\"}}");
        assert_eq!(values[name.as_str()], "800", "{name}");
    }
    let whole = |end: &str| values[format!("{HEADERS_FETCH}{end}").as_str()];
    assert_eq!(whole("_count"), "80000");
    assert_eq!(whole("_bucket{le=\"+Inf\"}"), "80000");
    assert_eq!(whole("_bucket{le=\"1\"}"), "20000");
    // 10,000 times 0 + 1 + … + 7.
    assert_eq!(whole("_sum"), "280000");
}
