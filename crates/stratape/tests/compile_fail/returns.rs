#[stratape::differentiable]
mod helpers {
    fn part(x: &[f64], n: usize) -> &[f64] {
        if n == 0 {
            return &x[1..];
        }
        &x[..n]
    }

    fn list(x: f64, n: usize) -> Vec<f64> {
        if n == 0 {
            return vec![x; 2];
        }
        vec![x; n]
    }

    #[gradient]
    pub fn returns_a_slice_early(x: &[f64], n: usize) -> f64 {
        part(x, n)[0]
    }

    #[gradient]
    pub fn returns_a_list_early(x: f64, n: usize) -> f64 {
        list(x, n)[0]
    }

    #[gradient]
    pub fn closure_of_unknown_type(x: f64) -> f64 {
        let pair = |v: f64| {
            if v > 0.0 {
                return (v, 1.0);
            }
            (1.0, v)
        };
        pair(x).0
    }
}

fn main() {}
