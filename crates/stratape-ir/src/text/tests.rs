//! Round trips of hand-written functions with every construct and flag, and texts that are none.

use super::{ParseError, parse, parse_function};
use crate::{
    Function, Init, Object, Op, Opaque, Origin, Param, Scalar, SourceId, Stmt, Type, Value,
};

/// Every statement, every operation, every flag, as the printer writes them.
const EVERYTHING: &str = r##"struct Inner { x: f64, r#type: Vec<Vec<f32>> }
struct Pair(Inner, [f64; `2 * N`])
struct `odd<f64>` {}

fn everything(
    @p.0: &[Pair],
    @dp.1: &mut [Pair] shadow of @p.0,
    k.0: f64,
    %1: usize,
    @o.2: local (f64,),
    @"odd name".3: `odd<f64>`,
    @e.4: enum a::Kind,
    %"odd name".2: _7,
) parallel plain recursive(f, g::h) {
  declare %90: f64
  declare lost.91: ~f32
  declare @gone.20: Vec<f64> shadow of @p.0
  region 0 of 5 u64
  region 1 of 1 f64 columns layer 12
  record #0 (x.10: f64, %11: bool) as f64 in region 0 at 1 step 2
  record #1 ()
  record #2 (%90) of (f64, u8) as u8
  checkpoint i.30 (slots = n.3, memory = n.3) disk `path ( "a" )` schedule Binomial
  n.3: usize = 3
  zero.4: f64 = 0.0
  %5: f64 = -1.5e-3
  %6: f32 = 0.33333334 ~ 0.3333333333333333
  %7: f64 = float "NaN" 0x7ff8000000000000
  %8: i64 = -170141183460469231731687303715884105728
  flag.9: bool = true
  x.10: f64 = const `std :: f64 :: consts :: PI`
  %11: bool = x.10 <total zero.4
  %12: bool = x.10 >total zero.4
  %13: ~f64 = -x.10
  %14: bool = !flag.9
  %15: usize = n.3 % n.3
  %16: bool = n.3 <= n.3
  %17: f64 = min(x.10, zero.4)
  %18: usize = min(n.3, n.3)
  %19: f64 = method min(x.10, zero.4)
  %20: usize = math min(n.3, n.3)
  %21: f64 = method "odd name"(x.10)
  %22: f64 = n.3 as f64
  %23: f64 = if flag.9 then x.10 else zero.4
  %24: f64 = @p.0[n.3].0.0
  %25: usize = @p.0.len()
  %26: usize = const N
  new @a.5: [f64; 4] unfilled = [zero.4; _]
  new @.6: Vec<[f64; 2]> sums = vec![[x.10, zero.4]; n.3]
  new @c.7: [f64; N] every 3 of @a.5 from 1 = copy of @p.0[n.3].1
  new @d.8: owned Vec<f64> = zeros like @a.5
  new @t.9: () = []
  assert flag.9 else `panic ! ("\\n \`x\`")` with (n = n.3, "a b" = %5, p = @p.0)
  assert flag.9 else `unreachable ! ()`
  check n.3 < %25
  check n.3 <= n.3 <= %25
  check flag.9 or "a \"message\"\n"
  @a.5[n.3] = x.10
  @a.5[n.3] += x.10
  @a.5[n.3] -= x.10
  call f(&@a.5, &mut @a.5[n.3 for n.3], x.10)
  call %27: f64, %28: ~f64 = `a :: f`() pullback f_grad backward of f
  call f() forward of g::h
  save #1 &@a.5
  restore #1 @r.10: Vec<f64>
  parallel(3, grain 64) for i.30 in n.3..%25 reversed unordered, s.31 = x.10, t.32: ~f64 = zero.4 {
    push #0 x.10, %11
    s.33: f64 = s.31 + x.10
    t.34: ~f64 = t.32 - x.10
  } carry s.31 <- s.33 -> s.35, t.32 <- t.34 -> t.36: f64
  for j.37: i32 in n.3..n.3
      sequential
  {
  }
  for j.38 in n.3..n.3, s.39 = x.10
      strip region 0 stream out
        view @a.5
        view mut @d.8 from 2 * n.3 * n.3 + 1 step -2 high
        split @a.5 at %25 - n.3 - 1 others below read
        split @d.8 at 0 others above added
      simd 8
        reduce - s.40
        reduce + x.10 ordered
        rotation @a.5 from n.3: 3 at 0, 2 at 1
        delayed 3, 5
      parts
        window @a.5
        window @d.8 from -n.3 step %25
        private @c.7, @.6
      rolled
  {
    s.40: f64 = s.39 + x.10
  } carry s.39 <- s.40 -> s.41
  loop %42
      strip
      simd 4
      parts
  {
  } exit if flag.9, trips count.43
  loop %44 {
    if flag.9 {
      pop #0 y.45, %46: ~bool
    } else {
      if flag.9 {
      }
    }
    if flag.9 {
    } merge m.47: f64 = x.10 | y.45, %48: bool = %46 | flag.9
  } exit if flag.9
  return m.47, lost.91, @a.5, @gone.20
}
"##;

