//! What the tapes of a process share, for as long as one of them has it.

use std::sync::{Arc, Mutex, Weak};

use crate::sync::{Process, lock};

/// One thing of a kind for each device.
///
/// By device, so that a disk that hangs holds up those who use it and nobody else; by process, since
/// what the parent of a `fork` has started is not there in the child.
pub(crate) struct Registry<T> {
    entries: Mutex<Vec<Entry<T>>>,
}

struct Entry<T> {
    process: Process,
    device: u64,
    thing: Weak<T>,
}

impl<T> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Mutex::new(Vec::new()) }
    }

    /// The thing of a device, made if there is none.
    pub(crate) fn get<E>(
        &self,
        device: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let process = Process::current();
        let mut entries = lock(&self.entries);
        entries.retain(|entry| entry.thing.strong_count() > 0);
        let known = entries.iter().find(|entry| entry.process == process && entry.device == device);
        if let Some(thing) = known.and_then(|entry| entry.thing.upgrade()) {
            return Ok(thing);
        }
        let thing = Arc::new(make()?);
        entries.push(Entry { process, device, thing: Arc::downgrade(&thing) });
        Ok(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_lives_as_long_as_someone_has_it() {
        let registry = Registry::new();
        let get = |device, value| registry.get(device, || Ok::<_, ()>(value)).unwrap();
        let one = get(1, "one");
        assert_eq!(*get(1, "another"), "one");
        assert_eq!(*get(2, "two"), "two");
        drop(one);
        assert_eq!(*get(1, "another"), "another");
        assert!(registry.get(3, || Err::<&str, _>("no")).is_err());
        assert!(lock(&registry.entries).len() <= 2);
    }
}
