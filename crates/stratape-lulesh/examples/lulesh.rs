//! What the energy at the origin of a blast owes to the energy everywhere before it.
//!
//! The Sedov blast of LULESH, in a gas with a little energy of its own, runs for some steps. One gradient through the whole time loop gives the
//! derivative of the last energy of the element at the origin with respect to the first energy of every element. Both are
//! drawn as SVG, on the plane z = 0.
//!
//! The blast is symmetric, its gradient is not: in every step a single element limits how long the step may be, and the number of steps, not the time,
//! is what is fixed. So the few elements that were the limit have a say in the time that is reached, and with it in all energies.
//!
//! ```text
//! cargo run --release --example lulesh -p stratape-lulesh
//! cargo run --release --example lulesh -p stratape-lulesh -- SIZE [STEPS [PICTURE.svg]]
//! ```

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use stratape::Workspace;
use stratape::tape::TapeOptions;
use stratape_lulesh::{Problem, Run, STOP_TIME, Vec3, evolve_grad_in, run};

/// The gas around the blast has this much of its energy in every element, so that none is empty and the gradient is defined with respect to all.
const WARMTH: f64 = 1e-4;
/// Memory for the tape; what is more goes to disk.
const MEMORY: usize = 1 << 30;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let edge = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let steps = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| "lulesh.svg".to_owned()));
    if edge < 2 {
        return Err("a mesh has at least two elements along an edge".into());
    }
    let problem = blast(edge);

    let begun = Instant::now();
    let end = run(&problem.mesh, &problem.position, &problem.energy, steps);
    let run_took = begun.elapsed();

    let options = TapeOptions::new().memory(MEMORY).spill_to(std::env::temp_dir());
    let mut workspace = Workspace::with(options)?;
    let mut energy = problem.energy.clone();
    let mut by_position = vec![Vec3::ZERO; problem.position.len()];
    // Before: the weights of the last energies. Afterwards: the derivatives with respect to the first ones.
    let mut by_energy = vec![0.0; energy.len()];
    by_energy[0] = 1.0;
    let begun = Instant::now();
    let time = evolve_grad_in(
        &mut workspace,
        &problem.mesh,
        &problem.position,
        &mut by_position,
        &mut energy,
        &mut by_energy,
        steps,
        0.0,
    )?;
    let gradient_took = begun.elapsed();

    println!(
        "{edge}³ elements, {} cycles to t = {time:.6e}: {:.3} s, with the gradient {:.3} s and {:.0} MiB of tape",
        end.clock.cycle,
        run_took.as_secs_f64(),
        gradient_took.as_secs_f64(),
        workspace.last_bytes() as f64 / f64::from(1 << 20)
    );
    println!("energy at the origin: {:.6} → {:.6}", problem.energy[0], energy[0]);
    println!(
        "its gradient: norm {:.6e} by the energies, {:.6e} by the coordinates",
        by_energy.iter().map(|d| d * d).sum::<f64>().sqrt(),
        by_position.iter().map(|d| d.dot(*d)).sum::<f64>().sqrt()
    );
    // Near the stop time the last steps are fitted to it.
    if STOP_TIME - time > 2.0 * end.clock.dt {
        // Energies times λ are the same run with all energies times λ: Euler's identity for the gradient.
        let sum: f64 = problem.energy.iter().zip(&by_energy).map(|(e, d)| e * d).sum();
        let error = (sum / energy[0] - 1.0).abs();
        println!("sum of energies times derivatives: {sum:.6}, off by {error:.1e}");
        if error > 1e-9 {
            return Err("the gradient is not that of a homogeneous function".into());
        }
    } else {
        println!("the run has come to the stop time, which does not scale with the energies");
    }
    std::fs::write(&path, picture(&problem, &end, &by_energy))?;
    println!("drawn in {}", path.display());
    Ok(())
}

