//! What `#[gradient]` accepts, construct by construct, in `f64` and `f32`: values bit for bit, gradients against differences, panics word for word.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod bits;
mod borrowed_fields;
mod chains;
mod checkpoint;
mod complex;
mod control;
mod convention;
mod effects;
mod extremes;
mod float_library;
mod frames;
mod generics;
mod iterators;
mod kinks;
mod lists;
mod local_aggregates;
mod methods;
mod modules;
mod nalgebra;
mod nalgebra_parts;
mod ndarray;
mod ndarray_slices;
mod nests;
mod options;
mod panics;
mod parallel;
mod parameters;
mod patterns;
mod plain;
mod printing;
mod pullback;
mod recursion;
mod reordered;
mod shapes;
mod slices;
mod statements;
mod states;
mod stored_in_parts;
mod strips;
mod tape_settings;
