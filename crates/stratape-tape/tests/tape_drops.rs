//! Every element of an in-memory tape is dropped exactly once, also when destructors or clones
//! panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use stratape_tape::Tape;

/// How often each numbered element was dropped, and what shall go wrong.
#[derive(Default)]
struct Book {
    dropped: Vec<Cell<u32>>,
    panic_on_drop: Cell<Option<usize>>,
    panic_on_clone: Cell<Option<usize>>,
    alive: Cell<usize>,
}

/// Large enough that a hundred of them cross several slabs.
struct Counted {
    number: usize,
    book: Rc<Book>,
    _bulk: [u64; 60],
}

impl Counted {
    fn new(number: usize, book: &Rc<Book>) -> Self {
        book.alive.set(book.alive.get() + 1);
        Self { number, book: Rc::clone(book), _bulk: [0; 60] }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        assert!(self.book.panic_on_clone.get() != Some(self.number), "this clone shall fail");
        Self::new(self.number, &self.book)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let count = &self.book.dropped[self.number];
        count.set(count.get() + 1);
        self.book.alive.set(self.book.alive.get() - 1);
        if self.book.panic_on_drop.get() == Some(self.number) {
            // Once only: a second panic while unwinding would end the process.
            self.book.panic_on_drop.set(None);
            panic!("this drop shall fail");
        }
    }
}

const COUNT: usize = 100;

fn book() -> Rc<Book> {
    Rc::new(Book { dropped: vec![Cell::new(0); COUNT], ..Book::default() })
}

fn full<const N: usize>(book: &Rc<Book>) -> Tape<Counted, N> {
    (0..COUNT).map(|number| Counted::new(number, book)).collect()
}

/// Runs `act`, in which the drop of element `number` panics.
#[track_caller]
fn expect_panic(book: &Rc<Book>, number: usize, act: impl FnOnce()) {
    book.panic_on_drop.set(Some(number));
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "element {number} was not dropped");
}

#[track_caller]
fn all_dropped_once(book: &Book) {
    let counts: Vec<u32> = book.dropped.iter().map(Cell::get).collect();
    assert_eq!(counts, [1; COUNT]);
}

fn in_every_place(test: impl Fn(usize)) {
    for number in [0, 1, 2, 3, 10, 50, 98, 99] {
        test(number);
    }
}

#[test]
fn each_element_is_dropped_once() {
    let book = book();
    let mut tape: Tape<Counted, 3> = full(&book);
    drop(tape.pop());
    tape.truncate(60);
    tape.shrink_to_fit();
    assert_eq!(book.alive.get(), 60);
    let mut elements = tape.into_iter();
    elements.by_ref().take(20).for_each(drop);
    elements.by_ref().rev().take(20).for_each(drop);
    assert_eq!(book.alive.get(), 20);
    drop(elements);
    all_dropped_once(&book);
}

#[test]
fn truncate_survives_a_panicking_drop() {
    in_every_place(|number| {
        let book = book();
        let mut tape: Tape<Counted, 3> = full(&book);
        expect_panic(&book, number, || tape.clear());
        // The tape is whole: what it still holds can be used, and is dropped in the end.
        assert_eq!(tape.len(), book.alive.get());
        assert!(tape.iter().enumerate().all(|(i, element)| element.number == i));
        drop(tape);
        all_dropped_once(&book);
    });
}

/// The tape once stopped at the slab in which a destructor had panicked, and leaked all below it.
#[test]
fn dropping_the_tape_goes_on_after_a_panicking_drop() {
    in_every_place(|number| {
        let book = book();
        let tape: Tape<Counted, 3> = full(&book);
        expect_panic(&book, number, || drop(tape));
        all_dropped_once(&book);
    });
}

#[test]
fn dropping_the_iterator_goes_on_after_a_panicking_drop() {
    in_every_place(|number| {
        let book = book();
        let tape: Tape<Counted, 3> = full(&book);
        let mut elements = tape.into_iter();
        if number > 0 && number < COUNT - 1 {
            drop(elements.next());
            drop(elements.next_back());
        }
        expect_panic(&book, number, || drop(elements));
        all_dropped_once(&book);
    });
}

#[test]
fn a_panicking_clone_leaves_the_tape_whole() {
    in_every_place(|number| {
        let book = book();
        let source: Vec<Counted> = (0..COUNT).map(|i| Counted::new(i, &book)).collect();
        let mut tape: Tape<Counted, 3> = Tape::with_inline();
        tape.extend_from_slice(&source[..5]);
        book.panic_on_clone.set(Some(number));
        let result = catch_unwind(AssertUnwindSafe(|| tape.extend_from_slice(&source)));
        assert!(result.is_err());
        // Whole slabs before the failure may have been taken, nothing of the slab it was in.
        assert_eq!(book.alive.get(), COUNT + tape.len());
        assert!(tape.len() >= 5 && tape.len() <= 5 + number);
        let numbers = tape.iter().map(|element| element.number);
        assert!(numbers.eq((0..5).chain(0..tape.len() - 5)));
        book.panic_on_clone.set(None);
        tape.extend_from_slice(&source[..50]);
        drop(tape);
        assert_eq!(book.alive.get(), COUNT);
    });
}

#[test]
fn a_panicking_clone_of_the_tape_drops_what_was_cloned() {
    in_every_place(|number| {
        let book = book();
        let tape: Tape<Counted, 3> = full(&book);
        book.panic_on_clone.set(Some(number));
        assert!(catch_unwind(AssertUnwindSafe(|| tape.clone())).is_err());
        assert_eq!(book.alive.get(), COUNT);
        book.panic_on_clone.set(None);
        let copy = tape.clone();
        assert_eq!(book.alive.get(), 2 * COUNT);
        drop(tape);
        assert!(copy.iter().enumerate().all(|(i, element)| element.number == i));
        drop(copy);
        assert_eq!(book.alive.get(), 0);
    });
}

#[test]
fn elements_without_size_are_dropped_too() {
    thread_local!(static ALIVE: Cell<usize> = const { Cell::new(0) });
    struct Empty;
    impl Drop for Empty {
        fn drop(&mut self) {
            ALIVE.set(ALIVE.get() - 1);
        }
    }
    let mut tape: Tape<Empty, 2> = Tape::with_inline();
    for _ in 0..1000 {
        ALIVE.set(ALIVE.get() + 1);
        tape.push(Empty);
    }
    drop(tape.pop());
    tape.truncate(500);
    assert_eq!(ALIVE.get(), 500);
    let mut elements = tape.into_iter();
    drop(elements.next());
    drop(elements.next_back());
    assert_eq!(ALIVE.get(), 498);
    drop(elements);
    assert_eq!(ALIVE.get(), 0);
}
