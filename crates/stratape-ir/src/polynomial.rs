//! Polynomials in values: how the language and its analyses write down indices.

use std::collections::BTreeMap;

use super::ValueId;

/// A sum of products of values, with integer factors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial {
    terms: BTreeMap<Vec<ValueId>, i128>,
}

impl Polynomial {
    /// A number.
    pub fn number(n: i128) -> Self {
        let mut polynomial = Self::default();
        polynomial.add_term(Vec::new(), n);
        polynomial
    }

    /// A value.
    pub fn symbol(value: ValueId) -> Self {
        let mut polynomial = Self::default();
        polynomial.add_term(vec![value], 1);
        polynomial
    }

    fn add_term(&mut self, monomial: Vec<ValueId>, factor: i128) {
        let sum = self.terms.get(&monomial).copied().unwrap_or(0).saturating_add(factor);
        if sum == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    /// As in a source, with the names that `name` gives; `None` where it has none to give.
    pub fn text(&self, name: &dyn Fn(ValueId) -> Option<String>) -> Option<String> {
        let mut terms: Vec<(&[ValueId], i128)> = self.terms().collect();
        // A number comes last.
        terms.sort_by_key(|(symbols, factor)| (symbols.is_empty(), *factor < 0));
        let mut text = String::new();
        for (symbols, factor) in terms {
            let mut parts = Vec::new();
            let size = factor.unsigned_abs();
            if size != 1 || symbols.is_empty() {
                parts.push(size.to_string());
            }
            for symbol in symbols {
                parts.push(name(*symbol)?);
            }
            let sign = match (text.is_empty(), factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text = format!("{text}{sign}{}", parts.join(" * "));
        }
        Some(if text.is_empty() { "0".to_owned() } else { text })
    }

    /// `self + other`
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (monomial, factor) in &other.terms {
            sum.add_term(monomial.clone(), *factor);
        }
        sum
    }

    /// `self - other`
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&Self::number(-1)))
    }

    /// `self * other`
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = a.clone();
                monomial.extend(b);
                monomial.sort_unstable();
                product.add_term(monomial, x.saturating_mul(*y));
            }
        }
        product
    }

    /// `self + other`; none if a factor does not fit in 128 bits.
    pub fn checked_plus(&self, other: &Self) -> Option<Self> {
        let of = |polynomial: &Self, monomial| polynomial.terms.get(monomial).copied().unwrap_or(0);
        let fits = other
            .terms
            .keys()
            .all(|monomial| of(self, monomial).checked_add(of(other, monomial)).is_some());
        fits.then(|| self.plus(other))
    }

    /// `self * other`; none if a factor does not fit in 128 bits.
    pub fn checked_times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (symbols, x) in &self.terms {
            for (more, y) in &other.terms {
                let mut monomial = [symbols.as_slice(), more].concat();
                monomial.sort_unstable();
                let term = Self { terms: BTreeMap::from([(monomial, x.checked_mul(*y)?)]) };
                product = product.checked_plus(&term)?;
            }
        }
        Some(product)
    }

    /// The number it is, if it is one.
    pub fn as_number(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new() as &Vec<ValueId>).copied(),
            _ => None,
        }
    }

    /// Its products and their factors.
    pub fn terms(&self) -> impl Iterator<Item = (&[ValueId], i128)> {
        self.terms.iter().map(|(symbols, factor)| (symbols.as_slice(), *factor))
    }

    /// Whether it has few terms, and factors far from the limits of their type. Sums and products of such ones are exact.
    pub fn is_small(&self) -> bool {
        const TERMS: usize = 32;
        const FACTOR: u128 = 1 << 60;
        self.terms.len() <= TERMS && self.terms.values().all(|it| it.unsigned_abs() < FACTOR)
    }

    /// The values in it.
    pub fn symbols(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// `factor * value + rest`, if the value occurs at most once in each product.
    pub fn split(&self, value: ValueId) -> Option<(Self, Self)> {
        let (mut factor, mut rest) = (Self::default(), Self::default());
        for (monomial, number) in &self.terms {
            let count = monomial.iter().filter(|symbol| **symbol == value).count();
            match count {
                0 => rest.add_term(monomial.clone(), *number),
                1 => {
                    let others =
                        monomial.iter().copied().filter(|symbol| *symbol != value).collect();
                    factor.add_term(others, *number);
                }
                _ => return None,
            }
        }
        Some((factor, rest))
    }

    /// Whether it is at least a number, all symbols being at least 0.
    pub fn is_at_least(&self, least: i128) -> bool {
        let constant = self.terms.get(&Vec::new() as &Vec<ValueId>).copied().unwrap_or(0);
        constant >= least
            && self.terms.iter().all(|(monomial, factor)| monomial.is_empty() || *factor >= 0)
    }
}
