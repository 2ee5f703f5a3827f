//! Structs that hold references to structs with lists: what they are made of and handed to leaves the lists where they are.

#![allow(clippy::all, clippy::pedantic, reason = "the constructs under test")]

#[stratape::differentiable]
#[allow(unreachable_pub)]
mod borrowed {
    struct Grid {
        data: Vec<f64>,
        scale: f64,
    }

    #[derive(Clone, Copy)]
    struct View<'a> {
        grid: &'a Grid,
        list: &'a Vec<f64>,
        at: usize,
    }

    struct Wider<'a> {
        grid: &'a Grid,
        by: f64,
    }

    impl<'a> View<'a> {
        fn wider(self, by: f64) -> Wider<'a> {
            Wider { grid: self.grid, by }
        }

        fn here(self) -> f64 {
            self.grid.data[self.at] + self.list[0]
        }
    }

    impl Wider<'_> {
        fn sum(&self) -> f64 {
            self.grid.data.iter().sum::<f64>() * self.by * self.grid.scale
        }
    }

    fn taken(view: View<'_>) -> f64 {
        let grid = view.grid;
        grid.data[0] * grid.data.len() as f64
    }

    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut list = x.to_vec();
        let mut grid = Grid { data: Vec::new(), scale: x[0] };
        grid.data = x.iter().map(|v| v * v).collect();
        list = list.iter().map(|v| v * 2.0).collect();
        let view = View { grid: &grid, list: &list, at: 1 };
        let first = view.wider(2.0).sum() + taken(view) + view.here();
        first
            + View { grid: &grid, list: &list, at: 0 }.wider(x[1]).sum()
            + grid.data.iter().sum::<f64>()
            + list[1]
    }
}

#[test]
fn lists_stay_where_they_are() {
    let x = [1.5, -0.5, 2.0];
    let mut dx = [0.0; 3];
    let value = borrowed::f_grad(&x, &mut dx, 1.0);
    assert!((value - borrowed::f(&x)).abs() < 1e-12);
    for i in 0..3 {
        let at = |by: f64| {
            let mut x = x;
            x[i] += by;
            borrowed::f(&x)
        };
        let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!(
            (dx[i] - wanted).abs() < 1e-6 * wanted.abs().max(1.0),
            "{i}: {} is not {wanted}",
            dx[i]
        );
    }
}
