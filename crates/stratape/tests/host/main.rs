//! Functions of the host under `#[gradient]` that use devices.

#![allow(missing_docs, clippy::unwrap_used)]

mod shapes;
