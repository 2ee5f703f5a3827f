//! Memory: what is behind `&` is not written.

use super::Fault;
use crate::{Function, ObjectId, Origin, Stmt, walk};

pub(super) fn check(function: &Function) -> Result<(), Fault> {
    let is_shared = |object: ObjectId| function.objects[object.index()].origin == Origin::Ref;
    let mut outcome = Ok(());
    walk(&function.body, &mut |node| {
        let mut written: Vec<ObjectId> = node.written().iter().map(|place| place.object).collect();
        if let Stmt::Loop(node) = node
            && let Some(strip) = node.schedule.as_ref().and_then(|known| known.strip.as_ref())
        {
            let mutable = strip.views.iter().filter(|view| view.mutable);
            written.extend(mutable.map(|view| view.object));
        }
        if let Some(object) = written.into_iter().find(|object| is_shared(*object))
            && outcome.is_ok()
        {
            outcome = Err(Fault::new("memory", format!("{object:?} is behind `&`, and written")));
        }
    });
    outcome
}
