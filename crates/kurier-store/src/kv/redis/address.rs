//! Which Redis a URL means.

use ::redis::{ConnectionInfo, IntoConnectionInfo as _};

use crate::kv::Error;

/// Where Sentinels listen when nobody says otherwise.
const SENTINEL_PORT: u16 = 26_379;

/// `redis://`, `redis+cluster://` or `redis+sentinel://`; each with `rediss` for TLS.
#[derive(Debug)]
pub(super) enum Address {
    Alone(Box<ConnectionInfo>),
    /// Some nodes of a cluster: they know the others.
    Cluster(Vec<ConnectionInfo>),
    Sentinel(Box<Sentinels>),
}

/// Who knows where the master is, what it is called, and how it is spoken to.
#[derive(Debug)]
pub(super) struct Sentinels {
    pub(super) sentinels: Vec<ConnectionInfo>,
    pub(super) master: String,
    /// Its host is a placeholder: the sentinels know the real one.
    pub(super) node: ConnectionInfo,
    pub(super) is_secure: bool,
}

/// A URL in its parts, none of them read yet. An error never quotes the credentials.
struct Parts<'a> {
    is_secure: bool,
    credentials: Option<&'a str>,
    hosts: Vec<&'a str>,
    path: &'a str,
    query: &'a str,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            refused("it must begin with redis://, redis+cluster:// or redis+sentinel://")
        })?;
        match scheme {
            "redis+cluster" => cluster(&Parts::read(false, rest)?),
            "rediss+cluster" => cluster(&Parts::read(true, rest)?),
            "redis+sentinel" => sentinel(&Parts::read(false, rest)?),
            "rediss+sentinel" => sentinel(&Parts::read(true, rest)?),
            "redis" | "rediss" => alone(url, rest),
            // A socket on this machine: the rest is its path.
            "redis+unix" | "unix" => socket(url),
            other => Err(refused(&format!(
                "{other}:// is unknown; there are redis://, redis+unix://, redis+cluster://, \
                 redis+sentinel://, and with TLS rediss://, rediss+cluster://, rediss+sentinel://"
            ))),
        }
    }
}

impl<'a> Parts<'a> {
    fn read(is_secure: bool, rest: &'a str) -> Result<Self, Error> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (Some(credentials), hosts),
            None => (None, authority),
        };
        let hosts: Vec<&str> = hosts.split(',').collect();
        if hosts.iter().any(|host| host.is_empty()) {
            return Err(refused("an address is empty: host:port,host:port"));
        }
        Ok(Self {
            is_secure,
            credentials,
            hosts,
            path: path.trim_end_matches('/'),
            query,
        })
    }

    /// One host as an address of its own.
    fn node(&self, host: &str, credentials: Option<&str>) -> Result<ConnectionInfo, Error> {
        let scheme = if self.is_secure { "rediss" } else { "redis" };
        let at = credentials.map_or_else(String::new, |credentials| format!("{credentials}@"));
        read(&format!("{scheme}://{at}{host}/"), host)
    }
}

fn alone(url: &str, rest: &str) -> Result<Address, Error> {
    let parts = Parts::read(false, rest)?;
    if parts.hosts.len() > 1 {
        return Err(refused(
            "it has several addresses: redis+cluster:// or redis+sentinel:// takes them",
        ));
    }
    read(url, parts.hosts[0]).map(|node| Address::Alone(Box::new(node)))
}

fn socket(url: &str) -> Result<Address, Error> {
    read(url, "the socket").map(|node| Address::Alone(Box::new(node)))
}

fn cluster(parts: &Parts<'_>) -> Result<Address, Error> {
    if !matches!(parts.path, "" | "0") {
        return Err(refused("a cluster has the database 0 only"));
    }
    if !parts.query.is_empty() {
        return Err(refused("a cluster's address takes nothing behind a ?"));
    }
    let nodes = parts
        .hosts
        .iter()
        .map(|host| parts.node(host, parts.credentials));
    Ok(Address::Cluster(nodes.collect::<Result<_, _>>()?))
}

