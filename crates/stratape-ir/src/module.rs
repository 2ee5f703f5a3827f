//! Modules: functions that belong together, and what they share.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Extent, Function, Op, Opaque, SourceId, Stmt, Struct, Type, walk};

/// A place in a source file. Lines count from 1, columns from 0, as rustc's spans do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// Functions, the structs their types refer to, and where they come from. It owns all of it, and can be sent to another thread.
#[derive(Clone, Debug, Default)]
pub struct Module {
    functions: Vec<Function>,
    structs: Vec<Arc<Struct>>,
    positions: Vec<Option<Position>>,
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function and the structs of its types. A function of the same name is replaced, and keeps its place.
    pub fn add(&mut self, function: Function) {
        for object in &function.objects {
            self.add_structs(&object.ty);
        }
        match self.functions.iter_mut().find(|known| known.name == function.name) {
            Some(known) => *known = function,
            None => self.functions.push(function),
        }
    }

    /// Adds a struct, after those of its fields.
    pub fn add_struct(&mut self, def: &Arc<Struct>) {
        if !self.structs.contains(def) {
            def.fields.iter().for_each(|(_, ty)| self.add_structs(ty));
            self.structs.push(Arc::clone(def));
        }
    }

    /// Adds the structs of a type.
    pub(crate) fn add_structs(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(_) | Type::Enum(_) => {}
            Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => self.add_structs(item),
            Type::Tuple(items) => items.iter().for_each(|item| self.add_structs(item)),
            Type::Struct(def) => self.add_struct(def),
        }
    }

    /// The functions, in the order they were added.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The functions, to be changed in place.
    pub fn functions_mut(&mut self) -> &mut [Function] {
        &mut self.functions
    }

    /// The functions, without the module.
    pub fn into_functions(self) -> Vec<Function> {
        self.functions
    }

    /// The function with a name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The structs; each stands after those of its fields.
    pub fn structs(&self) -> &[Arc<Struct>] {
        &self.structs
    }

    /// The constant expressions of the functions and of the lengths in their types, by their texts: whoever runs the module must know what
    /// they stand for.
    pub fn constants(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for function in &self.functions {
            walk(&function.body, &mut |statement| {
                if let Stmt::Let { op: Op::Const(Opaque { text, .. }), .. } = statement {
                    found.insert(&**text);
                }
            });
            function.objects.iter().for_each(|object| extents(&object.ty, &mut found));
        }
        found
    }

    /// Where an id of the functions points to.
    pub fn position(&self, id: SourceId) -> Option<Position> {
        self.positions.get(id.index()).copied().flatten()
    }

    /// Says where an id points to.
    pub fn set_position(&mut self, id: SourceId, position: Position) {
        if self.positions.len() <= id.index() {
            self.positions.resize(id.index() + 1, None);
        }
        self.positions[id.index()] = Some(position);
    }
}

fn extents<'a>(ty: &'a Type, found: &mut BTreeSet<&'a str>) {
    match ty {
        Type::Scalar(_) | Type::Enum(_) => {}
        Type::Array(item, extent) => {
            if let Extent::Const(text) = extent {
                found.insert(&text.text);
            }
            extents(item, found);
        }
        Type::Slice(item) | Type::Vec(item) => extents(item, found),
        Type::Tuple(items) => items.iter().for_each(|item| extents(item, found)),
        Type::Struct(def) => def.fields.iter().for_each(|(_, ty)| extents(ty, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_send<T: Send + Sync>() {}

    #[test]
    fn a_module_can_be_sent_to_another_thread() {
        is_send::<Module>();
    }

    #[test]
    fn functions_keep_their_order_and_bring_their_structs() -> Result<(), crate::text::ParseError> {
        let mut module = crate::text::parse(
            "struct Inner { x: f64 }
             struct Outer(Inner, [f64; N])
             fn b(@o: &[Outer]) { n: usize = const `super :: M` }
             fn a() {}",
        )?;
        module.add(Function::new("b"));
        let names: Vec<_> = module.functions().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(module.structs().len(), 2);
        assert!(module.constants().is_empty());
        module.set_position(SourceId(3), Position { line: 7, column: 2 });
        assert_eq!(module.position(SourceId(3)), Some(Position { line: 7, column: 2 }));
        assert_eq!((module.position(SourceId(1)), module.position(SourceId(9))), (None, None));
        Ok(())
    }

    #[test]
    fn constants_are_those_of_statements_and_of_types() -> Result<(), crate::text::ParseError> {
        let text = "fn b(@o: &[[f64; N]; `2 * M`]) { n: usize = const `super :: M` }";
        let module = crate::text::parse(text)?;
        assert_eq!(Vec::from_iter(module.constants()), ["2 * M", "N", "super :: M"]);
        Ok(())
    }
}
