//! In which module of a file a place is.
//!
//! What is parsed in an attribute has no positions, so the text is read once more: braces, the modules they belong to, and what is no text.

/// Where a line and column of a text are, both counted from 1.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The modules around it, outermost first.
    pub(crate) modules: Vec<String>,
    /// Whether items of the innermost of them stand there, not those of an `impl` or of a function.
    pub(crate) among_items: bool,
}

pub(crate) fn position(text: &str, line: usize, column: usize) -> Position {
    let mut reader = Reader { rest: text.chars().peekable(), at: (1, 1) };
    let mut braces: Vec<Option<String>> = Vec::new();
    // The word before, and the name of a module whose brace may follow.
    let (mut before, mut module) = (String::new(), None);
    while reader.at < (line, column) {
        let Some(c) = reader.next() else { break };
        match c {
            '/' if reader.peek() == Some('/') => reader.skip_while(|c| c != '\n'),
            '/' if reader.peek() == Some('*') => reader.skip_comment(),
            '"' => reader.skip_string(),
            '\'' => reader.skip_character(),
            '{' => {
                braces.push(module.take());
                before.clear();
            }
            '}' => {
                braces.pop();
                (before, module) = (String::new(), None);
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut word = c.to_string();
                while let Some(c) = reader.peek().filter(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                    reader.next();
                }
                if ["r", "br", "cr"].contains(&word.as_str()) && reader.skip_raw() {
                    continue;
                }
                module = (before == "mod").then(|| word.clone());
                before = word;
            }
            c if c.is_whitespace() => {}
            _ => (before, module) = (String::new(), None),
        }
    }
    let among_items = braces.last().is_none_or(Option::is_some);
    Position { modules: braces.into_iter().flatten().collect(), among_items }
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: (usize, usize),
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.at = if c == '\n' { (self.at.0 + 1, 1) } else { (self.at.0, self.at.1 + 1) };
        Some(c)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn skip_while(&mut self, skips: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skips) {
            self.next();
        }
    }

    /// The rest of a comment whose slash is read; comments nest.
    fn skip_comment(&mut self) {
        let (mut depth, mut last) = (0_usize, '/');
        while let Some(c) = self.next() {
            match (last, c) {
                ('/', '*') => (depth, last) = (depth + 1, ' '),
                ('*', '/') => (depth, last) = (depth - 1, ' '),
                _ => last = c,
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// The rest of a string whose quote is read.
    fn skip_string(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    self.next();
                }
                '"' => return,
                _ => {}
            }
        }
    }

    /// A raw string, if one begins after the letter that is read.
    fn skip_raw(&mut self) -> bool {
        let mut hashes = 0;
        let mut ahead = self.rest.clone();
        while ahead.peek() == Some(&'#') {
            ahead.next();
            hashes += 1;
        }
        if ahead.peek() != Some(&'"') {
            return false;
        }
        for _ in 0..=hashes {
            self.next();
        }
        while let Some(c) = self.next() {
            if c == '"' {
                let mut closing = 0;
                while closing < hashes && self.peek() == Some('#') {
                    self.next();
                    closing += 1;
                }
                if closing == hashes {
                    return true;
                }
            }
        }
        true
    }

    /// A character whose quote is read, unless it is a lifetime.
    fn skip_character(&mut self) {
        let mut ahead = self.rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), Some(escaped)) => {
                self.next();
                self.next();
                if escaped == 'u' || escaped == 'x' {
                    self.skip_while(|c| c != '\'');
                }
                self.next();
            }
            (Some(_), Some('\'')) => {
                self.next();
                self.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::position;

    const TEXT: &str = r##"
use a; // { mod x {
/* mod y { /* { */ */
mod outer {
    const A: &str = "mod z { \" {"; const B: char = '{'; fn f<'a>(x: &'a str) { r#"{"#; '\u{7b}';
        HERE1
    }
    pub(crate) mod inner {
        HERE2
        impl X {
            HERE3
        }
    }
    HERE4
}
HERE5
"##;

    fn at(mark: &str) -> (String, bool) {
        let found =
            TEXT.lines().enumerate().find_map(|(line, text)| Some((line, text.find(mark)?)));
        let (line, column) = found.unwrap_or_default();
        let position = position(TEXT, line + 1, column + 1);
        (position.modules.join("::"), position.among_items)
    }

    #[test]
    fn modules_are_those_of_the_braces_around() {
        assert_eq!(at("HERE1"), ("outer".to_owned(), false));
        assert_eq!(at("HERE2"), ("outer::inner".to_owned(), true));
        assert_eq!(at("HERE3"), ("outer::inner".to_owned(), false));
        assert_eq!(at("HERE4"), ("outer".to_owned(), true));
        assert_eq!(at("HERE5"), (String::new(), true));
    }
}
