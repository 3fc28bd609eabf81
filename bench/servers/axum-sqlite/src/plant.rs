//! A plant as JSON, by plantstore's rules.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

#[derive(Serialize)]
pub struct Plant {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

#[derive(Deserialize)]
pub struct NewPlant {
    #[serde(deserialize_with = "int64")]
    pub id: i64,
    #[serde(deserialize_with = "text")]
    pub name: String,
    #[serde(default, deserialize_with = "tag")]
    pub tag: Option<String>,
}

/// A text without U+0000.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.contains('\0') {
        Err(D::Error::custom("text must not contain U+0000"))
    } else {
        Ok(text)
    }
}

/// A text; not null, which `Option` would take.
fn tag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    text(deserializer).map(Some)
}

/// An integer, also one that is written as `5.0` or `5e3`.
fn int64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    struct Int64;
    impl Visitor<'_> for Int64 {
        type Value = i64;

        fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
            formatter.write_str("an integer of 64 bits")
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
            Ok(value)
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
            i64::try_from(value).map_err(E::custom)
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<i64, E> {
            let is_exact = value.fract() == 0.0 && value.abs() <= 2f64.powi(53);
            if is_exact { Ok(value as i64) } else { Err(E::custom("not an integer of 64 bits")) }
        }
    }
    deserializer.deserialize_any(Int64)
}