#[test]
fn what_is_printed_is_read_back() -> Result<(), ParseError> {
    let module = parse(EVERYTHING)?;
    assert_eq!(module.to_string(), EVERYTHING);
    Ok(())
}

#[test]
fn a_function_comes_with_its_structs() -> Result<(), ParseError> {
    let function = parse(EVERYTHING)?.into_functions().remove(0);
    let text = function.to_string();
    assert_eq!(text, EVERYTHING.replacen("\n\nfn", "\nfn", 1));
    assert_eq!(parse_function(&text)?.to_string(), text);
    Ok(())
}

#[test]
fn tables_and_flags_are_what_was_written() -> Result<(), ParseError> {
    let function = parse(EVERYTHING)?.into_functions().remove(0);
    let value = |id: usize| (&function.values[id].ty, function.values[id].adjoint);
    assert_eq!(function.values.len(), 92);
    assert_eq!(value(91), (&Scalar::Float(crate::Float::F32), true));
    assert_eq!(function.values[2].name.as_deref(), Some("odd name"));
    // An adjoint that the loop carries may leave it as none.
    assert_eq!((value(32).1, value(36).1), (true, false));
    assert_eq!(function.ty(crate::ValueId(43)), Scalar::USIZE);
    assert_eq!(function.ty(crate::ValueId(45)), Scalar::Float(crate::Float::F64));
    assert!(function.parallel && function.plain && function.recursive.contains("g::h"));
    assert_eq!(function.kept.len(), 2);
    assert_eq!(function.objects[2].origin, Origin::Local);
    assert_eq!(function.objects[8].origin, Origin::Owned);
    assert_eq!(function.records[2].types.len(), 2);
    assert_eq!(function.strided_copies.len() + function.sums.len() + function.unfilled.len(), 3);
    let mut numbers = function.body.iter().filter_map(|statement| match statement {
        Stmt::Let { op: Op::Float(number, text), .. } => Some((number.to_bits(), text.as_str())),
        _ => None,
    });
    assert!(numbers.any(|one| one == ((1.0_f64 / 3.0).to_bits(), "0.33333334")));
    Ok(())
}

/// The same program by hand: names without numbers, comments, no types where the operation tells.
#[test]
fn names_without_numbers() -> Result<(), ParseError> {
    let text = "
        // A gradient in one loop.
        fn square_grad(@x: &[f64], @dx: &mut [f64] shadow of @x, seed: f64) {
          zero: usize = 0; n = @x.len()

          for i in zero..n {
            a = @x[i]            // a load
            push #0 a
          }
          for j in zero..n reversed { pop #0 b; c = b + b; d: ~f64 = c * seed
            @dx[j] += d }
        }";
    let printed = "fn square_grad(@x.0: &[f64], @dx.1: &mut [f64] shadow of @x.0, seed.0: f64) {
  record #0 (a.4: f64)
  zero.1: usize = 0
  n.2: usize = @x.0.len()
  for i.3 in zero.1..n.2 {
    a.4: f64 = @x.0[i.3]
    push #0 a.4
  }
  for j.5 in zero.1..n.2 reversed {
    pop #0 b.6
    c.7: f64 = b.6 + b.6
    d.8: ~f64 = c.7 * seed.0
    @dx.1[j.5] += d.8
  }
  return
}
";
    let function = parse_function(text)?;
    assert_eq!(function.to_string(), printed);
    assert_eq!(parse_function(printed)?.to_string(), printed);
    assert!(crate::valid::validate(&function).is_ok());
    Ok(())
}

