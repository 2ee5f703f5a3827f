//! Random programs: a list of events in an order in which they can happen, so that no rank waits for ever.

use std::collections::{HashMap, VecDeque};

use crate::common::Random;
use stratape_mpi::NOBODY;

/// Numbers that a rank has: some messages are short, some longer than what `ci/mpi` lets Open MPI send before somebody receives it.
pub(crate) const SLOTS: usize = 24;
/// Words of an instruction.
pub(crate) const WORDS: usize = 7;
const TAGS: usize = 2;
/// Of messages that are received from whoever sends them: one at a time, so that it is known who that is.
const ANY_TAG: usize = 9;

/// A message from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) number: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tag: usize,
    pub(crate) len: usize,
    /// The first slot of the sender, and of the receiver.
    pub(crate) source: usize,
    pub(crate) target: usize,
}

/// A collective operation, by the number of its instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Together {
    pub(crate) what: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) len: usize,
    pub(crate) root: usize,
}

/// What happens on one rank, or on all of them.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Local {
        rank: usize,
        a: usize,
        b: usize,
    },
    Send(Message),
    Receive(Message),
    ReceiveAny(Message),
    BeginSend(Message),
    FinishSend(Message),
    BeginReceive(Message),
    FinishReceive(Message),
    /// Each rank sends to another one, or to nobody.
    Exchange {
        to: Vec<usize>,
        source: usize,
        target: usize,
        len: usize,
        tag: usize,
    },
    Together(Together),
}

impl Event {
    /// The instruction of a rank, if it takes part.
    pub(crate) fn code(&self, rank: usize, size: usize) -> Option<[usize; WORDS]> {
        let at = |here: usize, code: [usize; WORDS]| (here == rank).then_some(code);
        match self {
            Self::Local { rank, a, b } => at(*rank, [0, *a, *b, 0, 0, 0, 0]),
            Self::Send(m) => at(m.from, [1, m.source, 0, m.len, m.to, m.tag, 0]),
            Self::Receive(m) => at(m.to, [2, m.target, 0, m.len, m.from, m.tag, 0]),
            Self::ReceiveAny(m) => at(m.to, [3, m.target, 0, m.len, 0, m.tag, 0]),
            Self::BeginSend(m) => at(m.from, [4, m.source, 2 * m.number, m.len, m.to, m.tag, 0]),
            Self::FinishSend(m) => at(m.from, [5, 0, 2 * m.number, 0, 0, 0, 0]),
            Self::BeginReceive(m) => at(m.to, [6, 0, 2 * m.number + 1, m.len, m.from, m.tag, 0]),
            Self::FinishReceive(m) => at(m.to, [7, m.target, 2 * m.number + 1, m.len, 0, 0, 0]),
            Self::Exchange { to, source, target, len, tag } => {
                let from = (0..size).find(|q| to[*q] == rank).unwrap_or(NOBODY);
                Some([8, *source, *target, *len, to[rank], *tag, from])
            }
            Self::Together(t) => Some([t.what, t.source, t.target, t.len, t.root, 0, 0]),
        }
    }
}

/// Messages between two ranks with one tag of which one side has begun.
#[derive(Default)]
struct Channel {
    sent: VecDeque<Message>,
    posted: VecDeque<Message>,
}

struct Generator<'a> {
    size: usize,
    random: &'a mut Random,
    events: Vec<Event>,
    channels: HashMap<(usize, usize, usize), Channel>,
    /// What both sides have begun, and can be finished.
    open: Vec<Event>,
    messages: usize,
}

/// A program for `size` ranks.
pub(crate) fn generate(size: usize, random: &mut Random) -> Vec<Event> {
    let count = 10 + random.below(20 + 5 * size);
    let mut generator = Generator {
        size,
        random,
        events: Vec::new(),
        channels: HashMap::new(),
        open: Vec::new(),
        messages: 0,
    };
    for _ in 0..count {
        generator.step();
    }
    generator.end();
    generator.events
}

