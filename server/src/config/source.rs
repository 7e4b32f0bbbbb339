//! The configuration's text: variables and files put in, secrets kept out, lines remembered.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use lake::{Error, Result};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys whose values are secrets, wherever they stand.
const SECRETS: &[&str] = &[
    "token",
    "secret",
    "password",
    "client_secret",
    "secret_access_key",
    "session_token",
    "access_key",
    "account_key",
    "master_key",
    "storage_account_key",
    "sas_key",
    "sas_token",
    "bearer_token",
    "fabric_session_token",
    "encryption_key",
    "service_account_key",
    "sse_customer_key_base64",
    "aws_token",
];

/// Where variables come from: the environment, or a test.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A configuration's text and its name.
pub(super) struct Source<'a> {
    /// Its file, as errors name it.
    pub(super) name: String,
    /// The text.
    pub(super) text: &'a str,
    /// Where relative files are looked for.
    pub(super) directory: PathBuf,
    /// The environment.
    pub(super) variables: Variables<'a>,
}

impl Source<'_> {
    /// Reads the text as `T`, with variables and files put in.
    pub(super) fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T> {
        let mut document = DeTable::parse(self.text).map_err(|e| self.toml(&e))?;
        self.fill_table(document.get_mut())?;
        T::deserialize(toml::de::Deserializer::from(document)).map_err(|e| self.toml(&e))
    }

    /// An error at a place of the text.
    pub(super) fn wrong(&self, span: &Range<usize>, message: impl Into<String>) -> Error {
        Error::invalid(message)
            .at("key", &self.name)
            .at("line", self.line(span.start))
    }

    fn toml(&self, error: &toml::de::Error) -> Error {
        let message = error.message().trim().replace('\n', " ");
        match error.span() {
            Some(span) => match self.key(span.start) {
                Some(key) if !message.contains(key) => {
                    self.wrong(&span, format!("`{key}`: {message}"))
                }
                _ => self.wrong(&span, message),
            },
            None => Error::invalid(message).at("key", &self.name),
        }
    }

    /// The key that stands at the beginning of a byte's line.
    fn key(&self, at: usize) -> Option<&str> {
        let start = self.text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
        let (key, _) = self.text.get(start..)?.lines().next()?.split_once('=')?;
        let key = key.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        (!key.is_empty() && key.chars().all(plain)).then_some(key)
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    fn fill_table(&self, table: &mut DeTable<'_>) -> Result<()> {
        for (key, value) in table.iter_mut() {
            let key = key.get_ref().as_ref();
            if is_secret(key) {
                self.fill_secret(key, value)?;
            } else {
                self.fill(value)?;
            }
        }
        Ok(())
    }

    fn fill(&self, value: &mut Spanned<DeValue<'_>>) -> Result<()> {
        let span = value.span();
        match value.get_mut() {
            DeValue::String(text) => {
                if lake::error::redacted(text).contains("://…") {
                    return Err(self.wrong(
                        &span,
                        "a URL must not hold a password: write \"${NAME}\" to take it from the environment",
                    ));
                }
                if text.contains("${") {
                    *text = Cow::Owned(self.substitute(text, &span)?);
                }
                Ok(())
            }
            DeValue::Array(values) => values.iter_mut().try_for_each(|value| self.fill(value)),
            DeValue::Table(table) => self.fill_table(table),
            _ => Ok(()),
        }
    }

    /// A secret is a variable or a file, and never the text itself.
    fn fill_secret(&self, key: &str, value: &mut Spanned<DeValue<'_>>) -> Result<()> {
        let span = value.span();
        let inline = || {
            let message = format!(
                "`{key}` is a secret and must not stand here: write \"${{NAME}}\" to take it from \
                 the environment, or {{ file = \"…\" }} to read it from a file"
            );
            self.wrong(&span, message)
        };
        let secret = match value.get_ref() {
            DeValue::String(text) if is_reference(text) => self.substitute(text, &span)?,
            DeValue::Table(table) => {
                let mut keys = table.iter();
                let file = match (keys.next(), keys.next()) {
                    (Some((name, file)), None) if name.get_ref() == "file" => file.get_ref(),
                    _ => return Err(inline()),
                };
                let Some(file) = file.as_str() else {
                    return Err(inline());
                };
                let path = self.directory.join(self.substitute(file, &span)?);
                let text = std::fs::read_to_string(&path).map_err(|e| {
                    let message = format!("the secret's file {} cannot be read", path.display());
                    self.wrong(&span, message).because(e)
                })?;
                text.trim().to_owned()
            }
            _ => return Err(inline()),
        };
        *value.get_mut() = DeValue::String(Cow::Owned(secret));
        Ok(())
    }

    /// Puts variables in the place of `${NAME}`.
    fn substitute(&self, text: &str, span: &Range<usize>) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                return Err(self.wrong(span, "`${` is not closed by `}`"));
            };
            let Some(value) = (self.variables)(name) else {
                let message = format!("the environment variable `{name}` is not set");
                return Err(self.wrong(span, message));
            };
            out.push_str(&value);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    let bare = ["aws_", "azure_", "google_", "azure_storage_"]
        .iter()
        .find_map(|prefix| key.strip_prefix(prefix));
    SECRETS.contains(&key.as_str()) || bare.is_some_and(|bare| SECRETS.contains(&bare))
}

/// Whether a text is variables and nothing else.
fn is_reference(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some((_, after)) = rest.strip_prefix("${").and_then(|r| r.split_once('}')) else {
            return false;
        };
        rest = after;
    }
    true
}
