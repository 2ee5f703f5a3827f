//! The arguments of `#[gradient(…)]`.

use proc_macro2::Ident;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, LitInt, LitStr, Result, Token};

use crate::driver::{Options, Saving, TapeSettings};
use stratape_ir::Layout;

/// The arguments of `#[gradient(…)]`.
#[derive(Debug, Default)]
pub(crate) struct Arguments(pub(crate) Options);

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut arguments, mut tape) = (attribute_options(), false);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            match key.to_string().as_str() {
                "wrt" if arguments.wrt.is_none() => {
                    let list;
                    syn::parenthesized!(list in input);
                    let names = Punctuated::<Ident, Token![,]>::parse_terminated(&list)?;
                    if names.is_empty() {
                        let message = "`wrt` names no parameter: write `wrt(x)`, or leave it out";
                        return Err(Error::new(key.span(), message));
                    }
                    arguments.wrt = Some(names.into_iter().collect());
                }
                "name" if arguments.name.is_none() => {
                    input.parse::<Token![=]>()?;
                    arguments.name = Some(input.parse()?);
                }
                name if name.starts_with(char::is_uppercase) => {
                    input.parse::<Token![=]>()?;
                    arguments.types.push((key, input.parse()?));
                }
                "parallel" if arguments.parallel.is_none() => arguments.parallel = Some(key.span()),
                "plain" if !arguments.plain => arguments.plain = true,
                "no_results" if arguments.results => arguments.results = false,
                "tape" if !tape => {
                    tape = true;
                    let list;
                    syn::parenthesized!(list in input);
                    arguments.target.tape = tape_settings(&list)?;
                }
                "wrt" | "name" | "parallel" | "plain" | "tape" | "no_results" => {
                    return Err(Error::new(key.span(), format!("`{key}` is given twice")));
                }
                _ => {
                    return Err(Error::new(
                        key.span(),
                        format!(
                            "unknown argument `{key}`: `wrt(x, y)`, `name = my_grad`, `T = f64`, `parallel`, `plain` and `tape(…)` are known"
                        ),
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Self(arguments))
    }
}

/// The arguments of `tape(…)`.
fn tape_settings(input: ParseStream<'_>) -> Result<TapeSettings> {
    let (mut settings, mut given) = (TapeSettings::default(), Vec::new());
    while !input.is_empty() {
        let key: Ident = input.parse()?;
        if given.contains(&key) {
            return Err(Error::new(key.span(), format!("`{key}` is given twice")));
        }
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "saved" => {
                let text: LitStr = input.parse()?;
                settings.saved = match text.value().as_str() {
                    "minimal" => Saving::Minimal,
                    "all" => Saving::All,
                    "compact" => Saving::Compact,
                    _ => {
                        return Err(Error::new(
                            text.span(),
                            "`saved` is \"minimal\", \"compact\" or \"all\"",
                        ));
                    }
                };
            }
            "layer_bytes" => {
                let message = "`layer_bytes` is a plain number, as 4096";
                let number: LitInt =
                    input.parse().map_err(|error| Error::new(error.span(), message))?;
                let plain = input.is_empty() || input.peek(Token![,]);
                let bytes = number.base10_parse().ok().filter(|_: &usize| plain);
                let Some(bytes) = bytes else { return Err(Error::new(number.span(), message)) };
                if bytes < 64 {
                    let message = "a layer holds at least 64 bytes, a cache line";
                    return Err(Error::new(number.span(), message));
                }
                settings.layer_bytes = Some(bytes);
            }
            "layout" => {
                let text: LitStr = input.parse()?;
                settings.layout = match text.value().as_str() {
                    "aos" => Some(Layout::Frames),
                    "soa" => Some(Layout::Columns),
                    "none" => None,
                    _ => {
                        let message = "`layout` is \"aos\", \"soa\" or \"none\"";
                        return Err(Error::new(text.span(), message));
                    }
                };
            }
            _ => {
                let message = format!(
                    "unknown argument `{key}` of `tape`: `saved = \"all\"`, `layer_bytes = 16384` and `layout = \"soa\"` are known"
                );
                return Err(Error::new(key.span(), message));
            }
        }
        given.push(key);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    if given.is_empty() {
        return Err(
            input.error("`tape(…)` is empty: write `tape(layer_bytes = 16384)`, or leave it out")
        );
    }
    Ok(settings)
}

/// How the attributes compile: the validator has the last word, but is not asked after every pass. Builds of users' crates would pay for it.
pub(crate) fn attribute_options() -> Options {
    Options { verify: false, ..Options::default() }
}
