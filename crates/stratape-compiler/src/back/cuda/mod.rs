//! CUDA C++: the text of a kernel, as NVRTC compiles it.
//!
//! In: a kernel that the validator accepted. Out: one `extern "C" __global__` function after helpers that all kernels share (`prelude.cu`), and what a launch
//! must know of it ([`Kernel`]). Nothing is decided here: a statement becomes a statement.
//!
//! Parameters are those of the kernel, a slice as its address and its length, then the tape, its bytes for each thread, and the eight words for a fault.
//! Constant expressions whose numbers the compiler does not know are macros, `STRATAPE_CONST_0` and on, which a launch defines. With `STRATAPE_CHECK`
//! defined, indices are checked. With `STRATAPE_DETERMINISTIC` additions of floats are written to a ledger, whose address and entries for each thread are two
//! more parameters; a second kernel carries them out.

mod control;
mod fresh;
mod operation;
mod order;

use std::cell::RefCell;
use std::collections::HashMap;

use self::fresh::Stores;
pub use self::fresh::{Factor, Fresh, overwriting};
pub use self::order::Order;
pub(crate) use self::order::{order, touched};

use stratape_ir::{
    Atomic, AtomicOp, Block, Check, Exchange, Extent, Float, Function, Init, Int, ObjectId, Op,
    Origin, Param, Place, Scalar, Step, Stmt, Type, Valid, ValueId, walk,
};

const PRELUDE: &str = include_str!("prelude.cu");

/// A kernel as text, and what a launch must know of it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The text.
    pub text: String,
    /// Whether threads push to the tape.
    pub uses_tape: bool,
    /// The constant expressions that a launch defines, with the types of their numbers.
    pub constants: Vec<(String, Scalar)>,
    /// How many times the dynamic shared memory of the primal it takes, at most.
    pub dynamic_shared: usize,
    /// What its checks ask, by their numbers.
    pub checks: Vec<String>,
    /// The order of its additions, where the grid extends along x alone, and elsewhere.
    pub order: [Order; 2],
    /// Shadows that can be stored to instead of added to, by their positions among the parameters.
    pub fresh: HashMap<usize, Fresh>,
}

impl Kernel {
    /// The text without the helpers that all kernels share.
    pub fn function(&self) -> &str {
        self.text.strip_prefix(PRELUDE).unwrap_or(&self.text).trim_start()
    }
}

/// Prints a kernel.
pub fn emit(kernel: Valid<'_>) -> Kernel {
    let function = kernel.function();
    let mut uses_tape = false;
    walk(&function.body, &mut |node| {
        uses_tape |= matches!(node, Stmt::Push { .. } | Stmt::Pop { .. });
    });
    let order = [true, false].map(|along_x| order(function, along_x));
    let has_ledger = order.iter().any(|one| matches!(one, Order::Logged(_)));
    let mut printer = Printer {
        function,
        out: String::new(),
        indent: 1,
        constants: RefCell::default(),
        structs: RefCell::default(),
        checks: vec!["the device tape".to_owned()],
        has_ledger,
        fresh: fresh::fresh(function),
        ops: HashMap::new(),
    };
    walk(&function.body, &mut |node| {
        if let Stmt::Let { value, op } = node {
            printer.ops.insert(*value, op);
        }
    });
    if has_ledger {
        printer.line("STRATAPE_LEDGER_OPEN");
    }
    if uses_tape {
        printer.line("stratape_stack tape(stratape_tape, stratape_tape_bytes, stratape_fault);");
    }
    let dynamic: Vec<ObjectId> = function
        .shared
        .iter()
        .copied()
        .filter(|object| matches!(function.objects[object.index()].ty, Type::Vec(_)))
        .collect();
    if !dynamic.is_empty() {
        printer.line("extern __shared__ __align__(16) unsigned char stratape_dynamic[];");
        printer.line("stratape_usize stratape_dynamic_used = 0;");
    }
    printer.block(&function.body);
    let body = std::mem::take(&mut printer.out);
    let mut params = printer.params().join(", ");
    if has_ledger {
        params += " STRATAPE_LEDGER";
    }
    let structs =
        printer.structs.borrow().iter().map(|(_, text)| text.as_str()).collect::<String>();
    // A kernel may be called as a keyword of C++ is, or as a function of CUDA.
    let name = format!("{}_kernel", c_name(&function.name));
    let fresh: HashMap<usize, Fresh> = printer
        .fresh
        .shadows
        .iter()
        .map(|(object, fresh)| (printer.position(*object), fresh.clone()))
        .collect();
    let mut positions: Vec<usize> = fresh.keys().copied().collect();
    positions.sort_unstable();
    let puts: String = positions.into_iter().map(put).collect();
    let text = format!(
        "{PRELUDE}\n{puts}{structs}extern \"C\" __global__ void {name}({params}) {{\n{body}}}\n"
    );
    let shadows = dynamic
        .iter()
        .filter(|object| function.objects[object.index()].shadow_of.is_some())
        .count();
    let (constants, checks) = (printer.constants.into_inner(), printer.checks);
    Kernel {
        text,
        uses_tape,
        constants,
        dynamic_shared: if shadows > 0 { 2 } else { 1 },
        checks,
        order,
        fresh,
    }
}

