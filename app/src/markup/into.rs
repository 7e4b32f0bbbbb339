//! What can stand in braces.

use std::borrow::Cow;

use crate::signals::{Memo, RwSignal, Signal};

use super::{Children, Markup};

/// What a piece of the page can be made of: text, numbers, lists, closures, signals.
pub trait IntoMarkup {
    /// Makes it.
    fn into_markup(self) -> Markup;
}

impl IntoMarkup for Markup {
    fn into_markup(self) -> Markup {
        self
    }
}

impl IntoMarkup for Children {
    fn into_markup(self) -> Markup {
        self.make()
    }
}

impl IntoMarkup for () {
    fn into_markup(self) -> Markup {
        Markup::Nothing
    }
}

impl IntoMarkup for &'static str {
    fn into_markup(self) -> Markup {
        Markup::Text(self.into())
    }
}

impl IntoMarkup for String {
    fn into_markup(self) -> Markup {
        Markup::Text(self.into())
    }
}

impl IntoMarkup for Cow<'static, str> {
    fn into_markup(self) -> Markup {
        Markup::Text(self)
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl IntoMarkup for $number {
            fn into_markup(self) -> Markup {
                Markup::Text(self.to_string().into())
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 usize i32 i64);

impl<T: IntoMarkup> IntoMarkup for Option<T> {
    fn into_markup(self) -> Markup {
        self.map_or(Markup::Nothing, T::into_markup)
    }
}

impl<T: IntoMarkup> IntoMarkup for Vec<T> {
    fn into_markup(self) -> Markup {
        Markup::Many(self.into_iter().map(T::into_markup).collect())
    }
}

impl<F, T> IntoMarkup for F
where
    F: FnMut() -> T + 'static,
    T: IntoMarkup,
{
    fn into_markup(self) -> Markup {
        Markup::live(self)
    }
}

macro_rules! signals {
    ($($signal:ident)*) => {$(
        impl<T> IntoMarkup for $signal<T>
        where
            T: IntoMarkup + Clone + 'static,
        {
            fn into_markup(self) -> Markup {
                Markup::live(move || self.get())
            }
        }
    )*};
}
signals!(Memo RwSignal Signal);
