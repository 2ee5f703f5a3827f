use std::time::Instant;
use stratape_lulesh::*;
fn main() {
    let (s, n): (usize, usize) = (std::env::args().nth(1).unwrap().parse().unwrap(), std::env::args().nth(2).unwrap().parse().unwrap());
    let p = Problem::sedov(s);
    let r = run(&p.mesh, &p.position, &p.energy, n);
    println!("A cycles {} t {:.12e} J1 {:.17} J2 {:.17}", r.clock.cycle, r.clock.time, r.state.material[0].energy, r.state.material.iter().map(|m| m.energy).sum::<f64>());
    let p = Problem::generic(s);
    let r = run(&p.mesh, &p.position, &p.energy, n);
    println!("B cycles {} t {:.12e} J1 {:.17} J2 {:.17}", r.clock.cycle, r.clock.time, r.state.material[0].energy, r.state.material.iter().map(|m| m.energy).sum::<f64>());
    let es = (s * s * s * r.clock.cycle) as f64;
    let mut best = f64::MAX;
    for _ in 0..5 { let t = Instant::now(); std::hint::black_box(run(&p.mesh, &p.position, &p.energy, n)); best = best.min(t.elapsed().as_secs_f64()); }
    println!("primal {:.3} µs", best / es * 1e6);
    let (dr, de) = p.direction();
    let mut ws = stratape::Workspace::new();
    for run in 0..4 {
        let mut e = p.energy.clone();
        let mut g = vec![0.0; e.len()];
        g[0] = 1.0;
        let mut gr = vec![Vec3::ZERO; p.position.len()];
        let t = Instant::now();
        evolve_grad_in(&mut ws, &p.mesh, &p.position, &mut gr, &mut e, &mut g, n, 0.0).unwrap();
        let t = t.elapsed().as_secs_f64();
        if run == 0 {
        println!("D_r {:.15} D_e {:.15} e0 {:.15}", gr.iter().zip(&dr).map(|(a, b)| a.dot(*b)).sum::<f64>(), g.iter().zip(&de).map(|(a, b)| a * b).sum::<f64>(), g[0]);
        println!("tape {} B/elt-step", ws.last_bytes() as f64 / es);
        }
        println!("gradient {:.3} µs", t / es * 1e6);
    }
}
