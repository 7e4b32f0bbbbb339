//! Texts without the secrets that a URL in them may hold.

/// The text with the user and the query of every URL in it left out: both may be secrets.
pub fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ')' | '>' | ',');
        let (url, more) = after.split_at(after.find(ends).unwrap_or(after.len()));
        let (place, query) = match url.split_once(['?', '#']) {
            Some((place, _)) => (place, "?…"),
            None => (url, ""),
        };
        let authority = place.split('/').next().unwrap_or_default();
        match authority.rsplit_once('@') {
            // A container of Azure stands where a user does, and has no password.
            Some((user, _)) if user.contains(':') => {
                out.push('…');
                out.push_str(place.get(user.len()..).unwrap_or_default());
            }
            _ => out.push_str(place),
        }
        out.push_str(query);
        rest = more;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn neither_user_nor_query_is_told() {
        let cases = [
            ("no URL", "no URL"),
            (
                "at http://u:p@h:9/b/k: refused",
                "at http://…@h:9/b/k: refused",
            ),
            (
                "(https://h/k?X-Amz-Signature=s&a=b) and on",
                "(https://h/k?…) and on",
            ),
            (
                "abfss://c@a.dfs.core.windows.net/x",
                "abfss://c@a.dfs.core.windows.net/x",
            ),
            ("s3://a:b@c, s3://d:e@f", "s3://…@c, s3://…@f"),
            ("://", "://"),
        ];
        for (text, right) in cases {
            assert_eq!(redacted(text), right);
        }
    }
}
