//! The documentation of a generated gradient says of each argument what is added to it, seeded by it or returned for it.

#![allow(clippy::unwrap_used)]

use stratape_compiler::explain::survey;

/// The lines of documentation of the functions that are emitted for a text, the gradient's first.
fn docs(text: &str) -> Vec<String> {
    let survey = survey(&syn::parse_str(text).unwrap());
    assert!(survey.errors.is_empty(), "{:?}", survey.errors);
    let file: syn::File = syn::parse2(survey.subjects[0].tokens.clone()).unwrap();
    let of = |item: &syn::Item| {
        let syn::Item::Fn(function) = item else { return None };
        let lines = function.attrs.iter().filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    };
    file.items.iter().filter_map(of).collect()
}

#[test]
fn shadows_returned_derivatives_and_the_seed_are_told() {
    let text = "#[gradient]
        fn energy(x: &[f64], out: &mut [f64], k: f64, c: f64, n: usize) -> f64 {
            let mut sum = 0.0;
            for i in 0..n { out[i] = k * x[i]; sum += c * out[i] * x[i]; }
            sum
        }";
    let docs = docs(text);
    for line in [
        "The gradient of [`energy`]: runs it, and takes derivatives of its result back to its arguments.",
        "| `x` | an argument of the function |",
        "| `dx` | shadow of `x`: the derivatives with respect to it are added to what it holds |",
        "| `dout` | shadow of `out`: on entry the seed, ",
        "| `k` | an argument of the function; the derivative with respect to it is returned |",
        "| `n` | an argument of the function |",
        "the weight of the result, usually 1",
        "Returns its value, then the derivatives with respect to `k` and `c`.",
    ] {
        assert!(docs[0].contains(line), "{line}\n{}", docs[0]);
    }
    let rows = docs[0].lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, 8, "five arguments, two shadows, one seed");
    assert!(docs[1].contains("[`energy_grad`] on a workspace of the caller's"), "{}", docs[1]);
}

#[test]
fn a_function_without_a_result_has_no_seed_of_its_own() {
    let docs = docs("#[gradient] fn twice(x: &mut [f64]) { for i in 0..x.len() { x[i] *= 2.0; } }");
    assert!(docs[0].contains("Returns nothing.") && !docs[0].contains("weight"), "{}", docs[0]);
}
