//! Lists, options and references that must not share memory, and queues, in structs and loops.
//!
//! Each module is a program of its own, a function of one list, whose gradient is compared with differences.

programs! {
    aliasing_refs: 4,
    option_list_fields: 4,
    swap_in_loop_lists: 5,
    enum_state_machine: 3,
    default_then_fields: 3,
}

#[stratape::differentiable]
mod aliasing_refs {
    #[derive(Clone)]
    struct Net {
        w: Vec<f64>,
        out: Option<f64>,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = Net { w: x.to_vec(), out: None };
        let b = a.clone();
        a.w[0] = 5.0 * x[1];
        let r = if x[0] > 0.0 { &a } else { &b };
        let s = r.w.clone();
        a.w[1] = 0.0;
        let mut list = vec![a.clone(), b.clone()];
        list[0].out = Some(s[0]);
        list[1].w.push(x[3]);
        let c = list[0].clone();
        list[0].w[2] = 9.0;
        list.swap(0, 1);
        c.w.iter().sum::<f64>()
            + list[1].w[2]
            + s[1] * b.w[0]
            + list[0].w.iter().product::<f64>()
            + c.out.unwrap_or(1.0) * list[1].out.map_or(2.0, |v| v * v)
    }
}

#[stratape::differentiable]
mod option_list_fields {
    #[derive(Clone, Default)]
    struct Slot {
        data: Option<Vec<f64>>,
        n: usize,
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut slots = vec![Slot::default(); 3];
        for (i, &v) in x.iter().enumerate() {
            let s = &mut slots[i % 3];
            s.n += 1;
            match &mut s.data {
                Some(d) => d.push(v),
                None => s.data = Some(vec![v * 2.0]),
            }
        }
        let mut total = 0.0;
        for s in &slots {
            if let Some(d) = &s.data {
                total += d.iter().map(|v| v * v).sum::<f64>() * s.n as f64;
            }
        }
        total
    }
}

#[stratape::differentiable]
mod swap_in_loop_lists {
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut a = x.to_vec();
        let mut b = vec![1.0; 5];
        let mut c = vec![2.0_f64; 5];
        let mut r = &mut a;
        let mut s = &mut b;
        let mut t = &mut c;
        for k in 0..6 {
            for i in 0..5 {
                s[i] = r[i] * 0.5 + t[(i + k) % 5].sin();
            }
            if k % 2 == 0 {
                std::mem::swap(&mut r, &mut s);
            } else {
                std::mem::swap(&mut s, &mut t);
            }
        }
        r[0] * s[1] + t[2] + r.iter().sum::<f64>()
    }
}

#[stratape::differentiable]
mod enum_state_machine {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum State {
        Idle,
        Charging { level: f64, rate: f64 },
        Done(f64),
    }
    impl State {
        fn next(self, dt: f64) -> State {
            match self {
                State::Idle => State::Charging { level: 0.0, rate: 1.0 },
                State::Charging { level, rate } if level + rate * dt >= 1.0 => State::Done(rate),
                State::Charging { level, rate } => {
                    State::Charging { level: level + rate * dt, rate: rate * 0.9 }
                }
                done @ State::Done(_) => done,
            }
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut s = [State::Idle, State::Charging { level: x[0], rate: x[1] }, State::Done(x[2])];
        let mut history: Vec<State> = Vec::new();
        for _ in 0..5 {
            for st in s.iter_mut() {
                *st = st.next(0.3 * x[2]);
            }
            history.push(s[1]);
            history.push(s[0]);
        }
        history
            .iter()
            .map(|st| match st {
                State::Idle => 1.0,
                State::Charging { level, rate } => level * rate,
                State::Done(r) => *r,
            })
            .sum()
    }
}

#[stratape::differentiable]
mod default_then_fields {
    use std::collections::VecDeque;
    #[derive(Default)]
    struct Filter {
        taps: VecDeque<f64>,
        gain: f64,
        out: Vec<f64>,
    }
    impl Filter {
        fn feed(&mut self, v: f64) -> &mut Self {
            self.taps.push_back(v);
            while self.taps.len() > 2 {
                self.taps.pop_front();
            }
            let y = self.gain * self.taps.iter().sum::<f64>();
            self.out.push(y);
            self
        }
    }
    #[gradient]
    pub fn f(x: &[f64]) -> f64 {
        let mut flt = Filter { gain: x[0], ..Default::default() };
        flt.feed(x[1]).feed(x[2]).feed(x[1] * x[2]);
        for k in 0..3 {
            flt.feed(k as f64 * x[0]);
        }
        flt.out.iter().enumerate().map(|(i, v)| v * v * (i + 1) as f64).sum()
    }
}
