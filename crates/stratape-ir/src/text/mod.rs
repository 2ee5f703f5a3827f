//! Functions as text.

mod print;
