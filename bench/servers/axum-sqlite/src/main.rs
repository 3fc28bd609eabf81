//! plantstore's create in Rust: `axum-sqlite PORT DATABASE TOKEN`, with group commit.

mod plant;
mod store;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use plant::{NewPlant, Plant};
use sha2::{Digest, Sha256};
use store::{Outcome, Store};

const MAX_BODY_BYTES: usize = 1 << 20;

#[derive(Clone)]
struct App {
    store: Store,
    token_hash: [u8; 32],
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, database, token] = arguments.as_slice() else {
        panic!("usage: axum-sqlite PORT DATABASE TOKEN");
    };
    let app = App {
        store: Store::open(database).expect("a database"),
        token_hash: Sha256::digest(token).into(),
    };
    let router = Router::new()
        .route("/plants", post(create_plant))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(app);
    let address = format!("127.0.0.1:{port}");
    let listener = tokio::net::TcpListener::bind(address).await.expect("a free port");
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    axum::serve(listener, router).await.expect("a server");
}

async fn create_plant(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    match bearer_token(&headers) {
        None => return refuse(40101, "credentials are missing"),
        Some(token) if Sha256::digest(token)[..] != app.token_hash => {
            return refuse(40102, "the token is unknown, expired or revoked");
        }
        Some(_) => {}
    }
    if !is_json(&headers) {
        return refuse(41501, "the body must be application/json");
    }
    let Ok(body) = body else {
        return refuse(41301, "the body is too large");
    };
    let plant = match serde_json::from_slice::<NewPlant>(&body) {
        Ok(plant) => plant,
        Err(error) if error.is_data() => return refuse(40002, &error.to_string()),
        Err(error) => return refuse(40001, &error.to_string()),
    };
    let answer = Plant { name: plant.name.clone(), tag: plant.tag.clone() };
    match app.store.create(plant).await {
        Outcome::Created => Json(answer).into_response(),
        Outcome::AlreadyStored => refuse(40901, "this plant is already stored"),
        Outcome::IdTaken => refuse(40902, "this id belongs to a different plant"),
        Outcome::Failed => refuse(50302, "cannot write to the database"),
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|text| text.split(';').next());
    media_type.is_some_and(|text| text.trim().eq_ignore_ascii_case("application/json"))
}

/// An error number is the HTTP status times 100, and a count.
fn refuse(error: u16, message: &str) -> Response {
    let status = StatusCode::from_u16(error / 100).expect("a status");
    (status, Json(serde_json::json!({ "error": error, "message": message }))).into_response()
}