impl Generator<'_> {
    fn range(&mut self) -> (usize, usize) {
        let start = self.random.below(SLOTS);
        (start, self.random.below(SLOTS - start + 1))
    }

    fn message(&mut self, tag: usize) -> Message {
        let (source, len) = self.range();
        self.messages += 1;
        Message {
            number: self.messages - 1,
            from: self.random.below(self.size),
            to: self.random.below(self.size),
            tag,
            len,
            source,
            target: self.random.below(SLOTS - len + 1).min(SLOTS - 1),
        }
    }

    fn step(&mut self) {
        match self.random.below(14) {
            0..=2 => {
                let rank = self.random.below(self.size);
                let (a, b) = (self.random.below(SLOTS), self.random.below(SLOTS));
                self.events.push(Event::Local { rank, a, b });
            }
            3..=7 => self.communicate(),
            8 | 9 => self.finish_one(),
            10 => self.exchange(),
            11 => {
                // In the background on one side, since a rank may send to itself.
                let message = self.message(ANY_TAG);
                self.events.push(Event::BeginSend(message));
                self.events.push(Event::ReceiveAny(message));
                self.events.push(Event::FinishSend(message));
                self.together(18);
            }
            _ => {
                let what = 9 + self.random.below(10);
                self.together(what);
            }
        }
    }

    fn together(&mut self, what: usize) {
        let (source, len) = self.range();
        let target = self.random.below(SLOTS - len + 1).min(SLOTS - 1);
        let root = self.random.below(self.size);
        self.events.push(Event::Together(Together { what, source, target, len, root }));
    }

    /// A new message, or the other side of the oldest one of its channel that has only one side.
    fn communicate(&mut self) {
        let tag = self.random.below(TAGS);
        let new = self.message(tag);
        let kind = self.random.below(4);
        let channel = self.channels.entry((new.from, new.to, tag)).or_default();
        if let Some(message) = channel.sent.front().copied() {
            match kind {
                0 | 1 => {
                    channel.sent.pop_front();
                    self.receive_of(message, kind == 0);
                }
                _ => {
                    channel.sent.push_back(new);
                    self.events.push(Event::BeginSend(new));
                }
            }
        } else if let Some(message) = channel.posted.front().copied() {
            match kind {
                0 | 1 => {
                    channel.posted.pop_front();
                    self.send_of(message, kind == 0);
                }
                _ => {
                    channel.posted.push_back(new);
                    self.events.push(Event::BeginReceive(new));
                }
            }
        } else if kind == 0 && new.from != new.to {
            self.events.push(Event::Send(new));
            self.events.push(Event::Receive(new));
        } else if kind <= 2 {
            channel.sent.push_back(new);
            self.events.push(Event::BeginSend(new));
        } else {
            channel.posted.push_back(new);
            self.events.push(Event::BeginReceive(new));
        }
    }

    fn receive_of(&mut self, message: Message, waits: bool) {
        self.open.push(Event::FinishSend(message));
        if waits {
            self.events.push(Event::Receive(message));
        } else {
            self.events.push(Event::BeginReceive(message));
            self.open.push(Event::FinishReceive(message));
        }
    }

    fn send_of(&mut self, message: Message, waits: bool) {
        self.open.push(Event::FinishReceive(message));
        if waits {
            self.events.push(Event::Send(message));
        } else {
            self.events.push(Event::BeginSend(message));
            self.open.push(Event::FinishSend(message));
        }
    }

    fn finish_one(&mut self) {
        if !self.open.is_empty() {
            let which = self.random.below(self.open.len());
            let event = self.open.swap_remove(which);
            self.events.push(event);
        }
    }

    fn exchange(&mut self) {
        let (source, len) = self.range();
        let target = self.random.below(SLOTS - len + 1).min(SLOTS - 1);
        let mut to: Vec<usize> = (0..self.size).collect();
        for at in (1..self.size).rev() {
            to.swap(at, self.random.below(at + 1));
        }
        for rank in &mut to {
            if self.random.below(4) == 0 {
                *rank = NOBODY;
            }
        }
        // A tag of its own: those of other messages may be under way.
        self.events.push(Event::Exchange { to, source, target, len, tag: TAGS });
    }

    /// The other sides of all messages, and everything finished.
    fn end(&mut self) {
        let mut keys: Vec<_> = self.channels.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            let channel = self.channels.remove(&key).unwrap();
            for message in channel.sent {
                let waits = self.random.below(2) == 0;
                self.receive_of(message, waits);
            }
            for message in channel.posted {
                let waits = self.random.below(2) == 0;
                self.send_of(message, waits);
            }
        }
        while !self.open.is_empty() {
            self.finish_one();
        }
    }
}
