//! Where a derivative does not exist, the one that is chosen.

#![allow(clippy::redundant_closure_for_method_calls, clippy::unwrap_used)]

both! {
    #[gradient]
    fn abs(x: T) -> T {
        x.abs()
    }

    #[test]
    fn abs_has_none_at_zero() {
        assert_eq!(abs_grad(0.0, 1.0), (0.0, 0.0));
        assert_eq!(abs_grad(-0.0, 1.0), (0.0, 0.0));
        assert_eq!(abs_grad(-2.0, 1.0), (2.0, -1.0));
    }

    #[gradient]
    fn max(x: T, y: T) -> T {
        x.max(y)
    }

    #[gradient]
    fn min(x: T, y: T) -> T {
        x.min(y)
    }

    #[test]
    fn ties_go_to_the_first_argument() {
        assert_eq!(max_grad(2.0, 2.0, 1.0), (2.0, 1.0, 0.0));
        assert_eq!(min_grad(2.0, 2.0, 1.0), (2.0, 1.0, 0.0));
        assert_eq!(max_grad(0.0, -0.0, 1.0).1, 1.0);
    }

    #[test]
    fn what_is_not_a_number_loses() {
        assert_eq!(max_grad(T::NAN, 2.0, 1.0), (2.0, 0.0, 1.0));
        assert_eq!(max_grad(2.0, T::NAN, 1.0), (2.0, 1.0, 0.0));
        assert_eq!(min_grad(T::NAN, 2.0, 1.0), (2.0, 0.0, 1.0));
        assert_eq!(min_grad(2.0, T::NAN, 1.0), (2.0, 1.0, 0.0));
    }

    #[gradient]
    fn clamp(x: T, low: T, high: T) -> T {
        x.clamp(low, high)
    }

    #[test]
    fn at_a_bound_clamp_passes_on_to_the_number() {
        assert_eq!(clamp_grad(1.0, 1.0, 2.0, 1.0), (1.0, 1.0, 0.0, 0.0));
        assert_eq!(clamp_grad(2.0, 1.0, 2.0, 1.0), (2.0, 1.0, 0.0, 0.0));
        assert_eq!(clamp_grad(0.5, 1.0, 2.0, 1.0), (1.0, 0.0, 1.0, 0.0));
        assert_eq!(clamp_grad(3.0, 1.0, 2.0, 1.0), (2.0, 0.0, 0.0, 1.0));
    }

    #[gradient]
    fn steps(x: T) -> T {
        x.signum() + x.floor() + x.ceil() + x.round() + x.trunc() + x.round_ties_even()
    }

    #[gradient]
    fn fract(x: T) -> T {
        x.fract()
    }

    #[test]
    fn steps_have_none() {
        for x in [0.0, 0.5, 1.0, -1.5, 2.25] {
            assert_eq!(steps_grad(x, 1.0), (steps(x), 0.0));
            assert_eq!(fract_grad(x, 1.0), (fract(x), 1.0));
        }
    }

    #[gradient]
    fn remainder(x: T, y: T) -> T {
        x % y
    }

    #[test]
    fn a_remainder_keeps_its_quotient() {
        assert_eq!(remainder_grad(7.5, 2.0, 1.0), (1.5, 1.0, -3.0));
        assert_eq!(remainder_grad(6.0, 2.0, 1.0), (0.0, 1.0, -3.0));
        assert_eq!(remainder_grad(-7.5, 2.0, 1.0), (-1.5, 1.0, 3.0));
    }

    #[gradient]
    fn powers(x: T, y: T) -> T {
        x.powf(y)
    }

    #[gradient]
    fn whole_powers(x: T, n: i32) -> T {
        x.powi(n)
    }

    #[test]
    fn powers_of_zero() {
        assert_eq!(powers_grad(0.0, 2.0, 1.0), (0.0, 0.0, 0.0));
        assert_eq!(powers_grad(0.0, 1.0, 1.0), (0.0, 1.0, 0.0));
        assert_eq!(whole_powers_grad(0.0, 0, 1.0), (1.0, 0.0));
        assert_eq!(whole_powers_grad(0.0, 1, 1.0), (0.0, 1.0));
        assert_eq!(whole_powers_grad(0.0, 2, 1.0), (0.0, 0.0));
        assert_eq!(whole_powers_grad(-3.0, 3, 1.0), (-27.0, 27.0));
    }

    #[gradient]
    fn distance(x: T, y: T) -> T {
        x.hypot(y)
    }

    #[test]
    fn hypot_has_none_at_the_origin() {
        assert_eq!(distance_grad(0.0, 0.0, 1.0), (0.0, 0.0, 0.0));
        assert_eq!(distance_grad(0.0, -4.0, 1.0), (4.0, 0.0, -1.0));
    }

    #[gradient]
    fn branch(x: T) -> T {
        if x > 0.0 { x * x } else { -x }
    }

    #[test]
    fn a_branch_has_the_derivative_of_the_side_taken() {
        assert_eq!(branch_grad(0.0, 1.0).1, -1.0);
        assert_eq!(branch_grad(2.0, 1.0), (4.0, 4.0));
    }

    #[gradient]
    fn largest(x: &[T]) -> T {
        x.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap()
    }

    #[gradient]
    fn smallest(x: &[T]) -> T {
        x.iter().copied().min_by(|a, b| a.total_cmp(b)).unwrap()
    }

    #[test]
    fn of_equal_elements_the_one_that_rust_takes() {
        let (x, mut high, mut low) = ([1.0, 3.0, 3.0, 1.0], [0.0; 4], [0.0; 4]);
        assert_eq!(largest_grad(&x, &mut high, 1.0), 3.0);
        assert_eq!(high, [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(smallest_grad(&x, &mut low, 1.0), 1.0);
        assert_eq!(low, [1.0, 0.0, 0.0, 0.0]);
    }

    #[gradient]
    fn sign(x: T, y: T) -> T {
        x.copysign(y)
    }

    #[test]
    fn copysign_turns_the_derivative_with_the_sign() {
        assert_eq!(sign_grad(2.0, -1.0, 1.0), (-2.0, -1.0, 0.0));
        assert_eq!(sign_grad(-2.0, -0.0, 1.0), (-2.0, 1.0, 0.0));
    }
}
