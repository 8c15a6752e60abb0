//! The operations of the API as a list, for a program without its web interface.

use serde_json::Value;

use super::super::html::escaped;

const PAGE: &str = include_str!("list.html");

/// The page for a description.
pub fn page(openapi: &Value) -> String {
    let paths = openapi["paths"].as_object().into_iter().flatten();
    let items: String = paths.map(|(path, item)| operations(path, item)).collect();
    PAGE.replace("{operations}", &items)
}

fn operations(path: &str, item: &Value) -> String {
    let methods = item.as_object().into_iter().flatten();
    let item = |(method, operation): (&String, &Value)| {
        let summary = operation["summary"].as_str().unwrap_or_default();
        let (method, path) = (method.to_uppercase(), escaped(path));
        format!("<dt>{method} {path}</dt><dd>{}</dd>\n", escaped(summary))
    };
    methods.map(item).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_is_listed_as_text() {
        let get = json!({"summary": "One & <all>"});
        let openapi = json!({"paths": {"/a/{id}": {"get": get, "delete": {}}}});
        let page = page(&openapi);
        assert!(page.contains("<dt>GET /a/{id}</dt><dd>One &amp; &lt;all&gt;</dd>"));
        assert!(page.contains("<dt>DELETE /a/{id}</dt><dd></dd>"));
    }
}
