// Shows /openapi.json: every operation with its parameters, bodies and answers.
const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};

const refName = (schema) => schema?.$ref?.split("/").pop();

// An example of a schema, so that a body can be read at a glance.
function example(api, schema, depth = 0) {
  if (!schema || depth > 6) return null;
  if (schema.$ref) return example(api, api.components.schemas[refName(schema)], depth + 1);
  if (schema.example !== undefined) return schema.example;
  if (schema.oneOf) return example(api, schema.oneOf.find((s) => s.type !== "null"), depth + 1);
  const type = Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type;
  if (type === "array") return [example(api, schema.items, depth + 1)];
  if (schema.properties) {
    const entries = Object.entries(schema.properties);
    return Object.fromEntries(entries.map(([name, s]) => [name, example(api, s, depth + 1)]));
  }
  return { string: "text", integer: 1, number: 1, boolean: true, object: {} }[type] ?? null;
}

function body(api, content) {
  const media = Object.values(content ?? {})[0];
  if (!media) return null;
  const shown = media.example ?? example(api, media.schema);
  return shown === null ? null : make("pre", typeof shown === "string" ? shown : JSON.stringify(shown, null, 2));
}

function parameters(list) {
  const table = make("table");
  for (const p of list) {
    const row = make("tr");
    const name = make("td");
    name.append(make("code", p.name), ` (${p.in}${p.required ? ", required" : ""})`);
    row.append(name, make("td", p.description ?? ""));
    table.append(row);
  }
  return table;
}

function curl(method, path, operation, content) {
  const media = Object.values(content ?? {})[0];
  const key = operation.security?.some((s) => Object.keys(s).length === 0) ? "" : " -H \"Authorization: Bearer $KEY\"";
  const data = media?.example ? ` \\\n  -d '${JSON.stringify(media.example)}'` : "";
  const verb = method === "get" ? "" : ` -X ${method.toUpperCase()}`;
  return make("pre", `curl${verb}${key} ${location.origin}${path}${data}`);
}

function operation(api, path, method, op) {
  const details = make("details", undefined, method);
  const summary = make("summary");
  summary.append(make("span", method.toUpperCase(), "method"), make("code", path));
  summary.append(make("span", op.summary ?? "", "about"));
  details.append(summary);
  if (op.description) details.append(make("p", op.description));
  details.append(curl(method, path, op, op.requestBody?.content));
  if (op.parameters?.length) details.append(make("h4", "Parameters"), parameters(op.parameters));
  const sent = body(api, op.requestBody?.content);
  if (sent) details.append(make("h4", "Body"), sent);
  for (const [status, answer] of Object.entries(op.responses ?? {})) {
    details.append(make("h4", `${status} ${answer.description || ""}`));
    const shown = status < 300 && body(api, answer.content);
    if (shown) details.append(shown);
  }
  return details;
}

const api = await (await fetch("/openapi.json")).json();
document.getElementById("about").textContent = `${api.info.description} Version ${api.info.version}.`;
const main = document.getElementById("operations");
for (const tag of api.tags) {
  main.append(make("h2", tag.name), make("p", tag.description));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      if (op.tags?.includes(tag.name)) main.append(operation(api, path, method, op));
    }
  }
}
