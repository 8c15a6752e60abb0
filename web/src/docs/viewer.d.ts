// The parts of Swagger UI that the reference uses: the package has no types of its own.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** OpenAPI: an item for each path, an operation for each method. */
  export type Parameter = { required?: boolean; example?: unknown; schema?: { example?: unknown } };
  export type Operation = { parameters?: Parameter[] };
  export type Description = { paths?: Record<string, Record<string, Operation>> };

  /** A persistent map of Immutable.js. */
  export type Fields = { get: (name: string) => unknown; getIn: (path: string[]) => unknown };
  export type Operations = { size: number; filter: (keep: (operation: Fields) => boolean) => Operations };
  export type Tag = {
    get: (name: "operations") => Operations;
    set: (name: "operations", operations: Operations) => Tag;
  };
  export type Tags = {
    map: (change: (tag: Tag, name: string) => Tag) => Tags;
    filter: (keep: (tag: Tag) => boolean) => Tags;
    reduce: (add: (sum: number, tag: Tag) => number, start: number) => number;
  };
  export type Call = {
    /** Set where the description itself is asked for. */
    loadSpec?: boolean;
    userFetch?: typeof fetch;
    /** Words that the shown curl command has after its name. */
    curlOptions?: string[];
  };
  type Component = (props: object) => unknown;
  type ViewerReact = { createElement: (component: Component, props: object) => unknown };
  type UpdateDescription = (description: Description) => unknown;
  export type Plugin = {
    fn: { opsFilter: (tags: Tags, phrase: string) => Tags };
    wrapComponents: { TextArea: (component: Component, system: { React: ViewerReact }) => Component };
    statePlugins: { spec: { wrapActions: { updateJsonSpec: (update: UpdateDescription) => UpdateDescription } } };
  };
  type Options = {
    domNode: Element;
    url: string;
    validatorUrl: null;
    tryItOutEnabled: boolean;
    displayRequestDuration: boolean;
    defaultModelsExpandDepth: number;
    syntaxHighlight: { theme: string };
    requestInterceptor: (call: Call) => Call;
    plugins: Plugin[];
    onComplete: () => void;
  };
  type System = {
    layoutActions: { updateFilter: (phrase: string) => void };
    specSelectors: { taggedOperations: () => Tags };
  };
  export default function SwaggerUI(options: Options): { getSystem: () => System };
}
