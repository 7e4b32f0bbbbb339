//! Types of columns as a configuration declares them, in the words of Hive, Delta and Iceberg.

/// Words that are types by themselves.
const WORDS: &[&str] = &[
    "string",
    "utf8",
    "varchar",
    "char",
    "text",
    "long",
    "bigint",
    "int64",
    "int",
    "integer",
    "int32",
    "short",
    "smallint",
    "int16",
    "byte",
    "tinyint",
    "int8",
    "float",
    "real",
    "double",
    "boolean",
    "bool",
    "binary",
    "uuid",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ntz",
    "decimal",
    "numeric",
    "array",
    "list",
    "map",
    "struct",
];

/// Types in types, at most.
const DEEPEST: usize = 16;

/// Whether a text is a type: a word, or one with its parameters, `decimal(10,2)` or
/// `array<struct<id:long,tags:map<string,int>>>`.
pub fn is_type(text: &str) -> bool {
    let small = text.trim().to_ascii_lowercase();
    whole(&small, 0)
}

fn whole(text: &str, depth: usize) -> bool {
    let text = text.trim();
    if depth > DEEPEST {
        return false;
    }
    let Some(at) = text.find(['(', '<']) else {
        return WORDS.contains(&text);
    };
    let (word, rest) = text.split_at(at);
    let word = word.trim_end();
    let numbers = || -> Option<Vec<u32>> {
        let inner = rest.strip_prefix('(')?.strip_suffix(')')?;
        let all = inner.split(',').map(|n| n.trim().parse().ok());
        all.collect()
    };
    let types = || rest.strip_prefix('<')?.strip_suffix('>').map(parts);
    match word {
        "decimal" | "numeric" => {
            matches!(numbers().as_deref(), Some([1..=38]))
                || matches!(numbers().as_deref(), Some([p @ 1..=38, s]) if s <= p)
        }
        "varchar" | "char" => matches!(numbers().as_deref(), Some([1..=65_535])),
        "array" | "list" => {
            matches!(types().as_deref(), Some([item]) if whole(item, depth + 1))
        }
        "map" => matches!(
            types().as_deref(),
            Some([key, value]) if whole(key, depth + 1) && whole(value, depth + 1)
        ),
        "struct" => types().is_some_and(|fields| {
            fields.iter().all(|field| {
                let named = field.split_once(':');
                named.is_some_and(|(name, kind)| is_name(name) && whole(kind, depth + 1))
            })
        }),
        _ => false,
    }
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// What stands between the commas that are in no brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    text.split(|c: char| {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::is_type;

    #[test]
    fn a_type_is_a_word_or_a_word_with_what_it_takes() {
        for good in [
            "string",
            " BIGINT ",
            "decimal",
            "decimal(10, 2)",
            "decimal(38)",
            "varchar(20)",
            "array<string>",
            "map<string,array<int>>",
            "struct<id:long,price:decimal(10,2),tags:map<string,int>>",
            "timestamp_ntz",
        ] {
            assert!(is_type(good), "{good}");
        }
        for bad in [
            "",
            "widget",
            "decimal(",
            "decimal()",
            "decimal(0)",
            "decimal(39,2)",
            "decimal(2,3)",
            "decimal(10,2)) location (x",
            "int) stored as textfile --",
            "array<>",
            "array<string",
            "array<string,int>",
            "map<string>",
            "struct<id>",
            "struct<id:widget>",
            "struct<`a`:int>",
            "int(4)",
            "array<string>>",
            "array<string>, x array<int>",
        ] {
            assert!(!is_type(bad), "{bad}");
        }
        let deep = format!("{}int{}", "array<".repeat(40), ">".repeat(40));
        assert!(!is_type(&deep));
    }
}
