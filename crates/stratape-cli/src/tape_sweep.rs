//! `stratape tape sweep`: what tapes of processes that were killed have left in an object store.

use std::time::Duration;

use clap::Args;

use crate::units;

/// Lists what tapes and time loops have in an object store, and removes what their owners can no longer delete.
///
/// Every owner keeps its objects below PREFIX/stratape-TOKEN/, with a heartbeat that it writes every minute. An owner whose heartbeat is older than
/// a limit is taken for dead.
#[derive(Args)]
pub(crate) struct Arguments {
    /// s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///directory; credentials come from the environment.
    url: String,
    /// Removes the objects of dead owners. Without it they are only listed.
    #[arg(long)]
    remove: bool,
    /// The age of a heartbeat from which its owner is taken for dead: 90s, 15m, 12h, 2d.
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = units::duration)]
    older_than: Duration,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

#[cfg(not(feature = "remote"))]
pub(crate) fn run(arguments: &Arguments) -> Result<(), crate::failure::Failure> {
    let Arguments { url, remove, older_than, json } = arguments;
    // What a command with object stores does with these.
    let _ = (remove, older_than, json);
    Err(crate::failure::Failure::new(format!(
        "{url} cannot be opened: this command was built without object stores. Build it with the cargo feature `remote` (directories), \
         `remote-s3`, `remote-gcs` or `remote-azure`: cargo install stratape-cli --features remote-s3"
    )))
}

#[cfg(feature = "remote")]
pub(crate) use with_stores::run;

#[cfg(feature = "remote")]
mod with_stores {
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::time::Duration;

    use serde_json::json;
    use stratape::remote::{Leftover, RemoteError, Removed, Sweep};

    use super::Arguments;
    use crate::failure::Failure;
    use crate::units::bytes;

    /// An owner, and what became of it.
    struct Owner {
        found: Leftover,
        dead: bool,
        removed: Option<Result<Removed, RemoteError>>,
    }

    pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
        let Arguments { url, remove, older_than, json } = arguments;
        let sweep = Sweep::open(url).map_err(Failure::new)?;
        let mut owners = Vec::new();
        for found in sweep.leftovers().map_err(Failure::new)? {
            let dead = found.is_dead(*older_than);
            let removed = (*remove && dead).then(|| sweep.remove(&found, *older_than));
            owners.push(Owner { found, dead, removed });
        }
        let text = if *json { as_json(&owners) } else { as_table(&owners, *remove, *older_than) };
        writeln!(std::io::stdout(), "{}", text.trim_end()).map_err(Failure::output)?;
        let failed = owners.into_iter().filter_map(|owner| owner.removed?.err());
        failed.map(|error| Err(Failure::new(error))).next().unwrap_or(Ok(()))
    }

    fn as_json(owners: &[Owner]) -> String {
        let owners: Vec<_> = owners
            .iter()
            .map(|Owner { found, dead, removed }| {
                json!({
                    "token": found.token,
                    "objects": found.objects,
                    "bytes": found.bytes,
                    "foreign": found.foreign,
                    "age_seconds": found.age.as_secs_f64(),
                    "heartbeat": found.every.is_some(),
                    "dead": dead,
                    "removed": matches!(removed, Some(Ok(_))),
                })
            })
            .collect();
        json!({ "owners": owners }).to_string()
    }

    fn as_table(owners: &[Owner], remove: bool, older_than: Duration) -> String {
        if owners.is_empty() {
            return "nothing of a tape is there".to_owned();
        }
        let mut text = String::new();
        for Owner { found, dead, removed } in owners {
            let state = match (dead, removed) {
                (_, Some(Ok(_))) => "removed",
                (_, Some(Err(_))) => "not removed",
                (true, None) => "dead",
                (false, None) => "alive",
            };
            let heard =
                if found.every.is_some() { "heartbeat" } else { "no heartbeat, last object" };
            let _ = writeln!(
                text,
                "{}  {state:<11}  {} objects, {}, {heard} {} ago",
                found.token,
                found.objects,
                bytes(found.bytes),
                ago(found.age)
            );
        }
        let dead = owners.iter().filter(|owner| owner.dead).count();
        if !remove {
            let limit = ago(older_than);
            let _ = writeln!(
                text,
                "{dead} dead (not heard of for {limit}); `--remove` removes their objects"
            );
        }
        text
    }

    /// A length of time in the unit that suits it.
    fn ago(time: Duration) -> String {
        let seconds = time.as_secs();
        match seconds {
            0..120 => format!("{seconds} s"),
            120..7200 => format!("{} min", seconds / 60),
            7200..172_800 => format!("{} h", seconds / 3600),
            _ => format!("{} days", seconds / 86_400),
        }
    }
}
