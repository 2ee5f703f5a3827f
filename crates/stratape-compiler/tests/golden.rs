//! What becomes of a dozen small functions, stage by stage: the source, the program after the passes that simplify it, its
//! gradient in the intermediate language, that gradient with schedules, and the Rust that is emitted.
//!
//! After a change of the compiler, read what it did to them:
//! `INSTA_UPDATE=always cargo test -p stratape-compiler --test golden`, then `git diff`.

use std::error::Error;

use stratape_compiler::driver::{self, Options};
use stratape_compiler::{back, front};

/// The stages of the last function of a source.
fn stages(source: &str) -> Result<String, Box<dyn Error>> {
    let file = syn::parse_file(source)?;
    let last = file.items.iter().rev().find_map(|item| match item {
        syn::Item::Fn(function) => Some(function),
        _ => None,
    });
    let function = last.ok_or("a function was expected")?;
    let items = front::Items::collect(&file.items)?;
    let compiled = driver::compile(function, &items, &Options::default())?;
    assert_eq!(compiled.fault, None);
    let (primal, gradient) = (&compiled.primal, &compiled.gradient);
    let tokens = back::rust::emit(function, &compiled, compiled.valid()?, items.sources());
    let rust = prettyplease::unparse(&syn::parse2(tokens)?);
    let source = prettyplease::unparse(&file);
    let stages = [
        ("source", source),
        ("primal", primal.to_string()),
        ("gradient", gradient.function.to_string()),
        ("lowered", compiled.lowered.to_string()),
        ("Rust", rust),
    ];
    Ok(stages.map(|(name, text)| format!("// {name}\n\n{text}")).join("\n"))
}

macro_rules! golden {
    ($($(#[$doc:meta])* $name:ident: $source:expr;)*) => {
        $($(#[$doc])*
        #[test]
        fn $name() -> Result<(), Box<dyn Error>> {
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            let stages = stages($source)?;
            settings.bind(|| insta::assert_snapshot!(stringify!($name), stages));
            Ok(())
        })*
    };
}

golden! {
    /// Nothing is saved, the two halves are one loop.
    sum_of_squares: "
        fn energy(x: &[f64], k: f64) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                s += k * x[i] * x[i];
            }
            s
        }";

    /// Every state but the last is saved.
    recurrence: "
        fn orbit(x0: f64, a: f64, n: usize) -> f64 {
            let mut x = x0;
            for _ in 0..n {
                x = a * x.sin() + 0.1 * x * x;
            }
            x
        }";

    /// What is overwritten is saved before.
    stencil_in_place: "
        fn smooth(y: &mut [f64], w: f64) {
            for i in 1..y.len() - 1 {
                y[i] = w * y[i - 1] * y[i + 1] + (1.0 - w) * y[i];
            }
        }";

    /// The condition is lost with the number it looked at.
    branch_with_saved_condition: "
        fn relu(y: &mut [f64]) -> f64 {
            let mut s = 0.0;
            for i in 0..y.len() {
                if y[i] > 0.0 {
                    y[i] = y[i] * y[i];
                } else {
                    y[i] = 0.1 * y[i];
                }
                s += y[i];
            }
            s
        }";

    while_with_break: "
        fn collatz(x: f64, n: usize) -> f64 {
            let (mut y, mut k) = (x, n);
            while k > 1 {
                if k % 2 == 0 {
                    k /= 2;
                    y = y * x;
                } else {
                    k = 3 * k + 1;
                }
                if k > 1000 {
                    break;
                }
            }
            y
        }";

    nested_loops_with_local_array: "
        fn layers(x: &[f64; 6], w: &[[f64; 6]; 6], n: usize) -> f64 {
            let mut h = *x;
            for _ in 0..n {
                let mut next = [0.0; 6];
                for i in 0..6 {
                    for j in 0..6 {
                        next[i] += w[i][j] * h[j];
                    }
                }
                for i in 0..6 {
                    h[i] = next[i].tanh();
                }
            }
            h[0] + h[5]
        }";

    maximum_by_comparison: "
        fn largest(x: &[f64]) -> f64 {
            let mut best = x[0];
            for i in 1..x.len() {
                if x[i] > best {
                    best = x[i];
                }
            }
            best
        }";

    dot_product_of_iterators: "
        fn dot(x: &[f32], y: &[f32]) -> f32 {
            x.iter().zip(y).map(|(a, b)| a * b).sum()
        }";

    method_of_a_struct: "
        struct Spring {
            k: f64,
            rest: f64,
        }
        impl Spring {
            fn energy(&self, at: f64) -> f64 {
                let d = at - self.rest;
                0.5 * self.k * d * d
            }
        }
        fn total(springs: &[Spring], at: &[f64]) -> f64 {
            let mut s = 0.0;
            for (spring, at) in springs.iter().zip(at) {
                s += spring.energy(*at);
            }
            s
        }";

    /// What all terms of an adjoint's sum share multiplies the sum.
    factor_of_a_sum: "
        fn rows(b: &[f64], d: &[f64], c: &[f64], s: &[f64]) -> f64 {
            let mut a = [0.0; 4];
            for i in 0..b.len() {
                for j in 0..4 {
                    a[j] += b[i] * d[i * 4 + j] * c[j];
                }
            }
            let mut sum = 0.0;
            for j in 0..4 {
                sum += s[j] * a[j];
            }
            sum
        }";

    early_return: "
        fn first_positive(x: &[f64], k: f64) -> f64 {
            for i in 0..x.len() {
                if x[i] > 0.0 {
                    return k * x[i] * x[i];
                }
            }
            k
        }";

    chain_of_powf_and_exp: "
        fn soft(x: f64, p: f64) -> f64 {
            let a = (1.0 + x.exp()).ln();
            (a.powf(p) - 1.0) / (p * a.sqrt())
        }";

    scatter_through_indices: "
        fn scatter(x: &[f64], at: &[usize], y: &mut [f64]) {
            for k in 0..at.len() {
                y[at[k]] += x[k] * y[at[k]];
            }
        }";
}
