//! What an attribute is set to, once or whenever it changes.

use std::borrow::Cow;

use crate::signals::{Memo, RwSignal, Signal};

/// What an attribute is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// An absent attribute, a false property.
    Off,
    /// An attribute without a value, a true property.
    On,
    /// Text.
    Text(Cow<'static, str>),
}

/// A setting, or the way to find it again whenever a signal has changed.
pub enum Value {
    /// It stays.
    Fixed(Setting),
    /// It is found again whenever a signal that was read in finding it has changed.
    Live(Box<dyn FnMut() -> Setting>),
}

/// What a setting can be made of.
pub trait IntoSetting {
    /// Makes it.
    fn into_setting(self) -> Setting;
}

/// What a value can be made of: settings, closures that return them, signals of them.
pub trait IntoValue {
    /// Makes it.
    fn into_value(self) -> Value;
}

impl<T: IntoSetting> IntoSetting for Option<T> {
    fn into_setting(self) -> Setting {
        self.map_or(Setting::Off, T::into_setting)
    }
}

impl IntoSetting for bool {
    fn into_setting(self) -> Setting {
        if self { Setting::On } else { Setting::Off }
    }
}

impl IntoSetting for &'static str {
    fn into_setting(self) -> Setting {
        Setting::Text(self.into())
    }
}

impl IntoSetting for String {
    fn into_setting(self) -> Setting {
        Setting::Text(self.into())
    }
}

impl IntoSetting for Cow<'static, str> {
    fn into_setting(self) -> Setting {
        Setting::Text(self)
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl IntoSetting for $number {
            fn into_setting(self) -> Setting {
                Setting::Text(self.to_string().into())
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 usize i32 i64);

impl IntoSetting for f64 {
    fn into_setting(self) -> Setting {
        // Places and lengths on a page: no screen shows a third digit.
        Setting::Text(lake::figures::decimal(self, 2).into())
    }
}

macro_rules! fixed {
    ($($setting:ty)*) => {$(
        impl IntoValue for $setting {
            fn into_value(self) -> Value {
                Value::Fixed(self.into_setting())
            }
        }
    )*};
}
fixed!(bool &'static str String Cow<'static, str> u8 u16 u32 u64 usize i32 i64 f64);

impl<T: IntoSetting> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        Value::Fixed(self.into_setting())
    }
}

impl<F, T> IntoValue for F
where
    F: FnMut() -> T + 'static,
    T: IntoSetting,
{
    fn into_value(mut self) -> Value {
        Value::Live(Box::new(move || self().into_setting()))
    }
}

macro_rules! signals {
    ($($signal:ident)*) => {$(
        impl<T> IntoValue for $signal<T>
        where
            T: IntoSetting + Clone + 'static,
        {
            fn into_value(self) -> Value {
                Value::Live(Box::new(move || self.get().into_setting()))
            }
        }
    )*};
}
signals!(Memo RwSignal Signal);
