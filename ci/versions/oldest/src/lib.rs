//! The oldest versions whose types the compiler knows.
