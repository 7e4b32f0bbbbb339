//! The same question in SQL: quoting.

/// A table for Spark SQL, by its location: ``delta.`s3://…` ``.
pub fn sql_path(location: &str) -> String {
    format!("delta.`{}`", location.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_survive_sql() {
        assert_eq!(sql_path("s3://b/t"), "delta.`s3://b/t`");
        assert_eq!(sql_path("a`b"), "delta.`a``b`");
    }
}
