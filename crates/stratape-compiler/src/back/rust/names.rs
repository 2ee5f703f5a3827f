//! Names in the emitted code: parameters keep theirs, everything else gets its variable's name and
//! a number.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span};

use stratape_ir::{Function, ObjectId, Param, Stmt, ValueId, walk};

/// Identifiers for values and objects.
#[derive(Debug)]
pub(super) struct Names {
    values: HashMap<ValueId, Ident>,
    objects: HashMap<ObjectId, Ident>,
}

impl Names {
    pub(super) fn new(function: &Function) -> Self {
        let mut values = HashMap::new();
        let mut objects = HashMap::new();
        let mut taken = HashSet::new();
        // Parameters as their author named them; shadows and the seed make way.
        let own: HashSet<String> = function
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Value(value) => function.values[value.index()].name.clone(),
                Param::Object(object) => {
                    let known = &function.objects[object.index()];
                    known.shadow_of.is_none().then(|| known.name.clone())
                }
            })
            .collect();
        for param in &function.params {
            match param {
                Param::Value(value) => {
                    let name = function.values[value.index()].name.clone().unwrap_or_default();
                    let name = free(&name, &mut taken, None);
                    values.insert(*value, raw(&name, Span::call_site()));
                }
                Param::Object(object) => {
                    let known = &function.objects[object.index()];
                    let avoid = known.shadow_of.is_some().then_some(&own);
                    let name = free(&known.name, &mut taken, avoid);
                    objects.insert(*object, raw(&name, Span::call_site()));
                }
            }
        }
        for (index, object) in function.objects.iter().enumerate() {
            let id = ObjectId(index as u32);
            let name = format!("{}_{index}", plain(&object.name, "array"));
            objects.entry(id).or_insert_with(|| raw(&name, Span::mixed_site()));
        }
        let used: HashSet<String> = objects.values().map(ToString::to_string).collect();
        for (index, value) in function.values.iter().enumerate() {
            let id = ValueId(index as u32);
            let mut name = match &value.name {
                Some(name) => format!("{}_{index}", plain(name, "t")),
                None => format!("t{index}"),
            };
            // A value and an object of one name may have the same number.
            while used.contains(&name) {
                name.push('_');
            }
            values.entry(id).or_insert_with(|| raw(&name, Span::mixed_site()));
        }
        let mut names = Self { values, objects };
        names.share(function);
        names
    }

    /// What a loop leaves is the variable it carried.
    fn share(&mut self, function: &Function) {
        let mut pairs = Vec::new();
        walk(&function.body, &mut |node| {
            if let Stmt::Loop(node) = node {
                pairs.extend(node.carried.iter().map(|carried| (carried.after, carried.inside)));
            }
        });
        for (after, inside) in pairs {
            let name = self.value(inside);
            self.values.insert(after, name);
        }
    }

    pub(super) fn value(&self, value: ValueId) -> Ident {
        self.values
            .get(&value)
            .cloned()
            .unwrap_or_else(|| Ident::new("missing", Span::mixed_site()))
    }

    pub(super) fn object(&self, object: ObjectId) -> Ident {
        self.objects
            .get(&object)
            .cloned()
            .unwrap_or_else(|| Ident::new("missing", Span::mixed_site()))
    }
}

fn free(name: &str, taken: &mut HashSet<String>, avoid: Option<&HashSet<String>>) -> String {
    let mut name = if name.is_empty() { "argument".to_owned() } else { name.to_owned() };
    while taken.contains(&name) || avoid.is_some_and(|avoid| avoid.contains(&name)) {
        name.push('_');
    }
    taken.insert(name.clone());
    name
}

/// A name that can be followed by a number.
fn plain(name: &str, otherwise: &str) -> String {
    let name: String = name
        .trim_start_matches("r#")
        .chars()
        .filter(|c| *c == '_' || c.is_alphanumeric())
        .collect();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

pub(super) fn raw(name: &str, span: Span) -> Ident {
    syn::parse_str::<Ident>(name).map_or_else(
        |_| Ident::new_raw(name.trim_start_matches("r#"), span),
        |mut ident| {
            ident.set_span(span);
            ident
        },
    )
}
