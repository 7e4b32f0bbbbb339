//! Widgets that do not know what a table is.

pub mod badge;
pub mod bar;
pub mod copy_button;
pub mod dialog;
pub mod export;
pub mod figures;
pub mod grid;
pub mod head;
pub mod keyhint;
pub mod spark;
pub mod states;
pub mod tree;
mod window;

pub use badge::{Badge, Dot, Op};
pub use bar::{Bar, SHARE_OF_BAR, share};
pub use copy_button::{CopyButton, ShellLine};
pub use dialog::Dialog;
pub use export::Export;
pub use figures::{Bytes, Came, Count, Difference, Key, Net, NetBytes, Text, Went, When};
pub use grid::{Column, Grid, Sort};
pub use head::{Crumb, Facts, Head, Tabs};
pub use keyhint::KeyHint;
pub use spark::Spark;
pub use states::{Empty, Failed, Loading, Note, NoteKind, Partial};
pub use tree::TreeRow;
pub use window::Window;
