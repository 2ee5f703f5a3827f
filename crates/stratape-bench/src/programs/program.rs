//! What a program of the suite is: its inputs, the primal, and the gradients to compare.

/// One program of the suite, ready to run.
///
/// ```
/// use stratape_bench::programs::{Scale, program};
///
/// let program = program("product", Scale::Small).ok_or("there is one")?;
/// let (mut inputs, mut shadows) = (program.inputs.clone(), program.inputs.shadows());
/// let value = (program.primal)(&mut inputs.clone());
/// assert_eq!((program.ours)(&mut inputs, &mut shadows), value);
/// # Ok::<(), &str>(())
/// ```
pub struct Program {
    /// The name in the reports.
    pub name: &'static str,
    /// What it reads.
    pub inputs: Inputs,
    /// The function itself.
    pub primal: Primal,
    /// The gradient that Stratape generates.
    pub ours: Gradient,
    /// The gradient written by hand, where somebody has.
    pub by_hand: Option<Gradient>,
    /// The bytes of state that the program overwrites and that an adjoint needs, where somebody has counted: what the
    /// gradient by hand keeps of the way forward at once, beside memory that the program itself still holds at its end.
    pub state_bytes: Option<usize>,
    /// What the value and the gradient must be, where another tool has told.
    pub expected: Option<Expected>,
}

impl Program {
    /// A program whose gradient nobody has written by hand, and no other tool has computed.
    pub(crate) fn new(
        name: &'static str,
        inputs: Inputs,
        primal: impl Fn(&mut Inputs) -> f64 + 'static,
        ours: impl Fn(&mut Inputs, &mut Shadows) -> f64 + 'static,
    ) -> Self {
        let (primal, ours) = (Box::new(primal), Box::new(ours));
        Self { name, inputs, primal, ours, by_hand: None, state_bytes: None, expected: None }
    }

    /// The same, with a gradient by hand.
    pub(crate) fn with_by_hand(
        self,
        by_hand: impl Fn(&mut Inputs, &mut Shadows) -> f64 + 'static,
    ) -> Self {
        Self { by_hand: Some(Box::new(by_hand)), ..self }
    }

    /// The same, with the bytes of state that an adjoint must keep.
    ///
    /// ```
    /// use stratape_bench::programs::{Scale, program};
    ///
    /// let sum = program("sum", Scale::Small).ok_or("there is one")?.with_state(0);
    /// assert_eq!(sum.state_bytes, Some(0));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn with_state(self, bytes: usize) -> Self {
        Self { state_bytes: Some(bytes), ..self }
    }
}

/// Computes the value.
///
/// ```
/// use stratape_bench::programs::{Inputs, Primal};
///
/// let count: Primal = Box::new(|inputs| inputs.active.len() as f64);
/// assert_eq!(count(&mut Inputs::default()), 0.0);
/// ```
pub type Primal = Box<dyn Fn(&mut Inputs) -> f64>;

/// Adds a gradient to the shadows, seeded with one; returns the value.
///
/// ```
/// use stratape_bench::programs::{Gradient, Inputs};
///
/// let of_nothing: Gradient = Box::new(|_, _| 1.0);
/// assert_eq!(of_nothing(&mut Inputs::default(), &mut Inputs::default().shadows()), 1.0);
/// ```
pub type Gradient = Box<dyn Fn(&mut Inputs, &mut Shadows) -> f64>;

/// The gradient of a function of one slice.
pub(crate) fn of_one_slice(adjoint: fn(&[f64], &mut [f64], f64) -> f64) -> Gradient {
    Box::new(move |inputs, shadows| {
        let ([x], [dx]) = (inputs.active(), shadows.each());
        adjoint(x, dx, 1.0)
    })
}

/// The arrays that a program reads. A scalar is an array of one.
///
/// ```
/// let inputs = stratape_bench::programs::Inputs { active: vec![vec![1.0, 2.0]], ..Default::default() };
/// assert_eq!(inputs.shadows().concatenated(), [0.0, 0.0]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// What is differentiated, in the order of the parameters.
    pub active: Vec<Vec<f64>>,
    /// What is not.
    pub constant: Vec<Vec<f64>>,
    /// Places in arrays, lengths, labels.
    pub indices: Vec<Vec<usize>>,
    /// A place for what the program overwrites.
    pub scratch: Vec<f64>,
}

impl Inputs {
    /// The active arrays, one by one.
    pub(crate) fn active<const N: usize>(&self) -> &[Vec<f64>; N] {
        self.active.as_array().expect("as many names as active arrays")
    }

    /// The constant arrays, one by one.
    pub(crate) fn constant<const N: usize>(&self) -> &[Vec<f64>; N] {
        self.constant.as_array().expect("as many names as constant arrays")
    }

    /// The arrays of indices, one by one.
    pub(crate) fn indices<const N: usize>(&self) -> &[Vec<usize>; N] {
        self.indices.as_array().expect("as many names as arrays of indices")
    }

    /// Shadows of the right sizes, all zero.
    ///
    /// ```
    /// assert!(stratape_bench::programs::Inputs::default().shadows().concatenated().is_empty());
    /// ```
    #[must_use]
    pub fn shadows(&self) -> Shadows {
        Shadows(self.active.iter().map(|array| vec![0.0; array.len()]).collect())
    }
}

/// The adjoints of the active arrays.
///
/// ```
/// use stratape_bench::programs::{Scale, program};
///
/// let program = program("sum", Scale::Small).ok_or("there is one")?;
/// let mut shadows = program.inputs.shadows();
/// (program.ours)(&mut program.inputs.clone(), &mut shadows);
/// assert!(shadows.concatenated().iter().all(|adjoint| *adjoint == 1.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shadows(Vec<Vec<f64>>);

impl Shadows {
    /// The shadows, one by one.
    pub(crate) fn each<const N: usize>(&mut self) -> &mut [Vec<f64>; N] {
        self.0.as_mut_array().expect("as many names as shadows")
    }

    /// Zeros, as a user's program writes them before each gradient.
    ///
    /// ```
    /// let mut shadows = stratape_bench::programs::Inputs::default().shadows();
    /// shadows.clear();
    /// ```
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|shadow| shadow.fill(0.0));
    }

    /// The shadows as arrays, in the order of the active ones.
    #[cfg(test)]
    pub(crate) fn into_arrays(self) -> Vec<Vec<f64>> {
        self.0
    }

    /// All entries in order.
    ///
    /// ```
    /// let inputs = stratape_bench::programs::Inputs { active: vec![vec![1.0], vec![2.0]], ..Default::default() };
    /// assert_eq!(inputs.shadows().concatenated().len(), 2);
    /// ```
    #[must_use]
    pub fn concatenated(&self) -> Vec<f64> {
        self.0.concat()
    }
}

/// What another tool found.
///
/// ```
/// use stratape_bench::programs::{Scale, program};
///
/// let expected = program("gravity", Scale::Small).and_then(|program| program.expected);
/// assert!(expected.is_some_and(|expected| expected.norm > 0.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The value of the function.
    pub value: f64,
    /// The sum of the gradient's entries.
    pub sum: f64,
    /// The L2 norm of the gradient.
    pub norm: f64,
    /// The gradient times the weights of seed 1000.
    pub weighted: f64,
}
