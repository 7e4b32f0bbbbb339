//! Values out of JSON, with as little code as that can be.
//!
//! serde's derive makes a reader of each type for each deserializer, and the one of serde_json is
//! rich: it reads structs from arrays, knows its line, and words each refusal. The page reads what
//! its own worker and server wrote, so none of that is needed, and the page is a good part smaller
//! without it.

mod text;

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use text::{Number, Text};

/// The text is no JSON, or not of the type that was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

type Result<T> = std::result::Result<T, Unreadable>;

/// Reads a value that the worker or the server wrote.
pub fn from_json<T: DeserializeOwned>(json: &str) -> Result<T> {
    let mut text = Text::new(json);
    let value = T::deserialize(&mut text)?;
    match text.peek() {
        None => Ok(value),
        Some(_) => Err(Unreadable),
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not what was expected")
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    // Words would be made for every field of every type.
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for &mut Text<'_> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek().ok_or(Unreadable)? {
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            b't' | b'f' => visitor.visit_bool(self.boolean()?),
            b'"' => visitor.visit_string(self.string()?),
            b'[' => self.deserialize_seq(visitor),
            b'{' => self.deserialize_map(visitor),
            _ => match self.number()? {
                Number::Natural(n) => visitor.visit_u64(n),
                Number::Integer(n) => visitor.visit_i64(n),
                Number::Real(n) => visitor.visit_f64(n),
            },
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.number()? {
            Number::Natural(n) => visitor.visit_u64(n),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.number()? {
            Number::Natural(n) => visitor.visit_i64(n.try_into().map_err(|_| Unreadable)?),
            Number::Integer(n) => visitor.visit_i64(n),
            Number::Real(_) => Err(Unreadable),
        }
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f64(match self.number()? {
            Number::Natural(n) => n as f64,
            Number::Integer(n) => n as f64,
            Number::Real(n) => n,
        })
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(b'n') => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.open(b'[')?;
        let value = visitor.visit_seq(Inside::new(self))?;
        self.close(b']')?;
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.open(b'{')?;
        let value = visitor.visit_map(Inside::new(self))?;
        self.close(b'}')?;
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.peek() == Some(b'"') {
            let name: StringDeserializer<Unreadable> = self.string()?.into_deserializer();
            return visitor.visit_enum(name);
        }
        self.open(b'{')?;
        let value = visitor.visit_enum(Inside::new(self))?;
        self.close(b'}')?;
        Ok(value)
    }

    forward_to_deserialize_any! { i8 i16 i128 u128 f32 char bytes byte_buf unit unit_struct }
}

/// What stands between two brackets.
struct Inside<'r, 't> {
    text: &'r mut Text<'t>,
    first: bool,
}

impl<'r, 't> Inside<'r, 't> {
    fn new(text: &'r mut Text<'t>) -> Self {
        Self { text, first: true }
    }

    /// Whether there is another item; stands before it then.
    fn more(&mut self) -> Result<bool> {
        let first = std::mem::take(&mut self.first);
        match self.text.peek().ok_or(Unreadable)? {
            b']' | b'}' => return Ok(false),
            b',' if !first => self.text.take(),
            _ if first => {}
            _ => return Err(Unreadable),
        }
        Ok(true)
    }

    fn colon(&mut self) -> Result<()> {
        match self.text.peek() {
            Some(b':') => self.text.take(),
            _ => return Err(Unreadable),
        }
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for Inside<'_, '_> {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.more()? {
            true => seed.deserialize(&mut *self.text).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for Inside<'_, '_> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.more()? {
            true => seed.deserialize(&mut *self.text).map(Some),
            false => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.colon()?;
        seed.deserialize(&mut *self.text)
    }
}

impl<'de> EnumAccess<'de> for Inside<'_, '_> {
    type Error = Unreadable;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<(T::Value, Self)> {
        let name = seed.deserialize(&mut *self.text)?;
        self.colon()?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Inside<'_, '_> {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<()> {
        self.text.word("null")
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.text)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.text.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.text.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
