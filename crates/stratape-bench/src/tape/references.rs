//! What the tape is measured against: a raw array, and the growing stacks other tools use.

/// A stack as a push and a pop; what every reference and every tape of ours can do.
pub(crate) trait Stack {
    fn push(&mut self, value: f64);
    fn pop(&mut self) -> Option<f64>;
}

impl Stack for Vec<f64> {
    #[inline(always)]
    fn push(&mut self, value: f64) {
        self.push(value);
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<f64> {
        self.pop()
    }
}

/// A buffer that doubles: a larger one is made, everything is copied, the old one is freed.
pub(crate) struct Doubling {
    buffer: Box<[f64]>,
    len: usize,
}

impl Doubling {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0.0; 32].into_boxed_slice(), len: 0 }
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity(self.buffer.len() * 2);
        larger.extend_from_slice(&self.buffer);
        larger.resize(self.buffer.len() * 2, 0.0);
        self.buffer = larger.into_boxed_slice();
    }
}

impl Stack for Doubling {
    #[inline(always)]
    fn push(&mut self, value: f64) {
        if self.len == self.buffer.len() {
            self.grow();
        }
        self.buffer[self.len] = value;
        self.len += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<f64> {
        self.len = self.len.checked_sub(1)?;
        Some(self.buffer[self.len])
    }
}

const WALKED_INLINE: usize = 64;
const WALKED_SLAB: usize = 1024;

/// A list of slabs that is walked from its head to find the one in use, on every access.
pub(crate) struct Walked {
    inline: [f64; WALKED_INLINE],
    first: Option<Box<Slab>>,
    len: usize,
}

struct Slab {
    values: [f64; WALKED_SLAB],
    next: Option<Box<Self>>,
}

impl Walked {
    pub(crate) fn new() -> Self {
        Self { inline: [0.0; WALKED_INLINE], first: None, len: 0 }
    }

    fn place(&mut self, index: usize) -> &mut f64 {
        if index < WALKED_INLINE {
            return &mut self.inline[index];
        }
        let index = index - WALKED_INLINE;
        let mut link = &mut self.first;
        for _ in 0..index / WALKED_SLAB {
            link = &mut link.get_or_insert_with(new_slab).next;
        }
        &mut link.get_or_insert_with(new_slab).values[index % WALKED_SLAB]
    }
}

fn new_slab() -> Box<Slab> {
    Box::new(Slab { values: [0.0; WALKED_SLAB], next: None })
}

impl Drop for Walked {
    fn drop(&mut self) {
        // One by one: a long list must not be dropped recursively.
        let mut next = self.first.take();
        while let Some(mut slab) = next {
            next = slab.next.take();
        }
    }
}

impl Stack for Walked {
    fn push(&mut self, value: f64) {
        let index = self.len;
        *self.place(index) = value;
        self.len += 1;
    }

    fn pop(&mut self) -> Option<f64> {
        self.len = self.len.checked_sub(1)?;
        let index = self.len;
        Some(*self.place(index))
    }
}
