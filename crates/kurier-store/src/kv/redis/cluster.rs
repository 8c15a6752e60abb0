//! A Redis Cluster. Keys lie in slots, slots on masters, and slots may move.
//!
//! The crate's client finds the nodes, reconnects and learns of moves, but it repeats nothing:
//! a pipeline that it repeats after half of it was redirected would count some increments twice.
//! So commands of one slot go as one transaction, of which all or nothing runs, and what was
//! redirected is sent again from here.

mod line;
mod scan;

use std::collections::HashMap;

use ::redis::cluster::ClusterClientBuilder;
use ::redis::cluster_routing::{
    MultipleNodeRoutingInfo, Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr,
};
use ::redis::{
    Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value, cmd,
};
use futures_util::future::join_all;

use line::Line;

use super::{Timeouts, classify, decode, encode};
use crate::kv::{Command, Error, Reply, Script};

/// How often one command is sent. Moved and moved again is as good as down.
const ATTEMPTS_MAX: usize = 4;

pub(super) struct Cluster {
    line: Line,
}

/// What goes to one slot: each command with the place of the question it belongs to.
struct Group {
    slot: Slot,
    places: Vec<usize>,
    cmds: Vec<Cmd>,
}

impl Cluster {
    pub(super) fn of(nodes: Vec<ConnectionInfo>, timeouts: Timeouts) -> RedisResult<Self> {
        let client = ClusterClientBuilder::new(nodes)
            .retries(0)
            .connection_timeout(timeouts.connect)
            .response_timeout(timeouts.response)
            .overall_response_timeout(Some(timeouts.connect + timeouts.response))
            .build()?;
        let line = Line::of(client);
        Ok(Self { line })
    }

    /// Commands of one key run in their order. Those of different slots run side by side, except
    /// that a scan sees what stands before it and not what stands after it.
    pub(super) async fn run(&self, commands: &[Command]) -> Result<Vec<Reply>, Error> {
        let is_scan = |command: &Command| matches!(command, Command::Scan { .. });
        let mut replies = Vec::with_capacity(commands.len());
        for part in commands.chunk_by(|left, right| !is_scan(left) && !is_scan(right)) {
            match part {
                [scan] if is_scan(scan) => replies.push(self.scan(scan).await),
                part => replies.extend(self.spread(part).await),
            }
        }
        unreachable_only(replies)
    }

    async fn spread(&self, commands: &[Command]) -> Vec<Reply> {
        let (mut replies, groups) = plan(commands);
        let answers = groups.iter().map(|group| self.group(group));
        for (group, answer) in groups.iter().zip(join_all(answers).await) {
            let values = answer.map_err(|error| classify_group(&error));
            for (at, place) in group.places.iter().enumerate() {
                let reply = match &values {
                    Ok(values) => decode::reply(&commands[*place], values[at].clone()),
                    Err(error) => Reply::Failed(error.clone()),
                };
                join(&mut replies[*place], reply);
            }
        }
        let missing = || Reply::Failed(Error::Unexpected("no reply".to_owned()));
        replies
            .into_iter()
            .map(|reply| reply.unwrap_or_else(missing))
            .collect()
    }

    /// As many values as commands, or none of them was run for certain.
    async fn group(&self, group: &Group) -> RedisResult<Vec<Value>> {
        let route = SingleNodeRoutingInfo::SpecificNode(master_of(group.slot));
        if let [cmd] = group.cmds.as_slice() {
            return Ok(vec![self.one(cmd, route).await?]);
        }
        let mut pipeline = Pipeline::with_capacity(group.cmds.len());
        pipeline.atomic();
        for cmd in &group.cmds {
            pipeline.add_command(cmd.clone());
        }
        let last = (group.cmds.len() + 1, 1);
        let answer = self.line.pipeline(pipeline, last, route.clone()).await;
        match answer {
            Ok(mut values) => transacted(values.pop(), group.cmds.len()),
            Err(error) if was_redirected(&error) => self.one_by_one(group, route).await,
            Err(error) => Err(error),
        }
    }

