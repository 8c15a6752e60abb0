//! The web interface is served: from a folder here, which is read as the build script reads it.

use std::io::Read as _;
use std::path::Path;

use reqwest::Method;

use super::sent;
use crate::harness::{Api, Database, Server};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const SCRIPT: &str = "/assets/index-4f2a91bc.js";

fn write(folder: &Path) -> String {
    std::fs::create_dir_all(folder.join("assets")).expect("a folder");
    let script = "console.log('hello');\n".repeat(200);
    std::fs::write(
        folder.join("index.html"),
        "<!doctype html><title>Kurier</title>",
    )
    .expect("written");
    std::fs::write(folder.join(&SCRIPT[1..]), &script).expect("written");
    std::fs::write(folder.join("favicon.svg"), "<svg/>").expect("written");
    script
}

async fn serve(folder: &Path) -> Server {
    let folder = folder.display().to_string();
    Server::start_with(Database::sqlite(), &[("KURIER_WEB", folder.as_str())]).await
}

async fn get(api: &Api, path: &str, headers: &[(&str, &str)]) -> reqwest::Response {
    let mut request = api.bare(Method::GET, path);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.send().await.expect("an answer")
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.and_then(|it| it.to_str().ok()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_compressed_marked_and_guarded() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let script = write(folder.path());
    let server = serve(folder.path()).await;
    let api = &server.api;
    let plain = get(api, SCRIPT, &[]).await;
    assert_eq!(
        header(&plain, "content-type"),
        "text/javascript; charset=utf-8"
    );
    assert_eq!(header(&plain, "content-security-policy"), POLICY);
    assert_eq!(header(&plain, "x-content-type-options"), "nosniff");
    assert_eq!(header(&plain, "referrer-policy"), "same-origin");
    assert_eq!(header(&plain, "vary"), "accept-encoding");
    assert!(header(&plain, "cache-control").contains("immutable"));
    let etag = header(&plain, "etag").to_owned();
    assert_eq!(plain.text().await.expect("text"), script);
    let gzip = get(api, SCRIPT, &[("accept-encoding", "gzip, br;q=0")]).await;
    assert_eq!(header(&gzip, "content-encoding"), "gzip");
    let bytes = gzip.bytes().await.expect("bytes");
    assert!(bytes.len() < script.len() / 10);
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..])
        .read_to_string(&mut text)
        .expect("gzip");
    assert_eq!(text, script);
    let known = get(api, SCRIPT, &[("if-none-match", &etag)]).await;
    assert_eq!(known.status(), 304);
    assert_eq!(known.bytes().await.expect("nothing").len(), 0);
    let other = get(api, SCRIPT, &[("if-none-match", "\"other\"")]).await;
    assert_eq!(other.status(), 200);
    let icon = get(api, "/favicon.svg", &[]).await;
    assert_eq!(header(&icon, "cache-control"), "no-cache");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_stands_for_its_own_addresses_and_for_no_others() {
    let folder = tempfile::TempDir::new().expect("a folder");
    write(folder.path());
    let server = serve(folder.path()).await;
    let api = &server.api;
    for path in [
        "/",
        "/index.html",
        "/contacts/123",
        "/journeys",
        "/readyzzz",
    ] {
        let page = get(api, path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(header(&page, "cache-control"), "no-cache", "{path}");
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        assert!(page.text().await.expect("text").contains("<title>Kurier"));
    }
    for path in [
        "/api/v1/nothing",
        "/v1/x/y",
        "/docs/nothing",
        "/assets/gone.js",
        "/metrics/x",
    ] {
        let answer = sent(api.bare(Method::GET, path)).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        assert!(!answer.text.contains("<title>"), "{path}");
    }
    for path in [
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/assets/..%2f..%2fetc/passwd",
    ] {
        let answer = sent(api.bare(Method::GET, path)).await;
        assert!(
            !answer.text.contains("[package]") && !answer.text.contains("root:"),
            "{path}"
        );
    }
    let posted = sent(api.bare(Method::POST, "/contacts/123")).await;
    posted.expect_problem(405, "method_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_of_the_api_is_a_page_of_the_interface() {
    let folder = tempfile::TempDir::new().expect("a folder");
    write(folder.path());
    std::fs::write(folder.path().join("docs.html"), "<title>API").expect("written");
    let server = serve(folder.path()).await;
    let page = get(&server.api, "/docs", &[]).await;
    assert_eq!(page.status(), 200);
    assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(&page, "content-security-policy"), POLICY);
    assert_eq!(header(&page, "cache-control"), "no-cache");
    let etag = header(&page, "etag").to_owned();
    assert_eq!(page.text().await.expect("text"), "<title>API");
    let known = get(&server.api, "/docs", &[("if-none-match", &etag)]).await;
    assert_eq!(known.status(), 304);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_interface_the_reference_is_a_list() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let server = serve(folder.path()).await;
    let page = get(&server.api, "/docs", &[]).await;
    assert_eq!(page.status(), 200);
    assert_eq!(header(&page, "content-security-policy"), POLICY);
    let text = page.text().await.expect("text");
    assert!(text.contains("<dt>GET /api/v1/contacts</dt>"), "{text}");
    assert!(text.contains("<dt>POST /v1/batch</dt>"), "{text}");
    assert!(!text.contains("<script"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_interface_there_is_a_page_that_says_how_to_have_one() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let server = serve(folder.path()).await;
    let page = get(&server.api, "/", &[]).await;
    assert_eq!(page.status(), 200);
    assert_eq!(header(&page, "content-security-policy"), POLICY);
    assert!(page.text().await.expect("text").contains("npm run build"));
    let asked = get(&server.api, "/contacts", &[("accept", "text/html")]).await;
    assert_eq!(asked.status(), 200);
    let program = get(&server.api, "/contacts", &[]).await;
    assert_eq!(program.status(), 404);
}
