//! Lists in variables that are assigned later: the best of several, what `break` hands out, options of lists.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences at the inputs given.

programs_at! {
    the_best_of_several_lists: [[0.3, 1.2, 0.7], [-0.4, 0.9]],
    the_best_with_its_score: [[0.3, 1.2, 0.7, 1.1], [2.0, 0.4, -0.3]],
    lists_reduced_to_one: [[0.3, 1.2, 0.7]],
    a_list_that_break_hands_out: [[0.3, 1.2, 0.7]],
    a_list_in_use_while_its_variable_is_assigned: [[0.7, 0.9, 1.2]],
    a_list_first_written_in_a_branch: [[0.7, 0.9, 1.2], [0.2, 0.9, 1.2]],
}

#[stratape::differentiable]
mod the_best_of_several_lists {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<Vec<f64>> = None;
        for i in 0..x.len() {
            let c: Vec<f64> = x.iter().map(|v| v * x[i]).collect();
            let better = match &best {
                None => true,
                Some(b) => c.iter().sum::<f64>() > b.iter().sum::<f64>(),
            };
            if better {
                best = Some(c);
            }
        }
        match best {
            Some(b) => b.iter().map(|v| v.sin()).sum(),
            None => 0.0,
        }
    }
}

#[stratape::differentiable]
mod the_best_with_its_score {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut best: Option<(f64, Vec<f64>)> = None;
        for w in x.windows(2) {
            let score = w[0] * w[1];
            if best.as_ref().map_or(true, |(s, _)| score > *s) {
                best = Some((score, w.to_vec()));
            }
        }
        let (s, v) = best.unwrap();
        s + v.iter().product::<f64>()
    }
}

#[stratape::differentiable]
mod lists_reduced_to_one {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let rows = vec![vec![x[0], x[1]], vec![x[1], x[2]], vec![x[2], x[0]]];
        let r =
            rows.into_iter().reduce(|a, b| a.iter().zip(&b).map(|(p, q)| p * q).collect()).unwrap();
        r[0] + 2.0 * r[1]
    }
}

#[stratape::differentiable]
mod a_list_that_break_hands_out {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut u = x.to_vec();
        let r = loop {
            u = u.iter().map(|v| v * 1.5).collect();
            if u[0] > 3.0 {
                break u;
            }
        };
        r.iter().sum()
    }
}

#[stratape::differentiable]
mod a_list_in_use_while_its_variable_is_assigned {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut cur = Some(x.to_vec());
        let mut s = 0.0;
        let mut n = 0;
        while let Some(v) = cur {
            n += 1;
            cur = if n < 4 { Some(v.iter().map(|t| t * t).collect()) } else { None };
            s += v[0] * v[1];
        }
        s
    }
}

#[stratape::differentiable]
mod a_list_first_written_in_a_branch {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let v;
        if x[0] > 0.5 {
            v = vec![x[0], x[1]];
        } else {
            v = x.to_vec();
        }
        v.iter().map(|t| t * t).sum()
    }
}