/// The Sedov blast in a gas that is not empty. The energies differ a little, so that no two elements allow the same length of a step.
fn blast(edge: usize) -> Problem {
    let mut problem = Problem::sedov(edge);
    let blast = problem.energy[0];
    for (element, energy) in problem.energy.iter_mut().enumerate() {
        let turn = (element as f64 * 0.618_033_988_749_895).fract();
        *energy += WARMTH * blast * (1.0 + 0.01 * turn);
    }
    problem
}

/// Four corners, and where the number is on its scale.
type Cell = ([[f64; 2]; 4], f64);

/// Numbers as colours: `low` is the first colour, `high` the last.
struct Scale {
    colours: &'static [[u8; 3]],
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

/// From dark to bright (viridis).
const SEQUENTIAL: &[[u8; 3]] = &[
    [68, 1, 84],
    [72, 40, 120],
    [62, 73, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

/// From blue through next to white to red.
const DIVERGING: &[[u8; 3]] = &[
    [5, 48, 97],
    [33, 102, 172],
    [67, 147, 195],
    [146, 197, 222],
    [209, 229, 240],
    [247, 247, 247],
    [253, 219, 199],
    [244, 165, 130],
    [214, 96, 77],
    [178, 24, 43],
    [103, 0, 31],
];

impl Scale {
    /// Powers of ten between two numbers; where there are few, also twice and five times them.
    fn logarithmic(low: f64, high: f64) -> Self {
        let (low, high) = (low.log10(), high.log10().max(low.log10() + 1e-3));
        let factors: &[u8] = if high - low < 2.0 { &[1, 2, 5] } else { &[1] };
        let mut ticks = Vec::new();
        for decade in low.floor() as i32..=high.ceil() as i32 {
            for factor in factors {
                let at = f64::from(decade) + f64::from(*factor).log10();
                if (low..=high).contains(&at) {
                    ticks.push((at, power(*factor, decade)));
                }
            }
        }
        Self { colours: SEQUENTIAL, low, high, ticks }
    }

    /// Decades on both sides of zero, `decades` of them up to the largest number; what is smaller counts as zero. Also where a number is on it.
    fn symmetric(largest: f64, decades: i32) -> (Self, impl Fn(f64) -> f64) {
        let top = largest.log10();
        let lowest = top.floor() as i32 - decades;
        let end = top - f64::from(lowest);
        let position = move |number: f64| {
            let decades = number.abs().log10() - f64::from(lowest);
            if decades > 0.0 { decades.copysign(number) } else { 0.0 }
        };
        let mut ticks = vec![(0.0, "0".to_owned())];
        for decade in 1..=decades {
            let text = power(1, lowest + decade);
            ticks.push((f64::from(-decade), format!("−{text}")));
            ticks.push((f64::from(decade), text));
        }
        (Self { colours: DIVERGING, low: -end, high: end, ticks }, position)
    }

    fn part(&self, position: f64) -> f64 {
        ((position - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn colour(&self, position: f64) -> String {
        let at = self.part(position) * (self.colours.len() - 1) as f64;
        let first = (at as usize).min(self.colours.len() - 2);
        let mixed: [u8; 3] = std::array::from_fn(|channel| {
            let [from, to] = [first, first + 1].map(|i| f64::from(self.colours[i][channel]));
            (from + (to - from) * (at - first as f64)).round() as u8
        });
        format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
    }
}

/// `factor` times a power of ten, in words: 1, 5, 0.2, 2·10⁵.
fn power(factor: u8, exponent: i32) -> String {
    match exponent {
        0..=2 => format!("{}", u32::from(factor) * 10_u32.pow(exponent.unsigned_abs())),
        -2..0 => format!("{}", f64::from(factor) / 10_f64.powi(-exponent)),
        _ => {
            let raised: String = exponent
                .to_string()
                .chars()
                .map(|c| {
                    c.to_digit(10).map_or('⁻', |digit| {
                        "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(c)
                    })
                })
                .collect();
            if factor == 1 { format!("10{raised}") } else { format!("{factor}·10{raised}") }
        }
    }
}

/// The last energies where the elements are at last, and the derivatives where they were at first.
fn picture(problem: &Problem, end: &Run, by_energy: &[f64]) -> String {
    let edge = problem.mesh.cells[0];
    // The elements of the lowest layer, which are the first ones. Their lower faces lie in the plane z = 0.
    let layer = edge * edge;
    let cells = |nodes: &[Vec3], position: &dyn Fn(usize) -> f64| -> Vec<Cell> {
        let corners = &problem.mesh.corners[..layer];
        let face = |element: usize| {
            std::array::from_fn(|at| {
                let node = nodes[corners[element][at]];
                [node.x, node.y]
            })
        };
        (0..layer).map(|element| (face(element), position(element))).collect()
    };

    let energies: Vec<f64> = end.state.material[..layer].iter().map(|m| m.energy).collect();
    let least = energies.iter().copied().fold(f64::MAX, f64::min).max(f64::MIN_POSITIVE);
    let most = energies.iter().copied().fold(least, f64::max);
    let energy = Scale::logarithmic(least, most);
    let energy_cells = cells(&end.state.position, &|element| energies[element].max(least).log10());

    let largest = by_energy[..layer].iter().fold(f64::MIN_POSITIVE, |most, d| most.max(d.abs()));
    let (derivative, position) = Scale::symmetric(largest, 4);
    let derivative_cells = cells(&problem.position, &|element| position(by_energy[element]));

    // Far from the blast nothing has happened: what is shown is the corner where something has, with some room around it.
    let moved = |element: usize| {
        energies[element] > 1.5 * problem.energy[element] || position(by_energy[element]) != 0.0
    };
    let reached =
        (0..layer).filter(|element| moved(*element)).map(|at| (at % edge).max(at / edge) + 1);
    let shown = (reached.max().unwrap_or(edge) + 2).min(edge);
    let outermost = |cells: &[Cell]| {
        let corners = cells.iter().flat_map(|cell| cell.0).flatten();
        corners.fold(0.0, f64::max)
    };
    let view = if shown == edge {
        outermost(&energy_cells).max(outermost(&derivative_cells))
    } else {
        problem.position[shown].x
    };

    let mut drawing = Drawing::new();
    let cycles = end.clock.cycle;
    drawing.panel(&Panel {
        left: 70.0,
        title: format!("Energy after {cycles} steps"),
        note: "per initial volume, in LULESH’s units; the mesh as it has moved".to_owned(),
        view,
        cells: energy_cells,
        scale: energy,
    });
    drawing.panel(&Panel {
        left: 620.0,
        title: "Sensitivity of the origin’s last energy".to_owned(),
        note: "∂e₀(end)/∂eₖ(start), no unit; the mesh as it was at first".to_owned(),
        view,
        cells: derivative_cells,
        scale: derivative,
    });
    drawing.finish(&format!(
        "LULESH, {edge}³ elements, t = {:.3e}, plane z = 0{}",
        end.clock.time,
        if shown < edge {
            format!(", the corner of {shown} × {shown} elements")
        } else {
            String::new()
        }
    ))
}

/// A field on a square of the plane, with its axes and its scale.
struct Panel {
    left: f64,
    title: String,
    note: String,
    /// What is shown reaches from 0 to here along both axes.
    view: f64,
    cells: Vec<Cell>,
    scale: Scale,
}

/// The text of an SVG file.
struct Drawing(String);

const WIDTH: f64 = 1120.0;
const HEIGHT: f64 = 560.0;
/// The side of a panel's square, and where it begins below the top.
const SIDE: f64 = 400.0;
const TOP: f64 = 100.0;

/// Dark on light or light on dark, as the reader has it; the colours of the fields are the same on both.
const STYLE: &str = "text{font-family:sans-serif;font-size:13px;fill:#222}.title{font-size:16px;font-weight:bold}.note{fill:#555}\
    .paper{fill:#fff}.frame{fill:none;stroke:#555}.cell{stroke:#808080;stroke-opacity:.45;stroke-width:.6}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}.note{fill:#aaa}.paper{fill:#181818}.frame{stroke:#aaa}}";

impl Drawing {
    fn new() -> Self {
        Self(String::new())
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, text: &str) {
        self.0 += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>\n"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.0 += &format!(
            "<path class=\"frame\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>\n",
            from.0, from.1, to.0, to.1
        );
    }

    fn panel(&mut self, panel: &Panel) {
        let Panel { left, title, note, view, cells, scale } = panel;
        let (left, bottom) = (*left, TOP + SIDE);
        let on_paper = |[x, y]: [f64; 2]| (left + SIDE * x / view, bottom - SIDE * y / view);
        self.text((left, 66.0), "start", "title", title);
        self.text((left, 86.0), "start", "note", note);
        let name = format!("square{left}");
        self.0 += &format!(
            "<clipPath id=\"{name}\"><rect x=\"{left}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\"/></clipPath>\n\
             <g class=\"cell\" clip-path=\"url(#{name})\">\n"
        );
        for (corners, position) in cells {
            if corners.iter().all(|[x, y]| x.max(*y) > 1.02 * view) {
                continue;
            }
            let points: Vec<String> = corners
                .map(|corner| {
                    let (x, y) = on_paper(corner);
                    format!("{x:.1},{y:.1}")
                })
                .to_vec();
            let colour = scale.colour(*position);
            self.0 += &format!("<polygon points=\"{}\" fill=\"{colour}\"/>\n", points.join(" "));
        }
        self.0 += "</g>\n";
        self.0 += &format!(
            "<rect class=\"frame\" x=\"{left}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\"/>\n"
        );
        self.axes(left, *view);
        self.bar(left + SIDE + 20.0, scale);
    }

    fn axes(&mut self, left: f64, view: f64) {
        let bottom = TOP + SIDE;
        let (spacing, digits) = if view > 0.6 { (0.25, 2) } else { (0.1, 1) };
        for number in 0..=(view / spacing) as usize {
            let at = number as f64 * spacing;
            let by = SIDE * at / view;
            self.line((left + by, bottom), (left + by, bottom + 5.0));
            self.line((left, bottom - by), (left - 5.0, bottom - by));
            let text = format!("{at:.digits$}");
            self.text((left + by, bottom + 20.0), "middle", "", &text);
            self.text((left - 9.0, bottom - by + 4.0), "end", "", &text);
        }
        self.text((left + 0.5 * SIDE, bottom + 40.0), "middle", "note", "x");
        self.text((left - 50.0, bottom - 0.5 * SIDE), "middle", "note", "y");
    }

    fn bar(&mut self, left: f64, scale: &Scale) {
        let (width, name) = (16.0, format!("bar{left}"));
        self.0 += &format!("<linearGradient id=\"{name}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">");
        let last = scale.colours.len() - 1;
        for (number, [red, green, blue]) in scale.colours.iter().enumerate() {
            let at = number as f64 / last as f64;
            self.0 += &format!(
                "<stop offset=\"{at:.3}\" stop-color=\"#{red:02x}{green:02x}{blue:02x}\"/>"
            );
        }
        self.0 += &format!(
            "</linearGradient>\n<rect class=\"frame\" x=\"{left}\" y=\"{TOP}\" width=\"{width}\" height=\"{SIDE}\" style=\"fill:url(#{name})\"/>\n"
        );
        for (position, text) in &scale.ticks {
            let y = TOP + SIDE * (1.0 - scale.part(*position));
            self.line((left + width, y), (left + width + 5.0, y));
            self.text((left + width + 9.0, y + 4.0), "start", "", text);
        }
    }

    fn finish(self, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
             <text x=\"70\" y=\"30\" class=\"note\">{title}</text>\n{}</svg>\n",
            self.0
        )
    }
}
