//! The two halves of a recursive function as separate functions, which share nothing but the tape.

use super::fuse_halves::Fusion;
use super::records::Saved;
use super::save_plan::Plan;
use super::{Facts, Findings, Reverse};
use stratape_ir::SourceId;
use stratape_ir::{Block, Builder, Function, Origin, Param, Stmt, ValueId};

/// The dry run for a function in two halves, which share nothing but the tape.
pub(in crate::ad) fn explore_split(facts: &Facts<'_>) -> Findings {
    let mut reverse = Reverse::new(facts, None, Fusion::default());
    reverse.backward_function(None);
    let Reverse { needed, homes, home_objects, fusion, .. } = reverse;
    Findings { needed, homes, home_objects, fusion }
}

/// Both halves as functions.
pub(in crate::ad) fn split(facts: &Facts<'_>, plan: &Plan) -> (Function, Function) {
    let mut forward = facts.function.clone();
    let mut saved = Saved::default();
    let (mut body, values) =
        super::records::save_all(&facts.function.body, plan, facts, &mut forward, &mut saved);
    let record = (!values.is_empty()).then(|| {
        let types = values.iter().map(|value| forward.ty(*value)).collect();
        forward.records.push(stratape_ir::Record::new(values.clone(), types));
        let record = stratape_ir::RecordId((forward.records.len() - 1) as u32);
        body.push(Stmt::Push { record, values: values.clone() });
        (record, values)
    });
    forward.body = body;
    let mut reverse = Reverse::new(facts, Some(plan), Fusion::default());
    reverse.b = Builder::new(Function { body: Block::new(), ..forward.clone() });
    reverse.saved = saved;
    reverse.backward_function(record);
    (forward, reverse.b.finish())
}

impl Reverse<'_> {
    /// Writes the backward half as a function of its own: of the scalars, the shadows and the seed.
    fn backward_function(&mut self, record: Option<(stratape_ir::RecordId, Vec<ValueId>)>) {
        let function = self.facts.function;
        let mut params = Vec::new();
        for param in &function.params {
            match param {
                Param::Value(value) => {
                    self.homes.insert(*value);
                    params.push(*param);
                }
                Param::Object(object) if self.facts.inputs.contains(param) => {
                    let shadow = self.new_shadow(*object, Origin::RefMut);
                    params.push(Param::Object(shadow));
                }
                Param::Object(_) => {}
            }
        }
        if let Some(result) = function.results.first() {
            let seed = self.b.function.new_value(function.ty(*result), SourceId::NONE);
            self.b.function.values[seed.index()].name = Some("seed".to_owned());
            params.push(Param::Value(seed));
            if self.active(*result) {
                self.adjoints.insert(*result, seed);
            }
        }
        self.b.function.params = params;
        if let Some((record, slots)) = record {
            let values: Vec<_> =
                slots.iter().map(|slot| self.b.function.new_restored(*slot)).collect();
            self.here.extend(slots.into_iter().zip(values.iter().copied()));
            self.b.node(Stmt::Pop { record, values });
        }
        self.block(&function.body);
        let mut results = Vec::new();
        for param in &function.params {
            if let Param::Value(value) = param
                && self.facts.inputs.contains(param)
            {
                results.push(match self.adjoints.get(value) {
                    Some(adjoint) => *adjoint,
                    None => self.zero(function.ty(*value)),
                });
            }
        }
        self.b.function.results = results;
    }
}
