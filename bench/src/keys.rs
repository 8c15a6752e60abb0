//! The differential test of keys: random texts get the same ones from Kurier as from a second
//! implementation, which was written from the rules alone.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use kurier_core::content::{Language, Name, NodeType, Numbers, Settings, Slugger};

use crate::clock::Random;

/// What texts are made of: one for every rule, and for the places where rules meet.
const PIECES: &[&str] = &[
    "Risiko",
    "policy",
    "Refund",
    "Überblick",
    "Größe",
    "ÄÖÜ",
    "straße",
    "élan",
    "Ñandú",
    "çà",
    "u\u{308}ber",
    "A\u{308}rger",
    "der",
    "Die",
    "und",
    "für",
    "the",
    "of",
    "ist",
    "zum",
    "eines",
    "a",
    "in",
    "x",
    "Go",
    "C#",
    "C++",
    "R&D",
    "&",
    "AT&T",
    "%",
    "50%",
    "€",
    "$5",
    "@",
    "a@b",
    "#",
    "+",
    "=",
    "<",
    ">",
    "a<b",
    "VaR",
    "VaRs",
    "ROI",
    "var",
    "(VaR)",
    "Value at Risk",
    "value-at-risk",
    "return on investment",
    "0",
    "5",
    "7",
    "12",
    "13",
    "16",
    "17",
    "20",
    "21",
    "30",
    "99",
    "100",
    "101",
    "110",
    "999",
    "1000",
    "1001",
    "1100",
    "1999",
    "2024",
    "2026",
    "9999",
    "10000",
    "007",
    "1.5",
    "3,14",
    "v1.2",
    "3D",
    "{{<",
    ">}}",
    "{{%",
    "%}}",
    "{%",
    "heading",
    "note",
    "risk-adjusted",
    "a/b",
    "snake_case",
    "—",
    "–",
    "...",
    "?!",
    "(",
    ")",
    ":",
    "\"",
    "'",
    "don't",
    "*",
    "\u{a0}",
    "Diversifikation",
    "Korrelationskoeffizienten",
    "Donaudampfschifffahrtsgesellschaftskapitaen",
];
const GAPS: &[&str] = &[" ", " ", " ", " ", "", "  ", "\n", "-", "_"];
const PIECES_MAX: usize = 9;
/// A few names are used so often that they roll on.
const OFTEN: usize = 1_100;

#[derive(clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 50_000)]
    texts: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The folder of the peers' programs
    #[arg(long, default_value = "bench/peers")]
    peers: PathBuf,
}

type Text = (NodeType, Language, String);

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut random = Random::seeded(args.seed);
    let mut texts: Vec<Text> = (0..args.texts).map(|_| text(&mut random)).collect();
    texts.extend((0..OFTEN).map(|_| (NodeType::Para, Language::De, "What's next".to_owned())));
    let (own, peer) = (own(&texts), peer(args, &texts)?);
    anyhow::ensure!(own.len() == peer.len(), "the peer told {} keys", peer.len());
    let pairs = own.iter().zip(&peer).zip(&texts);
    let differing: Vec<_> = pairs.filter(|((own, peer), _)| own != peer).collect();
    for ((own, peer), text) in differing.iter().take(20) {
        eprintln!("{text:?}\n  Kurier {own}\n  peer   {peer}");
    }
    anyhow::ensure!(differing.is_empty(), "{} keys differ", differing.len());
    println!("{} texts have the same keys", texts.len());
    Ok(())
}

fn text(random: &mut Random) -> Text {
    let node_type = NodeType::ALL[random.below(NodeType::ALL.len())];
    let language = [Language::De, Language::En][random.below(2)];
    let mut text = String::new();
    for _ in 0..random.below(PIECES_MAX + 1) {
        text.push_str(PIECES[random.below(PIECES.len())]);
        text.push_str(GAPS[random.below(GAPS.len())]);
    }
    (node_type, language, text)
}

fn own(texts: &[Text]) -> Vec<String> {
    let slugger = Slugger::new(&Settings::default());
    let mut numbers = Numbers::default();
    let key = |(node_type, language, text): &Text| {
        let identifier = slugger.identifier(text, *node_type, *language);
        let name = Name {
            node_type: *node_type,
            identifier,
        };
        numbers.take(name).to_string()
    };
    texts.iter().map(key).collect()
}

fn peer(args: &Args, texts: &[Text]) -> anyhow::Result<Vec<String>> {
    let mut child = Command::new(&args.python)
        .arg(args.peers.join("keys.py"))
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("Python cannot be run")?;
    let mut stdin = child.stdin.take().context("no way in")?;
    let mut lines = String::new();
    for (node_type, language, text) in texts {
        let line = serde_json::json!([node_type.as_str(), language, text]);
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    // It answers while it reads, so both ways are open at once.
    let writing = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    anyhow::ensure!(output.status.success(), "the peer failed");
    writing.join().expect("writing does not panic")?;
    let told = String::from_utf8(output.stdout)?;
    Ok(told.lines().map(str::to_owned).collect())
}
