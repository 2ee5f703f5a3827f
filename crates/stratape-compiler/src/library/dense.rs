//! Texts for lists of numbers of various shapes, which have most of their methods in common.

/// The texts that fit each of several types.
pub(super) fn texts(owners: &[&str], more: &str, mismatch: &str) -> String {
    let common = include_str!("dense.rs.txt").to_owned() + more;
    owners
        .iter()
        .map(|owner| common.replace("OWNER", owner).replace("MISMATCH", mismatch))
        .collect()
}
