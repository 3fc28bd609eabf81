//! A plant as JSON.

use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub struct Plant {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

#[derive(Deserialize)]
pub struct NewPlant {
    pub id: i64,
    pub name: String,
    #[serde(default)]
    pub tag: Option<String>,
}
