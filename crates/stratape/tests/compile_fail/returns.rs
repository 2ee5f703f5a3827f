#[stratape::differentiable]
mod helpers {
    fn list(x: f64, n: usize) -> Vec<f64> {
        if n == 0 {
            return vec![x; 2];
        }
        vec![x; n]
    }

    #[gradient]
    pub fn returns_a_list_early(x: f64, n: usize) -> f64 {
        list(x, n)[0]
    }

}

fn main() {}
