//! Two versions compared.