    async fn one_by_one(
        &self,
        group: &Group,
        route: SingleNodeRoutingInfo,
    ) -> RedisResult<Vec<Value>> {
        let mut values = Vec::with_capacity(group.cmds.len());
        for cmd in &group.cmds {
            values.push(self.one(cmd, route.clone()).await?);
        }
        Ok(values)
    }

    /// Sends a command to where its key is, and after it where it is moving.
    async fn one(&self, cmd: &Cmd, route: SingleNodeRoutingInfo) -> RedisResult<Value> {
        let mut attempt = 1;
        loop {
            let routing = RoutingInfo::SingleNode(route.clone());
            match self.line.command(cmd.clone(), routing).await {
                // By now the client has read anew who has which slot.
                Err(error) if is(&error, ServerErrorKind::Moved) && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                }
                Err(error) if is(&error, ServerErrorKind::Ask) => {
                    return self.ask(cmd, error).await;
                }
                answer => return answer,
            }
        }
    }

    /// The slot is being moved, and this key is already there.
    async fn ask(&self, command: &Cmd, error: RedisError) -> RedisResult<Value> {
        let node = error.redirect_node().and_then(|(node, _)| split(node));
        let Some((host, port)) = node else {
            return Err(error);
        };
        let mut pipeline = Pipeline::with_capacity(2);
        pipeline.add_command(cmd("ASKING"));
        pipeline.add_command(command.clone());
        let route = SingleNodeRoutingInfo::ByAddress { host, port };
        let mut values = self.line.pipeline(pipeline, (1, 1), route).await?;
        values.pop().ok_or(error)
    }

    pub(super) async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let route = keys
            .first()
            .map_or(SingleNodeRoutingInfo::RandomPrimary, |key| {
                SingleNodeRoutingInfo::SpecificNode(master_of(Slot::for_key(key)))
            });
        let send = async |verb, body: &str| {
            let cmd = encode::script(verb, body, keys, args);
            let value = self.one(&cmd, route.clone()).await;
            value.map_err(|error| classify(&error))
        };
        let lua = ::redis::Script::new(script.lua);
        let value = match send("EVALSHA", lua.get_hash()).await? {
            Value::ServerError(error) if error.code() == "NOSCRIPT" => {
                send("EVAL", script.lua).await?
            }
            value => value,
        };
        decode::script_reply(value, keys)
    }

    /// Every master must answer: a keyspace with a hole is not there.
    pub(super) async fn ping(&self) -> Result<(), Error> {
        let masters = self.masters().await?;
        let pings = masters.iter().map(|master| self.at(master, cmd("PING")));
        for answer in join_all(pings).await {
            decode::no_error(answer?)?;
        }
        Ok(())
    }

    /// What one master answers.
    pub(super) async fn at(&self, node: &str, command: Cmd) -> Result<Value, Error> {
        let (host, port) =
            split(node).ok_or_else(|| Error::Unexpected("a node's address".to_owned()))?;
        let route = RoutingInfo::SingleNode(SingleNodeRoutingInfo::ByAddress { host, port });
        let answer = self.line.command(command, route).await;
        answer.map_err(|error| classify(&error))
    }

    /// The addresses of all masters, in order. Read from what a node knows, since the client
    /// leaves out those it cannot reach.
    pub(super) async fn masters(&self) -> Result<Vec<String>, Error> {
        let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
        let question = cmd("CLUSTER").arg("SLOTS").take();
        let answer = self.line.command(question, all).await;
        let Value::Map(nodes) = answer.map_err(|error| classify(&error))? else {
            return Err(Error::Unexpected("the list of masters".to_owned()));
        };
        let known = nodes
            .into_iter()
            .find_map(|(node, slots)| scan::masters(node, slots));
        known.ok_or_else(|| Error::Unavailable("no master knows the slots".to_owned()))
    }

    /// Sends each command to the slot of its key, side by side.
    pub(super) async fn each(&self, cmds: Vec<(String, Cmd)>) -> Result<Vec<Value>, Error> {
        let sent = cmds.iter().map(|(key, cmd)| {
            let route = SingleNodeRoutingInfo::SpecificNode(master_of(Slot::for_key(key)));
            self.one(cmd, route)
        });
        let values: RedisResult<Vec<Value>> = join_all(sent).await.into_iter().collect();
        values.map_err(|error| classify(&error))
    }
}