/// How the shadow at a position is added to, or stored to where the launch says so.
fn put(at: usize) -> String {
    format!(
        "#ifdef STRATAPE_FRESH_{at}\n#define STRATAPE_PUT_{at}(place, value) place = value\n#else\n#define STRATAPE_PUT_{at}(place, value) place += value\n#endif\n"
    )
}

/// A name as C++ has it.
pub fn c_name(name: &str) -> String {
    let name = name.trim_start_matches("r#");
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The type of a number in C++.
pub(super) fn c_scalar(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "bool",
        Scalar::Float(Float::F32) => "float",
        Scalar::Float(Float::F64) => "double",
        Scalar::Int(int) => match int {
            Int::I8 => "signed char",
            Int::I16 => "short",
            Int::I32 => "int",
            Int::I64 | Int::Isize => "long long",
            Int::U8 => "unsigned char",
            Int::U16 => "unsigned short",
            Int::U32 => "unsigned int",
            Int::U64 | Int::Usize => "unsigned long long",
            Int::I128 => "__int128",
            Int::U128 => "unsigned __int128",
        },
        Scalar::Infer(_) => "double",
    }
}

struct Printer<'a> {
    function: &'a Function,
    out: String,
    indent: usize,
    constants: RefCell<Vec<(String, Scalar)>>,
    /// The structs of locals, by their type in the language, and their definitions.
    structs: RefCell<Vec<(String, String)>>,
    /// What checks ask.
    checks: Vec<String>,
    /// Whether additions may be written down.
    has_ledger: bool,
    /// What can be stored to.
    fresh: Stores,
    ops: HashMap<ValueId, &'a Op>,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.out += &"  ".repeat(self.indent);
        self.out += text;
        self.out.push('\n');
    }

    /// The position of a parameter.
    fn position(&self, object: ObjectId) -> usize {
        let own = |param: &Param| *param == Param::Object(object);
        self.function.params.iter().position(own).unwrap_or_default()
    }

    fn value(&self, value: ValueId) -> String {
        match &self.function.values[value.index()].name {
            Some(name) => format!("{}_{}", c_name(name), value.0),
            None => format!("v{}", value.0),
        }
    }

    fn object(&self, object: ObjectId) -> String {
        match &self.function.objects[object.index()].name {
            name if name.is_empty() => format!("a{}", object.0),
            name => format!("{}_{}", c_name(name), object.0),
        }
    }

    /// The macro of a constant expression.
    fn constant(&self, text: &str, ty: Scalar) -> String {
        let mut known = self.constants.borrow_mut();
        let number = known.iter().position(|(other, _)| other == text).unwrap_or_else(|| {
            known.push((text.to_owned(), ty));
            known.len() - 1
        });
        format!("STRATAPE_CONST_{number}")
    }

    fn extent(&self, extent: &Extent) -> String {
        match extent {
            Extent::Known(n) => format!("{n}ull"),
            Extent::Const(text) => self.constant(&text.text, Scalar::USIZE),
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(scalar) => c_scalar(*scalar).to_owned(),
            Type::Enum(_) => "long long".to_owned(),
            Type::Array(item, n) => {
                format!("stratape_array<{}, {}>", self.ty(item), self.extent(n))
            }
            Type::Slice(item) | Type::Vec(item) => format!("{}*", self.ty(item)),
            Type::Tuple(items) => self.structure(ty, items),
            Type::Struct(def) => {
                let items: Vec<Type> = def.fields.iter().map(|(_, ty)| ty.clone()).collect();
                self.structure(ty, &items)
            }
        }
    }

    /// A struct with a field for each item.
    fn structure(&self, ty: &Type, items: &[Type]) -> String {
        let key = format!("{ty} {items:?}");
        let fields: String = items
            .iter()
            .enumerate()
            .map(|(at, item)| format!(" {} f{at};", self.ty(item)))
            .collect();
        let mut known = self.structs.borrow_mut();
        let at = known.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            let text = format!("struct stratape_struct_{} {{{fields} }};\n", known.len());
            known.push((key, text));
            known.len() - 1
        });
        format!("stratape_struct_{at}")
    }

    fn params(&self) -> Vec<String> {
        let mut params = Vec::new();
        for param in &self.function.params {
            match param {
                Param::Value(value) => {
                    let ty = c_scalar(self.function.ty(*value));
                    params.push(format!("const {ty} {}", self.value(*value)));
                }
                Param::Object(object) => {
                    let known = &self.function.objects[object.index()];
                    let item = known.ty.element().map(|item| self.ty(item)).unwrap_or_default();
                    let constant = if known.origin == Origin::Ref { "const " } else { "" };
                    let name = self.object(*object);
                    params.push(format!("{constant}{item}* __restrict__ {name}"));
                    params.push(format!("const stratape_usize {name}_len"));
                }
            }
        }
        params.push("unsigned char* stratape_tape".to_owned());
        params.push("const stratape_usize stratape_tape_bytes".to_owned());
        params.push("unsigned int* stratape_fault".to_owned());
        params
    }

    /// A place in memory.
    fn place(&self, place: &Place) -> String {
        let mut text = self.object(place.object);
        for step in &place.path {
            match step {
                Step::Index(index) => text += &format!("[{}]", self.value(*index)),
                Step::Field(field) => text += &format!(".f{field}"),
            }
        }
        text
    }

    /// The elements of a list.
    fn len(&self, place: &Place) -> String {
        match self.function.place_type(place) {
            Some(Type::Array(_, n)) => self.extent(n),
            _ => format!("{}_len", self.object(place.object)),
        }
    }

    /// Checks the indices of a place, where that is asked for.
    fn bounds(&mut self, place: &Place) {
        let mut whole = Place::whole(place.object);
        for step in &place.path {
            if let Step::Index(index) = step {
                let text = format!("{} < {}", self.value(*index), self.len(&whole));
                self.require(&text, 1);
            }
            whole = whole.with(step.clone());
        }
    }

    fn require(&mut self, condition: &str, kind: u32) {
        let text = format!("STRATAPE_REQUIRE({condition}, {kind}u, {}u)", self.checks.len());
        self.checks.push(condition.to_owned());
        self.line(&text);
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|node| self.statement(node));
    }

    fn inner(&mut self, block: &Block) {
        self.indent += 1;
        self.block(block);
        self.indent -= 1;
    }

    fn define(&mut self, value: ValueId, text: &str) {
        let ty = c_scalar(self.function.ty(value));
        let text = format!("const {ty} {} = {text};", self.value(value));
        self.line(&text);
    }

    fn statement(&mut self, node: &Stmt) {
        match node {
            Stmt::Let { value, op } => {
                if let Op::Load(place) = op {
                    self.bounds(place);
                }
                let text = self.op(op, self.function.ty(*value));
                self.define(*value, &text);
            }
            Stmt::Store { place, value } => {
                self.bounds(place);
                let text = format!("{} = {};", self.place(place), self.value(*value));
                self.line(&text);
            }
            Stmt::Accumulate { place, value, subtract } => {
                self.bounds(place);
                let sign = if *subtract { "-=" } else { "+=" };
                let text = match self.fresh.additions.contains(&std::ptr::from_ref(node)) {
                    true => {
                        let at = self.position(place.object);
                        let sign = if *subtract { "-" } else { "" };
                        format!(
                            "STRATAPE_PUT_{at}({}, {sign}{});",
                            self.place(place),
                            self.value(*value)
                        )
                    }
                    false => format!("{} {sign} {};", self.place(place), self.value(*value)),
                };
                self.line(&text);
            }
            Stmt::New { object, init } => self.make(*object, init),
            Stmt::Loop(node) => self.repeat(node),
            Stmt::If(node) => self.branch(node),
            Stmt::Check { check, .. } => self.check(check),
            Stmt::Push { values, .. } => {
                for value in values {
                    let text = format!("tape.push({});", self.value(*value));
                    self.line(&text);
                }
            }
            Stmt::Pop { values, .. } => {
                for value in values.iter().rev() {
                    let text = format!("tape.pop<{}>()", c_scalar(self.function.ty(*value)));
                    self.define(*value, &text);
                }
            }
            Stmt::Atomic(atomic) => self.atomic(atomic),
            Stmt::Barrier(_) => self.line("__syncthreads();"),
            Stmt::Shuffle(shuffle) => {
                let exchange = match shuffle.exchange {
                    Exchange::Down => "down",
                    Exchange::Up => "up",
                    Exchange::Xor => "xor",
                };
                let (operand, by) = (self.value(shuffle.operand), self.value(shuffle.by));
                let text = format!("__shfl_{exchange}_sync(0xffffffffu, {operand}, (int){by})");
                self.define(shuffle.value, &text);
            }
            // No kernel has them: the validator says so.
            Stmt::Call(_)
            | Stmt::Swap { .. }
            | Stmt::Save { .. }
            | Stmt::Restore { .. }
            | Stmt::Refill { .. } => {}
        }
    }

    fn atomic(&mut self, atomic: &Atomic) {
        self.bounds(&atomic.place);
        let (place, value) = (self.place(&atomic.place), self.value(atomic.value));
        if self.has_ledger && order::is_ordered(self.function, atomic) {
            let name = match (atomic.block, atomic.warp) {
                (true, _) => "BLOCK_ADD",
                (false, true) => "WARP_ADD",
                (false, false) => "ADD",
            };
            self.line(&format!("STRATAPE_{name}(&{place}, {value});"));
            return;
        }
        if atomic.block {
            self.line(&format!("stratape_block_add(&{place}, {value});"));
            return;
        }
        let name = match (atomic.op, atomic.old) {
            (AtomicOp::Add, None) if atomic.warp => "stratape_warp_add",
            (AtomicOp::Add, None) => "stratape_add",
            (AtomicOp::Add, Some(_)) => "stratape_fetch_add",
            (AtomicOp::Min, _) => "stratape_fetch_min",
            (AtomicOp::Max, _) => "stratape_fetch_max",
        };
        match atomic.old {
            None => self.line(&format!("{name}(&{place}, {value});")),
            Some(old) => self.define(old, &format!("{name}(&{place}, {value})")),
        }
    }

    fn make(&mut self, object: ObjectId, init: &Init) {
        let known = &self.function.objects[object.index()];
        let name = self.object(object);
        if !self.function.shared.contains(&object) {
            let text = format!("{} {name};", self.ty(&known.ty));
            self.line(&text);
            self.contents(&name, &known.ty, init);
            return;
        }
        if let Type::Vec(item) = &known.ty {
            let item = self.ty(item);
            let len = match init {
                Init::Repeat(_, len) => self.value(*len),
                Init::ZeroLike(other) => format!("{}_len", self.object(*other)),
                _ => "0".to_owned(),
            };
            self.line(&format!("const stratape_usize {name}_len = {len};"));
            self.line(&format!(
                "{item}* const {name} = ({item}*)(stratape_dynamic + stratape_dynamic_used);"
            ));
            self.line(&format!(
                "stratape_dynamic_used += ({name}_len * sizeof({item}) + 15u) / 16u * 16u;"
            ));
        } else {
            let text = format!("__shared__ {} {name};", self.ty(&known.ty));
            self.line(&text);
        }
        if !self.function.unfilled.contains(&object) {
            let number = numbers(&known.ty).map_or("double", c_scalar);
            let (address, bytes) = match &known.ty {
                Type::Vec(_) => (name.clone(), format!("{name}_len")),
                _ => (format!("&{name}"), format!("sizeof({name}) / sizeof({number})")),
            };
            self.line(&format!("stratape_share_zeros(({number}*){address}, {bytes});"));
        }
    }

    /// The first contents of a thread's own object.
    fn contents(&mut self, place: &str, ty: &Type, init: &Init) {
        match init {
            Init::Value(value) => self.line(&format!("{place} = {};", self.value(*value))),
            Init::Items(items) => {
                for (at, item) in items.iter().enumerate() {
                    match (ty.element(), ty.field(at)) {
                        (Some(inner), _) => self.contents(&format!("{place}[{at}]"), inner, item),
                        (None, Some(inner)) => {
                            self.contents(&format!("{place}.f{at}"), inner, item);
                        }
                        (None, None) => {}
                    }
                }
            }
            Init::Fill(item) => {
                let (Type::Array(inner, n), depth) = (ty, self.indent) else { return };
                let n = self.extent(n);
                self.line(&format!(
                    "for (stratape_usize k{depth} = 0; k{depth} < {n}; ++k{depth}) {{"
                ));
                self.indent += 1;
                self.contents(&format!("{place}[k{depth}]"), inner, item);
                self.indent -= 1;
                self.line("}");
            }
            Init::Copy(from) => {
                self.bounds(from);
                let text = format!("{place} = {};", self.place(from));
                self.line(&text);
            }
            Init::ZeroLike(_) => {
                let text = format!("{place} = {}{{}};", self.ty(ty));
                self.line(&text);
            }
            Init::Repeat(..) => {}
        }
    }

    fn check(&mut self, check: &Check) {
        match check {
            Check::Assert { prints: true, .. } => {}
            Check::Assert { condition, .. } | Check::Library { condition, .. } => {
                let condition = self.value(*condition);
                self.require(&condition, 2);
            }
            Check::Bounds { index, len } => {
                let text = format!("{} < {}", self.value(*index), self.value(*len));
                self.require(&text, 1);
            }
            Check::Range { from, to, len } => {
                let [from, to, len] = [from, to, len].map(|value| self.value(*value));
                self.require(&format!("{from} <= {to} && {to} <= {len}"), 1);
            }
        }
    }
}

/// The numbers that a type of one kind of numbers is made of.
fn numbers(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(*scalar),
        Type::Array(item, _) | Type::Slice(item) | Type::Vec(item) => numbers(item),
        _ => None,
    }
}
