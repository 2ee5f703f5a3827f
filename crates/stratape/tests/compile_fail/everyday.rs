#[stratape::differentiable]
mod model {
    use std::collections::HashMap;
    use std::ops::{Index, IndexMut};

    pub trait Layer {
        fn forward(&self, x: f64) -> f64;
    }

    pub struct Scale(f64);

    impl Layer for Scale {
        fn forward(&self, x: f64) -> f64 {
            self.0 * x
        }
    }

    pub enum Tree {
        Leaf(f64),
        Sum(Box<Tree>, Box<Tree>),
    }

    pub struct Counted {
        values: Vec<f64>,
        written: usize,
    }

    impl Index<usize> for Counted {
        type Output = f64;

        fn index(&self, at: usize) -> &f64 {
            &self.values[at]
        }
    }

    impl IndexMut<usize> for Counted {
        fn index_mut(&mut self, at: usize) -> &mut f64 {
            self.written += 1;
            &mut self.values[at]
        }
    }

    pub struct Square<const N: usize>([[f64; N]; N]);

    impl<const N: usize> Square<N> {
        fn zeros() -> Self {
            Square([[0.0; N]; N])
        }
    }

    fn scaled(by: f64, x: f64) -> f64 {
        by * x
    }

    #[gradient]
    pub fn threads(x: &[f64]) -> f64 {
        x.par_iter().sum()
    }

    #[gradient]
    pub fn trait_objects(x: &[f64]) -> f64 {
        let layers: Vec<Box<dyn Layer>> = vec![Box::new(Scale(x[0]))];
        layers[0].forward(x[1])
    }

    #[gradient]
    pub fn tree(x: &[f64]) -> f64 {
        let tree = Tree::Sum(Box::new(Tree::Leaf(x[0])), Box::new(Tree::Leaf(x[1])));
        x[0]
    }

    #[gradient]
    pub fn map(x: &[f64]) -> f64 {
        let known: HashMap<usize, f64> = HashMap::new();
        x[0]
    }

    #[gradient]
    pub fn counted(x: &[f64]) -> f64 {
        let mut counted = Counted { values: x.to_vec(), written: 0 };
        counted[0] = 1.0;
        counted[0] * counted.written as f64
    }

    #[gradient]
    pub fn parameter_that_does_not_show(x: &[f64]) -> f64 {
        let mut m = Square::zeros();
        m.0[0][0] = x[0];
        let Square::<2>([[a, _], _]) = m;
        a
    }

    #[gradient]
    pub fn type_that_is_not_written(x: &[f64]) -> f64 {
        let wide = 2_u8.into();
        scaled(wide, x[0])
    }

    #[gradient]
    pub fn letter(x: &[f64]) -> f64 {
        if 'a' < 'b' { x[0] } else { x[1] }
    }
}

fn main() {}