fn sentinel(parts: &Parts<'_>) -> Result<Address, Error> {
    let (master, database) = parts.path.split_once('/').unwrap_or((parts.path, "0"));
    if master.is_empty() {
        return Err(refused(
            "the master's name is missing: redis+sentinel://host:port,host:port/mymaster",
        ));
    }
    let credentials = sentinel_credentials(parts.query)?;
    let sentinels = parts
        .hosts
        .iter()
        .map(|host| parts.node(&with_port(host), credentials.as_deref()));
    let node = parts.node("127.0.0.1", parts.credentials)?;
    let database: i64 = database
        .parse()
        .map_err(|_| refused("behind the master's name stands a database's number, or nothing"))?;
    let settings = node.redis_settings().clone().set_db(database);
    Ok(Address::Sentinel(Box::new(Sentinels {
        sentinels: sentinels.collect::<Result<_, _>>()?,
        master: master.to_owned(),
        node: node.set_redis_settings(settings),
        is_secure: parts.is_secure,
    })))
}

/// What the sentinels themselves want to see: `?sentinel_username=…&sentinel_password=…`.
fn sentinel_credentials(query: &str) -> Result<Option<String>, Error> {
    let (mut name, mut password) = ("", None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sentinel_username", value)) => name = value,
            Some(("sentinel_password", value)) => password = Some(value),
            _ => {
                return Err(refused(
                    "behind the ? stand sentinel_username and sentinel_password, and nothing else",
                ));
            }
        }
    }
    match password {
        Some(password) => Ok(Some(format!("{name}:{password}"))),
        None if name.is_empty() => Ok(None),
        None => Err(refused("sentinel_username needs sentinel_password")),
    }
}

/// An address in brackets ends with one; every other colon begins a port.
fn with_port(host: &str) -> String {
    let has_port = !host.ends_with(']') && host.contains(':');
    if has_port {
        host.to_owned()
    } else {
        format!("{host}:{SENTINEL_PORT}")
    }
}

fn read(url: &str, host: &str) -> Result<ConnectionInfo, Error> {
    url.into_connection_info()
        .map_err(|error| refused(&format!("{host}: {error}")))
}

fn refused(reason: &str) -> Error {
    Error::Refused(format!("the Redis URL: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    fn hosts(nodes: &[ConnectionInfo]) -> Vec<String> {
        nodes.iter().map(|node| node.addr().to_string()).collect()
    }

    #[test]
    fn one_server() {
        for url in [
            "redis://h:1",
            "redis://h",
            "redis://:p@h:1/3",
            "rediss://u:p@h:1/",
        ] {
            assert!(matches!(parse(url), Address::Alone(_)), "{url}");
        }
    }

    #[test]
    fn a_cluster_names_some_of_its_nodes() {
        let Address::Cluster(nodes) = parse("rediss+cluster://u:p%40ss@h1:1,[::1]:2,h3/0") else {
            panic!("not a cluster");
        };
        assert_eq!(hosts(&nodes), ["h1:1", "::1:2", "h3:6379"]);
        assert_eq!(nodes[2].redis_settings().password(), Some("p@ss"));
    }

    #[test]
    fn sentinels_know_the_master() {
        let url = "redis+sentinel://u:p@h1:1,h2,[::1]/mymaster/4?sentinel_password=s";
        let Address::Sentinel(known) = parse(url) else {
            panic!("not sentinels");
        };
        assert_eq!(hosts(&known.sentinels), ["h1:1", "h2:26379", "::1:26379"]);
        assert_eq!(known.master, "mymaster");
        assert_eq!(known.node.redis_settings().db(), 4);
        assert_eq!(known.node.redis_settings().password(), Some("p"));
        assert_eq!(known.sentinels[1].redis_settings().password(), Some("s"));
        assert!(!known.is_secure);
    }

    #[test]
    fn a_wrong_one_is_refused_with_the_reason_and_without_the_password() {
        let wrong = [
            ("h:1", "must begin with"),
            ("http://u:geheim@h", "http:// is unknown"),
            ("redis://u:geheim@h1,h2", "several addresses"),
            ("redis://", "an address is empty"),
            ("redis://u:geheim@h:99999999", "h:99999999"),
            ("redis+cluster://u:geheim@h1,,h2", "an address is empty"),
            ("redis+cluster://u:geheim@h1/2", "the database 0 only"),
            ("redis+cluster://u:geheim@h1?x=y", "nothing behind a ?"),
            ("redis+sentinel://u:geheim@h1", "name is missing"),
            ("redis+sentinel://u:geheim@h1/m/x", "a database's number"),
            ("redis+sentinel://h1/m?password=geheim", "and nothing else"),
            ("redis+sentinel://h1/m?sentinel_username=u", "needs"),
        ];
        for (url, reason) in wrong {
            let error = Address::parse(url).expect_err(url).to_string();
            assert!(error.contains(reason), "{url}: {error}");
            assert!(!error.contains("geheim"), "{url}: {error}");
        }
    }
}
