//! Ids: positions in a function's tables, and names for what lies outside the language.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the function's list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A scalar, defined once.
    ValueId "%"
);
id!(
    /// A piece of memory.
    ObjectId "@"
);
id!(
    /// A kind of record on the tape.
    RecordId "#"
);
id!(
    /// A region of the tape.
    RegionId "region "
);
id!(
    /// A branch or a call, while a transform keeps tables about it: see [`Function::number_statements`](crate::Function::number_statements).
    StmtId "s"
);

id!(
    /// A place in the source text. The language does not look into it: whoever made the function has a table that says which
    /// file, line and column is meant.
    SourceId "!"
);
id!(
    /// A piece of Rust text that the front kept with its spans. Whoever made the function has the table.
    TokensId "$"
);

impl StmtId {
    /// Not numbered.
    pub const NONE: Self = Self(0);
}

impl SourceId {
    /// No place in particular.
    pub const NONE: Self = Self(0);
}