fn master_of(slot: Slot) -> Route {
    Route::with_slot(slot, SlotAddr::Master)
}

/// The replies that need no asking, and everything else by slot.
fn plan(commands: &[Command]) -> (Vec<Option<Reply>>, Vec<Group>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<Slot, usize> = HashMap::new();
    let mut replies = Vec::with_capacity(commands.len());
    for (place, command) in commands.iter().enumerate() {
        let pieces = match command {
            Command::Delete { keys } if !keys.is_empty() => pieces(keys),
            command => vec![command.clone()],
        };
        let mut settled = None;
        for piece in pieces {
            match encode::unsettled(&piece) {
                Ok(cmd) => push(&mut groups, &mut known, &piece, (place, cmd)),
                Err(reply) => settled = Some(reply),
            }
        }
        replies.push(settled);
    }
    (replies, groups)
}

fn push(
    groups: &mut Vec<Group>,
    known: &mut HashMap<Slot, usize>,
    piece: &Command,
    (place, cmd): (usize, Cmd),
) {
    let slot = Slot::for_key(piece.first_key());
    let at = *known.entry(slot).or_insert_with(|| {
        groups.push(Group {
            slot,
            places: Vec::new(),
            cmds: Vec::new(),
        });
        groups.len() - 1
    });
    groups[at].places.push(place);
    groups[at].cmds.push(cmd);
}

/// The only command with many keys, as one command for each slot.
fn pieces(keys: &[String]) -> Vec<Command> {
    let mut slots: HashMap<Slot, Vec<String>> = HashMap::new();
    for key in keys {
        slots
            .entry(Slot::for_key(key))
            .or_default()
            .push(key.clone());
    }
    let delete = |keys| Command::Delete { keys };
    slots.into_values().map(delete).collect()
}

/// The pieces of one command count together.
fn join(known: &mut Option<Reply>, reply: Reply) {
    *known = Some(match (known.take(), reply) {
        (None, reply) => reply,
        (Some(Reply::Integer(left)), Reply::Integer(right)) => Reply::Integer(left + right),
        (Some(Reply::Failed(error)), _) | (_, Reply::Failed(error)) => Reply::Failed(error),
        (_, other) => other,
    });
}

/// A round trip of which nothing came back has failed; one of which a part came back has not.
fn unreachable_only(replies: Vec<Reply>) -> Result<Vec<Reply>, Error> {
    let is_unreachable = |reply: &Reply| matches!(reply, Reply::Failed(Error::Unavailable(_)));
    match replies.first() {
        Some(Reply::Failed(error)) if replies.iter().all(is_unreachable) => Err(error.clone()),
        _ => Ok(replies),
    }
}

/// The values of a transaction that ran.
fn transacted(answer: Option<Value>, count: usize) -> RedisResult<Vec<Value>> {
    match answer {
        Some(Value::Array(values)) if values.len() == count => Ok(values),
        Some(Value::ServerError(error)) => Err(error.into()),
        _ => Err((ErrorKind::UnexpectedReturnType, "not a transaction's reply").into()),
    }
}

fn is(error: &RedisError, kind: ServerErrorKind) -> bool {
    error.kind() == ErrorKind::Server(kind)
}

/// Whether nothing ran because a key is, or may be, elsewhere.
fn was_redirected(error: &RedisError) -> bool {
    let redirects = ["ASK", "MOVED", "TRYAGAIN"];
    let errors = error.clone().into_server_errors();
    errors.is_some_and(|errors| {
        errors
            .iter()
            .any(|(_, error)| redirects.contains(&error.code()))
    })
}

/// An aborted transaction says why by its first refused command.
fn classify_group(error: &RedisError) -> Error {
    let aborted = is(error, ServerErrorKind::ExecAbort);
    let errors = error.clone().into_server_errors().filter(|_| aborted);
    match errors.as_deref() {
        Some([(_, first), ..]) => decode::server_error(first, ""),
        _ => classify(error),
    }
}

fn split(node: &str) -> Option<(String, u16)> {
    let (host, port) = node.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}
