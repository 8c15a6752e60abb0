//! Redis servers of a test's own, for what would disturb everyone else's: moved slots, a master
//! that goes, a server that is stopped and started again.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command as Program, Stdio};
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

/// A server that is killed when the test ends.
pub struct Server {
    pub port: u16,
    pub bus: u16,
    child: Child,
    _folder: TempDir,
}

impl Server {
    pub fn start(options: &[&str]) -> Self {
        Self::start_at(free_port(), options)
    }

    pub fn start_at(port: u16, options: &[&str]) -> Self {
        let (folder, bus) = (TempDir::new().unwrap(), free_port());
        let mut program = program(folder.path(), port);
        program.args(["--save", "", "--appendonly", "no"]);
        if options.contains(&"--cluster-enabled") {
            program.args(["--cluster-port", &bus.to_string()]);
        }
        Self::spawn(program.args(options), port, bus, folder)
    }

    /// A sentinel that looks after one master and needs nobody's agreement.
    pub fn sentinel(master: &str, port_of_master: u16) -> Self {
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let file = folder.path().join("sentinel.conf");
        let settings = format!(
            "sentinel monitor {master} 127.0.0.1 {port_of_master} 1\n\
             sentinel down-after-milliseconds {master} 60000\n"
        );
        std::fs::write(&file, settings).unwrap();
        let mut program = Program::new("redis-server");
        program.arg(&file).arg("--sentinel");
        program.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
        Self::spawn(&mut program, port, 0, folder)
    }

    fn spawn(program: &mut Program, port: u16, bus: u16, folder: TempDir) -> Self {
        let child = program
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let server = Self {
            port,
            bus,
            child,
            _folder: folder,
        };
        until("the server answers", || server.does(&["PING"]));
        server
    }

    /// What the server answers.
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut connection = self.connection().unwrap();
        command(words).query(&mut connection).unwrap()
    }

    /// Whether the server does it.
    pub fn does(&self, words: &[&str]) -> bool {
        self.try_ask::<redis::Value>(words).is_some()
    }

    /// Whether the server's answer has this in it. A sentinel may cut connections meanwhile.
    pub fn says(&self, words: &[&str], part: &str) -> bool {
        let answer = self.try_ask::<redis::Value>(words);
        answer.is_some_and(|answer| format!("{answer:?}").contains(part))
    }

    fn try_ask<T: FromRedisValue>(&self, words: &[&str]) -> Option<T> {
        command(words).query(&mut self.connection()?).ok()
    }

    fn connection(&self) -> Option<Connection> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        client.get_connection_with_timeout(DEADLINE).ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn program(folder: &Path, port: u16) -> Program {
    let mut program = Program::new("redis-server");
    program.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    program.arg("--dir").arg(folder);
    program
}

fn command(words: &[&str]) -> redis::Cmd {
    redis::cmd(words[0]).arg(&words[1..]).take()
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Asks until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "never: {what}");
        std::thread::yield_now();
    }
}

/// The same for what has to be awaited.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < DEADLINE, "never: {what}");
        tokio::task::yield_now().await;
    }
}

/// Masters that have shared out all slots among them, and know it.
pub fn cluster(masters: u16) -> Vec<Server> {
    const SLOTS: u16 = 16_384;
    let options = [
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "15000",
        // Else the others refuse everything once they miss one for so long.
        "--cluster-require-full-coverage",
        "no",
    ];
    let servers: Vec<Server> = (0..masters).map(|_| Server::start(&options)).collect();
    for (at, server) in (0..masters).zip(&servers) {
        let first = u32::from(SLOTS) * u32::from(at) / u32::from(masters);
        let last = u32::from(SLOTS) * u32::from(at + 1) / u32::from(masters) - 1;
        let range = [first.to_string(), last.to_string()];
        server.ask::<()>(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]]);
        server.ask::<()>(&["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()]);
        let (port, bus) = (servers[0].port.to_string(), servers[0].bus.to_string());
        if at > 0 {
            server.ask::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        }
    }
    until("the cluster is whole", || {
        servers.iter().all(|server| is_whole(server, masters))
    });
    servers
}

fn is_whole(server: &Server, masters: u16) -> bool {
    let info: String = server.ask(&["CLUSTER", "INFO"]);
    let slots: Vec<redis::Value> = server.ask(&["CLUSTER", "SLOTS"]);
    info.contains("cluster_state:ok") && slots.len() == usize::from(masters)
}
