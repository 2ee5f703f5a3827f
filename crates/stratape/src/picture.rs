//! Pictures of a run of yours, as SVG: what the layers of a tape held over time, how a time loop was reversed, how a descent went.
//!
//! | call | draws | needs |
//! |---|---|---|
//! | [`picture::tape`](tape) | what lived on the tape of a [`Workspace`], in memory and on disk, and its memory budget | [`TapeOptions::record`](crate::tape::TapeOptions::record) |
//! | [`picture::time_loop`](time_loop) | which steps of a [`TimeLoop`](crate::checkpoint::TimeLoop) were run and reversed when, and which snapshots were held | [`TimeLoop::record`](crate::checkpoint::TimeLoop::record) |
//! | the same, of [`Workspace::loops`] | loops under `#[checkpoint]` in a gradient | [`TapeOptions::record`](crate::tape::TapeOptions::record) |
//! | [`picture::descent`](descent) | the values that an optimiser found, on a logarithmic axis | nothing |
//!
//! ```
//! use stratape::{Workspace, gradient, picture, tape::TapeOptions};
//!
//! #[gradient]
//! fn orbit(x0: f64, n: usize) -> f64 {
//!     let mut x = x0;
//!     for _ in 0..n {
//!         x = 0.9 * x.sin() + 0.1 * x * x;
//!     }
//!     x
//! }
//!
//! let options = TapeOptions::new().memory(1 << 20).record(true);
//! let mut workspace = Workspace::with(options)?;
//! orbit_grad_in(&mut workspace, 1.0, 1_000_000, 1.0)?;
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! picture::tape(&workspace).title("The tape of an orbit").save(directory.join("orbit.svg"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The pictures follow the colour scheme of the system, light or dark. They need nothing beside them, and may be part of a page as
//! they are. The data flow of a gradient is drawn by `stratape explain FILE.rs FUNCTION --emit dot`, without a run.

mod course;
mod descent;
mod layers;
mod plot;
mod svg;

use std::fmt;
use std::io;
use std::path::Path;

use stratape_checkpoint::{Course, Report};
use stratape_tape::Sample;

use crate::Workspace;

/// A picture, to be printed or saved as SVG.
///
/// ```
/// use stratape::picture;
///
/// let svg = picture::descent(&[1.0, 0.1, 1e-4]).title("The fit").size(400, 300).to_string();
/// assert!(svg.starts_with("<svg ") && svg.contains("The fit"));
/// ```
#[derive(Clone, Debug)]
pub struct Picture {
    content: Content,
    title: String,
    size: (u32, u32),
}

/// What is drawn.
#[derive(Clone, Debug)]
enum Content {
    /// What the layers held, and the memory budget.
    Layers(Vec<Sample>, u64),
    /// A loop of so many steps.
    Course(Course, usize),
    Descent(Vec<f64>),
    /// Why there is nothing to draw.
    Nothing(&'static str),
}

impl Picture {
    fn new(content: Content, title: &str) -> Self {
        Self { content, title: title.to_owned(), size: (860, 340) }
    }

    /// Another title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Width and height in pixels, 860 and 340 by default, at least 240 and 200, at most 10 000 each. Letters keep their size: draw a smaller
    /// picture for a narrow page.
    #[must_use]
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = (width.clamp(240, 10_000), height.clamp(200, 10_000));
        self
    }

    /// Whether there was nothing to draw, and the picture says why.
    ///
    /// ```
    /// let workspace = stratape::Workspace::new();
    /// let picture = stratape::picture::tape(&workspace);
    /// assert!(picture.is_empty() && picture.to_string().contains("record(true)"));
    /// ```
    pub fn is_empty(&self) -> bool {
        matches!(self.content, Content::Nothing(_))
    }

    /// Writes the picture to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.to_string())
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, size) = (self.title.as_str(), self.size);
        f.write_str(&match &self.content {
            Content::Layers(samples, budget) => layers::draw(samples, *budget, title, size),
            Content::Course(course, steps) => course::draw(course, *steps, title, size),
            Content::Descent(values) => descent::draw(values, title, size),
            Content::Nothing(why) => plot::Plot::without_axes(title, size, why),
        })
    }
}

/// What the layers of a workspace's tapes held over time, in the last gradient: one on the other, from what is in memory only to what is on
/// disk only, with the memory budget as a line, and marks where the gradient waited for the disk. The backward pass begins where
/// the tape is longest.
///
/// The workspace must have been opened with [`TapeOptions::record`](crate::tape::TapeOptions::record); the [module](self) has an example. The
/// tapes of parallel loops are added up.
pub fn tape(workspace: &Workspace) -> Picture {
    const TITLE: &str = "What the tape held over time";
    if !workspace.is_recorded() {
        let why = "The tape did not record what it held: open the workspace with TapeOptions::record(true).";
        return Picture::new(Content::Nothing(why), TITLE);
    }
    if !workspace.is_used() {
        return Picture::new(Content::Nothing("No gradient has run yet."), TITLE);
    }
    let samples = layers::merged(&workspace.samples());
    if samples.len() < 2 {
        let why = "The tape fits into one slab: there is nothing to see. TapeOptions::slab_bytes makes slabs smaller.";
        return Picture::new(Content::Nothing(why), TITLE);
    }
    Picture::new(Content::Layers(samples, workspace.stats().memory), TITLE)
}

/// Which steps of a loop were run and reversed when, and which snapshots were held.
///
/// The loop must have been [recorded](crate::checkpoint::TimeLoop::record). Of a loop under `#[checkpoint]`, the report is one of
/// [`Workspace::loops`].
///
/// ```
/// use stratape::{checkpoint::{Strategy, TimeLoop}, picture};
///
/// let (_, _, report) = TimeLoop::new(0.5_f64)
///     .steps(100)
///     .slots(5)
///     .schedule(Strategy::Revolve)
///     .record(true)
///     .gradient(|_, x| *x = x.sin(), |_| 1.0, |_, x, dx| *dx *= x.cos())?;
/// let svg = picture::time_loop(&report).to_string();
/// assert!(svg.contains("Revolve, 5 slots in memory") && svg.contains("backward pass"));
/// # Ok::<(), stratape::checkpoint::CheckpointError>(())
/// ```
pub fn time_loop(report: &Report) -> Picture {
    let plural = if report.steps == 1 { "" } else { "s" };
    let title = format!("{} step{plural} reversed by {}", report.steps, report.schedule);
    let content = match &report.course {
        Some(course) if !course.spans.is_empty() => Content::Course(course.clone(), report.steps),
        Some(_) => Content::Nothing("No step was run."),
        None if report.workers > 0 => Content::Nothing("A run on several cores is not recorded."),
        None => Content::Nothing(
            "The run was not recorded: call TimeLoop::record(true), or for #[checkpoint] TapeOptions::record(true).",
        ),
    };
    Picture::new(content, &title)
}

/// The values that an optimiser found, one for each iteration, on a logarithmic axis. What is not above zero, or not finite, is left out; of very
/// many values, the least and the greatest of each stretch are drawn.
///
/// ```
/// let svg = stratape::picture::descent(&[3.0, 0.2, 0.01]).to_string();
/// assert!(svg.contains("iteration"));
/// ```
pub fn descent(values: &[f64]) -> Picture {
    const TITLE: &str = "The value over the iterations";
    if values.iter().filter(|value| value.is_finite() && **value > 0.0).count() < 2 {
        return Picture::new(Content::Nothing("Fewer than two finite values above zero."), TITLE);
    }
    Picture::new(Content::Descent(values.to_vec()), TITLE)
}