#[test]
fn a_name_without_a_number_is_the_one_with_it() -> Result<(), ParseError> {
    let function = parse_function("fn f(x.7: f64, y: f64) { %push = x + %y; return push }")?;
    let shown = "fn f(x.7: f64, y.0: f64) {\n  push.1: f64 = x.7 + y.0\n  return push.1\n}\n";
    assert_eq!(function.to_string(), shown);
    Ok(())
}

#[test]
fn names_that_are_keywords_have_numbers() -> Result<(), ParseError> {
    let text = "fn return(push.0: f64, in.1: f64, true.2: bool, @mut.0: [f64]) {
  exit.3: f64 = push.0 + in.1
  as.4: f64 = if true.2 then in.1 else exit.3
  loop carry.5, trips.6 = exit.3 {
  } exit if true.2, carry trips.6 <- as.4 -> merge.7, trips else.8
  @mut.0[else.8] = merge.7
  return merge.7
}
";
    assert_eq!(parse_function(text)?.to_string(), text);
    Ok(())
}

/// Whatever a pass leaves in the tables can be printed and read back, used or not.
#[test]
fn a_function_that_breaks_the_rules() -> Result<(), ParseError> {
    let mut function = Function::new("f<T>");
    let value = |name: &str, adjoint| Value {
        ty: Scalar::USIZE,
        name: Some(name.to_owned()),
        adjoint,
        stands_for: None,
        span: SourceId::NONE,
    };
    function.values = vec![value("", true), value("3x", false), value("y", false)];
    let object = function.new_object(Object {
        ty: Type::Scalar(Scalar::Bool),
        origin: Origin::RefMut,
        name: "a\nb".to_owned(),
        shadow_of: Some(crate::ObjectId(1)),
        span: SourceId::NONE,
    });
    let shadowed = function.new_object(Object {
        ty: Type::Enum("Vec".to_owned()),
        origin: Origin::Ref,
        name: String::new(),
        shadow_of: Some(object),
        span: SourceId::NONE,
    });
    function.params = vec![Param::Object(object), Param::Object(object)];
    let (a, b) = (crate::ValueId(0), crate::ValueId(1));
    function.body = vec![
        Stmt::Let { value: a, op: Op::Unary(crate::Unary::Neg, a) },
        Stmt::Let { value: a, op: Op::Const(Opaque::new("")) },
        Stmt::New { object: shadowed, init: Init::Items(vec![Init::Items(Vec::new())]) },
        Stmt::Store { place: crate::Place::whole(object), value: b },
    ];
    let text = function.to_string();
    let read = parse_function(&text)?;
    assert_eq!(read.to_string(), text);
    assert_eq!(read.name, "f<T>");
    assert_eq!(read.objects.len(), 2);
    assert_eq!(read.values[1].name.as_deref(), Some("3x"));
    Ok(())
}

