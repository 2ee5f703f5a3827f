//! Structs, tuples and arrays that a kernel takes by value.
//!
//! A device is handed numbers. Each of these parameters becomes one parameter for each number in it, and an object of the thread that begins with them:
//!
//! ```text
//! kernel k(y: &mut [f64], p: (f64, u32)) { … }
//! →  kernel k(y: &mut [f64], p: f64, p: u32) { new p = (p, p); … }
//! ```
//!
//! Numbers of one parameter have its name, so that `wrt(p)` means all of them.

use stratape_ir::{
    Extent, Function, Init, Object, ObjectId, Origin, Param, Scalar, Stmt, Type, ValueId,
};

/// The most numbers of a parameter: those of all parameters have to fit in the 4 KiB that a launch can hand over.
const MOST: usize = 256;

/// A parameter of several numbers.
#[derive(Clone, Debug)]
pub struct ByValue {
    /// Its numbers, which are parameters now.
    pub values: Vec<ValueId>,
    /// How each is reached.
    pub paths: Vec<Vec<Part>>,
}

/// A step to a number in a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A field of a struct, by its name.
    Named(String),
    /// A field of a tuple or a tuple struct.
    Numbered(usize),
    /// An element of an array.
    Element(usize),
}

/// Hands the numbers over one by one; what cannot be is left as it is.
pub(super) fn take_apart(function: &mut Function) -> Vec<ByValue> {
    let (mut apart, mut params, mut begin) = (Vec::new(), Vec::new(), Vec::new());
    for param in std::mem::take(&mut function.params) {
        let owned = match param {
            Param::Object(object) => {
                let known = &function.objects[object.index()];
                let numbers = known.ty.numbers().filter(|count| (1..=MOST).contains(count));
                (known.origin == Origin::Owned && numbers.is_some()).then_some(object)
            }
            Param::Value(_) => None,
        };
        let Some(object) = owned else {
            params.push(param);
            continue;
        };
        let Object { ty, name, span, .. } = function.objects[object.index()].clone();
        function.objects[object.index()].origin = Origin::Local;
        let mut made = ByValue { values: Vec::new(), paths: Vec::new() };
        let init = made.numbers(&ty, &mut Vec::new(), &mut |scalar| {
            let value = function.new_value(scalar, span);
            function.values[value.index()].name = Some(name.clone());
            value
        });
        params.extend(made.values.iter().copied().map(Param::Value));
        begin.push(Stmt::New { object, init });
        apart.push(made);
    }
    function.params = params;
    function.body.splice(0..0, begin);
    apart
}

/// Whether a parameter has more numbers than a launch hands over.
pub(super) fn is_too_large(function: &Function, object: ObjectId) -> bool {
    let known = &function.objects[object.index()];
    known.origin == Origin::Owned && known.ty.numbers().is_some_and(|count| count > MOST)
}

impl ByValue {
    fn numbers(
        &mut self,
        ty: &Type,
        path: &mut Vec<Part>,
        make: &mut dyn FnMut(Scalar) -> ValueId,
    ) -> Init {
        let parts: Vec<(Part, &Type)> = match ty {
            Type::Array(item, Extent::Known(n)) => {
                (0..*n).map(|at| (Part::Element(at), &**item)).collect()
            }
            Type::Tuple(items) => items.iter().enumerate().map(numbered).collect(),
            Type::Struct(def) if def.tuple => {
                def.fields.iter().map(|(_, ty)| ty).enumerate().map(numbered).collect()
            }
            Type::Struct(def) => {
                def.fields.iter().map(|(name, ty)| (Part::Named(name.clone()), ty)).collect()
            }
            ty => {
                let value = make(ty.scalar().unwrap_or(Scalar::Bool));
                self.values.push(value);
                self.paths.push(path.clone());
                return Init::Value(value);
            }
        };
        let mut items = Vec::with_capacity(parts.len());
        for (part, ty) in parts {
            path.push(part);
            items.push(self.numbers(ty, path, make));
            path.pop();
        }
        Init::Items(items)
    }
}

fn numbered((at, ty): (usize, &Type)) -> (Part, &Type) {
    (Part::Numbered(at), ty)
}
