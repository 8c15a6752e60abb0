//! Rule engines: each with its rule compiled and its contacts in its own form beforehand.

use anyhow::Context as _;
use datalogic_rs::bumpalo::Bump;
use datalogic_rs::{Engine, Logic, ParsedData};
use serde_json::json;
use zen_expression::expression::Standard;
use zen_expression::vm::VM;

use super::{Decider, events};

/// Their JSON is large: so many exceed every cache.
const CONTACTS: usize = 20_000;

pub fn all() -> anyhow::Result<Vec<Box<dyn Decider>>> {
    Ok(vec![
        Box::new(DataLogic::new()?),
        Box::new(Zen::new()?),
        Box::new(Cel::new()?),
        Box::new(Rhai::new()?),
    ])
}

fn documents() -> impl Iterator<Item = serde_json::Value> {
    (0..CONTACTS).map(|contact| {
        let events =
            events(contact).map(|(name, amount)| json!({"event_type": name, "amount": amount}));
        json!({"events": events.collect::<Vec<_>>()})
    })
}

struct DataLogic {
    engine: Engine,
    rule: Logic,
    contacts: Vec<ParsedData>,
    arena: Bump,
}

impl DataLogic {
    fn new() -> anyhow::Result<Self> {
        let engine = Engine::new();
        let rule = json!({">=": [{"reduce": [
            {"filter": [{"var": "events"}, {"and": [
                {"==": [{"var": "event_type"}, "purchase"]},
                {">": [{"var": "amount"}, 100]},
            ]}]},
            {"+": [{"var": "accumulator"}, 1]},
            0,
        ]}, 3]});
        let rule = engine
            .compile(&*rule.to_string())
            .map_err(|e| anyhow::anyhow!("{e}"))?;
        let parsed = documents().map(|document| {
            ParsedData::from_json(&document.to_string()).map_err(|e| anyhow::anyhow!("{e}"))
        });
        Ok(Self {
            engine,
            rule,
            contacts: parsed.collect::<anyhow::Result<_>>()?,
            arena: Bump::new(),
        })
    }
}

impl Decider for DataLogic {
    fn name(&self) -> &'static str {
        "datalogic-rs"
    }

    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn decide(&mut self, contact: usize) -> bool {
        self.arena.reset();
        let found = self
            .engine
            .evaluate(&self.rule, &self.contacts[contact], &self.arena);
        found.is_ok_and(|found| found.as_bool() == Some(true))
    }
}

struct Zen {
    rule: zen_expression::Expression<Standard>,
    vm: VM,
    contacts: Vec<zen_expression::Variable>,
}

impl Zen {
    fn new() -> anyhow::Result<Self> {
        let rule = "count(events, #.event_type == 'purchase' and #.amount > 100) >= 3";
        Ok(Self {
            rule: zen_expression::compile_expression(rule).map_err(|e| anyhow::anyhow!("{e}"))?,
            vm: VM::new(),
            contacts: documents().map(zen_expression::Variable::from).collect(),
        })
    }
}

impl Decider for Zen {
    fn name(&self) -> &'static str {
        "zen-expression"
    }

    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn decide(&mut self, contact: usize) -> bool {
        let found = self
            .rule
            .evaluate_with(self.contacts[contact].clone(), &mut self.vm);
        found.is_ok_and(|found| found.as_bool() == Some(true))
    }
}

struct Cel {
    rule: cel::Program,
    contacts: Vec<cel::Context<'static, 'static>>,
}

impl Cel {
    fn new() -> anyhow::Result<Self> {
        let rule = "events.filter(e, e.event_type == 'purchase' && e.amount > 100.0).size() >= 3";
        let contacts = documents().map(|document| {
            let mut context = cel::Context::default();
            let events = cel::to_value(&document["events"]).map_err(|e| anyhow::anyhow!("{e}"))?;
            context.add_variable_from_value("events", events);
            Ok(context)
        });
        Ok(Self {
            rule: cel::Program::compile(rule).map_err(|e| anyhow::anyhow!("{e}"))?,
            contacts: contacts.collect::<anyhow::Result<_>>()?,
        })
    }
}

impl Decider for Cel {
    fn name(&self) -> &'static str {
        "cel"
    }

    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn decide(&mut self, contact: usize) -> bool {
        let found = self.rule.execute(&self.contacts[contact]);
        found.is_ok_and(|found| found == cel::Value::Bool(true))
    }
}

struct Rhai {
    engine: rhai::Engine,
    rule: rhai::AST,
    contacts: Vec<rhai::Scope<'static>>,
}

impl Rhai {
    fn new() -> anyhow::Result<Self> {
        let engine = rhai::Engine::new();
        let rule =
            r#"events.filter(|e| e.event_type == "purchase" && e.amount > 100.0).len() >= 3"#;
        let contacts = documents().map(|document| {
            let mut map = engine
                .parse_json(document.to_string(), true)
                .map_err(|e| anyhow::anyhow!("{e}"))?;
            let mut scope = rhai::Scope::new();
            scope.push_dynamic("events", map.remove("events").context("events")?);
            anyhow::Ok(scope)
        });
        Ok(Self {
            contacts: contacts.collect::<anyhow::Result<_>>()?,
            rule: engine.compile(rule).map_err(|e| anyhow::anyhow!("{e}"))?,
            engine,
        })
    }
}

impl Decider for Rhai {
    fn name(&self) -> &'static str {
        "rhai"
    }

    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn decide(&mut self, contact: usize) -> bool {
        let found = self
            .engine
            .eval_ast_with_scope::<bool>(&mut self.contacts[contact], &self.rule);
        found.unwrap_or(false)
    }
}
