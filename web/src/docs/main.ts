// The reference of the API: Swagger UI with a search over operations, and calls that are authorized.
import SwaggerUI, { type Plugin } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import { currentTheme, systemTheme } from "../shell/current-theme";
import { authorize } from "./authorize";
import { withoutOptionalExamples } from "./examples";
import "./reference.css";
import { countOperations, findOperations } from "./search";

function element<T extends Element>(selector: string): T {
  const found = document.querySelector<T>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}

const search = element<HTMLInputElement>("#search");
const key = element<HTMLInputElement>("#key");
const count = element("#count");

function showTheme() {
  const theme = currentTheme();
  document.documentElement.dataset.theme = theme;
  document.documentElement.classList.toggle("dark-mode", theme === "dark");
}

showTheme();
systemTheme.addEventListener("change", showTheme);

const plugin: Plugin = {
  fn: { opsFilter: findOperations },
  wrapComponents: {
    // The body's field has no label of its own.
    TextArea:
      (TextArea, { React }) =>
      (props) =>
        React.createElement(TextArea, { "aria-label": "Body", ...props }),
  },
  statePlugins: {
    spec: {
      wrapActions: { updateJsonSpec: (update) => (description) => update(withoutOptionalExamples(description)) },
    },
  },
};

const viewer = SwaggerUI({
  domNode: element("#reference"),
  url: "/openapi.json",
  validatorUrl: null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { theme: "obsidian" },
  requestInterceptor: (call) => authorize(call, () => key.value.trim()),
  plugins: [plugin],
  onComplete: () => {
    search.disabled = false;
    showFound();
  },
});

function showFound() {
  const { layoutActions, specSelectors } = viewer.getSystem();
  layoutActions.updateFilter(search.value.trim());
  const n = countOperations(specSelectors.taggedOperations());
  count.textContent = n === 1 ? "1 operation" : `${n} operations`;
}

// The address holds the search, so that it can be passed on.
search.value = new URLSearchParams(location.search).get("search") ?? "";
search.addEventListener("input", () => {
  const phrase = search.value.trim();
  history.replaceState(null, "", phrase ? `?${new URLSearchParams({ search: phrase })}` : location.pathname);
  showFound();
});
