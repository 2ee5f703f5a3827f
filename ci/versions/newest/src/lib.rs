//! The newest versions whose types the compiler knows.
