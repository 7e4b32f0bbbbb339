//! Names, values and types as Hive's language writes them.

use crate::hours::kind::is_type;

/// A name, in backticks unless it is plain: small letters, digits and `_`, and no word of the
/// language.
pub(super) fn name_of(name: &str) -> String {
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && name.starts_with(|c: char| c.is_ascii_lowercase());
    match plain && !RESERVED.split(' ').any(|word| word == name) {
        true => name.to_owned(),
        false => format!("`{}`", name.replace('`', "``")),
    }
}

/// Reserved words of Hive that a column, a table or a database may well be called.
const RESERVED: &str = "\
    all alter and array as authorization between bigint binary boolean both by cache case cast \
    char column commit conf constraint create cross cube current current_date current_timestamp \
    cursor database date day dayofweek decimal delete describe distinct double drop else end \
    except exchange exists extended external extract false fetch float floor following for \
    foreign from full function grant group grouping having if import in inner insert int integer \
    intersect interval into is join lateral left less like local macro map minus more none not \
    null numeric of offset on only or order out outer over partialscan partition percent \
    preceding precision preserve primary procedure range reads reduce references regexp revoke \
    right rlike rollback rollup row rows select set smallint snapshot start sync table \
    tablesample then time timestamp to transform trigger true truncate unbounded union unique \
    uniquejoin update user using utc_tmestamp values varchar views when where window with";

/// A value in single quotes, with what would end or bend the text escaped as Hive reads it.
pub(super) fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('\'');
    for c in value.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// A declared type as Hive writes it; the words that datasets are declared with are those of Delta
/// and Iceberg too. A word that is none is no type, and no part of a statement.
pub(super) fn type_of(column: &str, kind: &str) -> Result<String, String> {
    let small = kind.trim().to_ascii_lowercase();
    let known = match small.as_str() {
        "string" | "utf8" | "varchar" => "string",
        "long" | "bigint" | "int64" => "bigint",
        "int" | "integer" | "int32" => "int",
        "short" | "smallint" | "int16" => "smallint",
        "byte" | "tinyint" | "int8" => "tinyint",
        "float" | "real" => "float",
        "double" => "double",
        "boolean" | "bool" => "boolean",
        "binary" => "binary",
        "date" => "date",
        "timestamp" | "timestamptz" | "timestamp_ntz" => "timestamp",
        other => {
            let shaped = is_type(other);
            let starts = ["decimal(", "array<", "map<", "struct<", "varchar(", "char("];
            return match shaped && starts.iter().any(|start| other.starts_with(start)) {
                true => Ok(other.to_owned()),
                false => Err(format!(
                    "`{}` of column `{}` is not a type that a table can have",
                    kind.escape_debug(),
                    column.escape_debug()
                )),
            };
        }
    };
    Ok(known.to_owned())
}
