//! The Prometheus text format.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::atomic::Ordering;

use metrics::Key;

use super::histogram::BucketHistogram;
use super::recorder::{PrometheusRecorder, SeriesMap, read};

/// The lines of each series, by the metric's name and the series' labels.
type Families = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn render(recorder: &PrometheusRecorder) -> String {
    let counters = families(&recorder.counters, |name, labels, counter| {
        line(name, "", labels, counter.load(Ordering::Relaxed))
    });
    let gauges = families(&recorder.gauges, |name, labels, gauge| {
        let value = f64::from_bits(gauge.load(Ordering::Relaxed));
        line(name, "", labels, value)
    });
    let histograms = families(&recorder.histograms, histogram_lines);
    let mut text = String::new();
    for (kind, families) in [
        ("counter", counters),
        ("gauge", gauges),
        ("histogram", histograms),
    ] {
        for (name, series) in families {
            if let Some(description) = read(&recorder.descriptions).get(&name) {
                let description = escape(description, false);
                text += &format!("# HELP {name} {description}\n");
            }
            text += &format!("# TYPE {name} {kind}\n");
            text.extend(series.into_values());
            text.push('\n');
        }
    }
    text
}

fn families<T>(series: &SeriesMap<T>, lines: impl Fn(&str, &str, &T) -> String) -> Families {
    let mut families = Families::new();
    series.for_each(|key, series| {
        let labels = labels(key);
        let lines = lines(key.name(), &labels, series);
        let family = families.entry(key.name().to_owned()).or_default();
        family.insert(labels, lines);
    });
    families
}

fn histogram_lines(name: &str, labels: &str, histogram: &BucketHistogram) -> String {
    let (buckets, count) = histogram.cumulative();
    let separator = if labels.is_empty() { "" } else { "," };
    let bucket = |bound: &dyn Display, count| {
        let labels = format!("{labels}{separator}le=\"{bound}\"");
        line(name, "_bucket", &labels, count)
    };
    let mut text = String::new();
    for (bound, count) in buckets {
        text += &bucket(&bound, count);
    }
    text += &bucket(&"+Inf", count);
    text += &line(name, "_sum", labels, histogram.sum());
    text += &line(name, "_count", labels, count);
    text
}

fn line(name: &str, suffix: &str, labels: &str, value: impl Display) -> String {
    match labels {
        "" => format!("{name}{suffix} {value}\n"),
        _ => format!("{name}{suffix}{{{labels}}} {value}\n"),
    }
}

/// As they stand between the braces. Names of metrics and labels are constants of this crate, and valid.
fn labels(key: &Key) -> String {
    let mut text = String::new();
    for label in key.labels() {
        let separator = if text.is_empty() { "" } else { "," };
        let value = escape(label.value(), true);
        write!(text, "{separator}{}=\"{value}\"", label.key()).expect("text takes all");
    }
    text
}

fn escape(text: &str, is_quoted: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if is_quoted {
        return text.replace('"', "\\\"");
    }
    text
}
