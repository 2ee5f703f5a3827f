//! Minimum cuts of small graphs (Dinic's algorithm).

use std::collections::VecDeque;

/// More than any sum of costs.
pub(super) const INFINITE: u64 = u64::MAX / 4;

/// A flow network between node 0, the source, and node 1, the sink.
#[derive(Debug)]
pub(super) struct Network {
    /// For each node, the edges that leave it.
    leaving: Vec<Vec<usize>>,
    /// Target and capacity left; an edge and its reverse are neighbours.
    edges: Vec<(usize, u64)>,
}

pub(super) const SOURCE: usize = 0;
pub(super) const SINK: usize = 1;

impl Network {
    pub(super) fn new() -> Self {
        Self { leaving: vec![Vec::new(), Vec::new()], edges: Vec::new() }
    }

    pub(super) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    pub(super) fn edge(&mut self, from: usize, to: usize, capacity: u64) {
        self.leaving[from].push(self.edges.len());
        self.edges.push((to, capacity));
        self.leaving[to].push(self.edges.len());
        self.edges.push((from, 0));
    }

    /// For each node, whether a minimum cut leaves it on the source's side; and what is cut.
    pub(super) fn cut(mut self) -> (Vec<bool>, u64) {
        let mut all: u64 = 0;
        loop {
            let levels = self.levels();
            if levels[SINK].is_none() {
                return (levels.into_iter().map(|level| level.is_some()).collect(), all);
            }
            let mut tried = vec![0; self.leaving.len()];
            loop {
                match self.push(SOURCE, INFINITE, &levels, &mut tried) {
                    0 => break,
                    pushed => all = all.saturating_add(pushed),
                }
            }
        }
    }

    fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.leaving.len()];
        levels[SOURCE] = Some(0);
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(node) = queue.pop_front() {
            for edge in &self.leaving[node] {
                let (to, capacity) = self.edges[*edge];
                if capacity > 0 && levels[to].is_none() {
                    levels[to] = levels[node].map(|level| level + 1);
                    queue.push_back(to);
                }
            }
        }
        levels
    }

    fn push(
        &mut self,
        node: usize,
        flow: u64,
        levels: &[Option<usize>],
        tried: &mut [usize],
    ) -> u64 {
        if node == SINK {
            return flow;
        }
        while tried[node] < self.leaving[node].len() {
            let edge = self.leaving[node][tried[node]];
            let (to, capacity) = self.edges[edge];
            if capacity > 0 && levels[to] == levels[node].map(|level| level + 1) {
                let pushed = self.push(to, flow.min(capacity), levels, tried);
                if pushed > 0 {
                    self.edges[edge].1 -= pushed;
                    self.edges[edge ^ 1].1 += pushed;
                    return pushed;
                }
            }
            tried[node] += 1;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheaper_side_is_cut() {
        let mut network = Network::new();
        let (a, b) = (network.node(), network.node());
        network.edge(SOURCE, a, INFINITE);
        network.edge(a, b, 3);
        network.edge(b, SINK, 5);
        let (sides, all) = network.cut();
        assert!(sides[a] && !sides[b]);
        assert_eq!(all, 3);
    }
}