#[test]
fn errors_say_where_and_what() {
    let wrong = [
        ("fn f() {", "1:9: a statement is expected, not the end of the text"),
        ("struct S { x f64 }", "1:14: `:` is expected, not `f64`"),
        ("fn f(@x: &[S]) {}", "1:12: there is no struct `S` above"),
        (
            "fn f() {\n  x: f64 = y + y\n}",
            "2:12: the value is defined nowhere; `declare` says its type",
        ),
        ("fn f() {\n  @x[i] = i\n}", "2:6: the value is defined nowhere; `declare` says its type"),
        (
            "fn f(i: usize) {\n  @x[i] = i\n}",
            "2:3: the object is made nowhere; `declare` says its type",
        ),
        (
            "fn f(a: f64) {\n  b = a\n}",
            "3:1: an operation is expected: a value cannot be a copy of another",
        ),
        (
            "fn f(a: f64) {\n  b = a + a c = a + a\n}",
            "2:13: a new line or `;` is expected, not `c`",
        ),
        (
            "fn f(a: f64) {\n  b = 3\n}",
            "2:3: the type of this value must be written, as in `x: f64`",
        ),
        (
            "fn f(a: f64) {\n  b = a + a\n  b = a * a\n}",
            "3:3: the value is defined twice: tell the two apart by numbers, `x.1` and `x.2`",
        ),
        ("fn f(a.1: f64, a.2: f64) { return a }", "1:35: `a` may be a.1 or a.2"),
        ("fn f(a.1: f64, b.1: f64) {}", "1:16: number 1 is `b` here, and `a` in line 1"),
        ("fn f(%9999999: f64) {}", "1:7: 9999999 is too large: numbers end at 1048576"),
        (
            "fn f(n: usize) {\n  for i in n..n view @x {}\n}",
            "2:17: `strip` before this clause is expected, not `view`",
        ),
        (
            "fn f(n: usize) {\n  for i in n..n, a = n {\n  }\n}",
            "4:1: a value that the loop carries has no `carry x <- next -> after`",
        ),
        (
            "fn f(n: usize) {\n  if n {\n    return n\n  }\n}",
            "3:5: `return` stands at the end of a function only",
        ),
        ("fn f() {}\nfn f() {}", "2:1: the function `f` is defined twice"),
        ("fn f(a: f64) {\n  a.frob()\n}", "2:3: `a` begins no statement; `a = …` defines it"),
    ];
    for (text, message) in wrong {
        let found = parse(text).map(|module| module.to_string()).map_err(|error| error.to_string());
        assert_eq!(found, Err(message.to_owned()), "{text}");
    }
    let several = parse_function("fn f() {}\nfn g() {}").map_err(|error| error.message);
    assert_eq!(several.err().as_deref(), Some("one function is expected, there are 2"));
}

#[test]
fn what_nests_too_deep_is_refused() {
    for (open, close) in [("[", "]"), ("(", ")"), ("Vec<", ">")] {
        let ty = format!("{}f64{}", open.repeat(100_000), close.repeat(100_000));
        assert!(
            parse(&format!("fn f(@x: {ty}) {{}}")).is_err_and(|e| e.message == "nested too deep")
        );
    }
    let blocks = "if a {".repeat(100_000);
    assert!(parse(&format!("fn f(a: bool) {{ {blocks}")).is_err());
    let init = "[".repeat(100_000);
    assert!(parse(&format!("fn f() {{ new @x: () = {init}")).is_err());
}

/// Characters that misprints put in.
const ODD: &str = "\0é`\"\\{}[]()<>-=~.%@#0\n\u{10ffff}";

/// Texts with characters changed, left out, doubled or swapped, and texts that end early: an error or a function, never a panic; and
/// what is read is printed and read back.
#[test]
fn misprints() {
    let chars: Vec<char> = EVERYTHING.chars().collect();
    for end in 0..chars.len() {
        let text: String = chars[..end].iter().collect();
        let _ = parse(&text);
    }
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut read = 0;
    for _ in 0..4000 {
        let mut text = chars.clone();
        for _ in 0..=random(2) {
            let (at, other) = (random(text.len()), random(text.len()));
            match random(5) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, text[other]),
                2 => text.swap(at, other),
                3 => text[at] = ODD.chars().nth(random(22)).unwrap_or('x'),
                _ => {
                    let end = (at + random(40)).min(text.len());
                    text.drain(at..end);
                }
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(module) = parse(&text) {
            read += 1;
            let printed = module.to_string();
            let again = parse(&printed).map(|module| module.to_string());
            assert_eq!(again.as_deref(), Ok(printed.as_str()), "{text}");
        }
    }
    assert!(read > 100, "{read}");
}
