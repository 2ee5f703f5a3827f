//! `stratape tape sweep` on a directory with live and dead owners.

use std::error::Error;
use std::process::{Command, Output};

type Outcome = Result<(), Box<dyn Error>>;

fn sweep(arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratape"));
    Ok(command.args(["tape", "sweep"]).args(arguments).output()?)
}

#[test]
fn lengths_of_time_that_are_none() -> Outcome {
    let output = sweep(&["file:///tmp", "--older-than", "soon"])?;
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr)?.contains("90s, 15m, 12h or 2d"));
    Ok(())
}

#[test]
#[cfg(not(feature = "remote"))]
fn without_the_feature_the_command_says_which() -> Outcome {
    let output = sweep(&["s3://bucket/prefix"])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("--features remote-s3"));
    Ok(())
}

#[cfg(feature = "remote")]
mod with_stores {
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use stratape::remote::RemoteTier;

    use super::{Outcome, sweep};

    const DEAD: &str = "00000000000000000000000000000dad";

    fn leave(directory: &Path, name: &str, age: Duration) -> Outcome {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        fs::write(&path, "12345")?;
        File::options().write(true).open(&path)?.set_modified(SystemTime::now() - age)?;
        Ok(())
    }

    #[test]
    fn the_dead_are_listed_and_removed_when_asked() -> Outcome {
        let directory = tempfile::tempdir()?;
        let url = format!("file://{}", directory.path().display());
        let live = RemoteTier::open(&url)?;
        let days = Duration::from_secs(3 * 24 * 60 * 60);
        leave(directory.path(), &format!("stratape-{DEAD}/slab-0-0-0"), days)?;
        leave(directory.path(), &format!("stratape-{DEAD}/heartbeat"), days)?;
        leave(directory.path(), "mine/slab-0-0-0", days)?;

        let listed = String::from_utf8(sweep(&[&url])?.stdout)?;
        assert!(listed.contains(DEAD) && listed.contains(live.token()), "{listed}");
        assert!(listed.contains("1 dead") && listed.contains("heartbeat 3 days ago"), "{listed}");
        let output = sweep(&[&url, "--json", "--older-than", "7d", "--remove"])?;
        let object: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(object["owners"][0]["token"], DEAD);
        assert_eq!(
            (&object["owners"][0]["dead"], &object["owners"][0]["objects"]),
            (&false.into(), &2.into())
        );
        assert!(directory.path().join(format!("stratape-{DEAD}/heartbeat")).exists());

        let output = sweep(&[&url, "--remove"])?;
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8(output.stdout)?.contains("removed"));
        assert!(!directory.path().join(format!("stratape-{DEAD}")).exists());
        assert!(directory.path().join("mine/slab-0-0-0").exists());
        // Not the live one either, however short the time.
        sweep(&[&url, "--remove", "--older-than", "0s"])?;
        assert!(directory.path().join(format!("stratape-{}/heartbeat", live.token())).exists());
        live.close()?;
        assert!(String::from_utf8(sweep(&[&url])?.stdout)?.contains("nothing"));
        Ok(())
    }

    #[test]
    fn a_url_that_names_no_store_is_an_error() -> Outcome {
        let output = sweep(&["bucket/prefix"])?;
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr)?.contains("s3://bucket/prefix"));
        Ok(())
    }
}
