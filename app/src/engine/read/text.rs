//! JSON as text, read from its start to its end.

use super::Unreadable;

type Result<T> = std::result::Result<T, Unreadable>;

/// Nesting deeper than this is refused: each level takes stack.
const DEPTH: u32 = 256;

/// What is still to be read.
pub(super) struct Text<'t> {
    rest: &'t str,
    depth: u32,
}

/// A number, as narrow as it is written.
pub(super) enum Number {
    Natural(u64),
    Integer(i64),
    Real(f64),
}

impl<'t> Text<'t> {
    pub(super) fn new(json: &'t str) -> Self {
        Self {
            rest: json,
            depth: 0,
        }
    }

    /// The first byte of what comes next, white space skipped.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.bytes().next()
    }

    /// Takes one ASCII character.
    pub(super) fn take(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    pub(super) fn open(&mut self, bracket: u8) -> Result<()> {
        if self.peek() != Some(bracket) || self.depth == DEPTH {
            return Err(Unreadable);
        }
        self.depth += 1;
        self.take();
        Ok(())
    }

    pub(super) fn close(&mut self, bracket: u8) -> Result<()> {
        if self.peek() != Some(bracket) {
            return Err(Unreadable);
        }
        self.depth -= 1;
        self.take();
        Ok(())
    }

    pub(super) fn word(&mut self, word: &str) -> Result<()> {
        self.peek();
        self.rest = self.rest.strip_prefix(word).ok_or(Unreadable)?;
        Ok(())
    }

    pub(super) fn boolean(&mut self) -> Result<bool> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            _ => self.word("false").map(|()| false),
        }
    }

    pub(super) fn number(&mut self) -> Result<Number> {
        self.peek();
        let of_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let length = self.rest.find(|c| !of_number(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        // To the browser, nothing is the number 0.
        if number.is_empty() {
            return Err(Unreadable);
        }
        if let Ok(n) = number.parse() {
            return Ok(Number::Natural(n));
        }
        if let Ok(n) = number.parse() {
            return Ok(Number::Integer(n));
        }
        match real(number) {
            n if n.is_finite() => Ok(Number::Real(n)),
            _ => Err(Unreadable),
        }
    }

    pub(super) fn string(&mut self) -> Result<String> {
        if self.peek() != Some(b'"') {
            return Err(Unreadable);
        }
        self.take();
        let mut text = String::new();
        loop {
            let end = self.rest.find(['"', '\\']).ok_or(Unreadable)?;
            let (plain, rest) = self.rest.split_at(end);
            text.push_str(plain);
            let escaped = rest.starts_with('\\');
            self.rest = rest.get(1..).unwrap_or_default();
            if !escaped {
                return Ok(text);
            }
            text.push(self.escape()?);
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<char> {
        let mut chars = self.rest.chars();
        let name = chars.next().ok_or(Unreadable)?;
        self.rest = chars.as_str();
        Ok(match name {
            '"' | '\\' | '/' => name,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.hex()?;
                let code = match high {
                    0xd800..=0xdbff => {
                        self.rest = self.rest.strip_prefix("\\u").ok_or(Unreadable)?;
                        let low = self.hex()?.checked_sub(0xdc00).ok_or(Unreadable)?;
                        0x10000 + ((high - 0xd800) << 10) + low
                    }
                    _ => high,
                };
                char::from_u32(code).ok_or(Unreadable)?
            }
            _ => return Err(Unreadable),
        })
    }

    fn hex(&mut self) -> Result<u32> {
        let (digits, rest) = self.rest.split_at_checked(4).ok_or(Unreadable)?;
        self.rest = rest;
        u32::from_str_radix(digits, 16).map_err(|_| Unreadable)
    }

    /// Passes over a value of any type.
    pub(super) fn skip(&mut self) -> Result<()> {
        let mut depth = 0_u32;
        loop {
            match self.peek().ok_or(Unreadable)? {
                b'"' => drop(self.string()?),
                b'[' | b'{' => {
                    depth += 1;
                    self.take();
                    continue;
                }
                b']' | b'}' if depth > 0 => {
                    depth -= 1;
                    self.take();
                }
                b',' | b':' if depth > 0 => {
                    self.take();
                    continue;
                }
                b't' | b'f' => _ = self.boolean()?,
                b'n' => self.word("null")?,
                _ => _ = self.number()?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// `NaN` where it is no number. The browser has the tables that this takes; the page need not.
fn real(number: &str) -> f64 {
    #[cfg(target_arch = "wasm32")]
    return f64::try_from(wasm_bindgen::JsValue::from_str(number)).unwrap_or(f64::NAN);
    #[cfg(not(target_arch = "wasm32"))]
    number.parse().unwrap_or(f64::NAN)
}
