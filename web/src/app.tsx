import { lazy, Suspense, useMemo, type ComponentType } from "react";
import { useWords } from "./i18n";
import { SignIn } from "./pages/sign-in";
import { match, usePath, type Params } from "./shell/router";
import { SessionProvider, useStanding } from "./shell/session";
import { Shell } from "./shell/shell";
import { ButtonLink } from "./ui/controls";
import { Page } from "./ui/layout";
import { Boundary, Empty, Failure, Loading } from "./ui/states";
import { useTheme } from "./shell/theme";

export type PageProps = { params: Params };
type Route = [pattern: string, page: ComponentType<PageProps>];

// Each page is fetched when it is first opened. One that stands at two paths is one page, and keeps what is open on it.
const Content = lazy(() => import("./pages/content"));
const Settings = lazy(() => import("./pages/settings"));
const ROUTES: Route[] = [
  ["/", lazy(() => import("./pages/overview"))],
  ["/start", lazy(() => import("./pages/start"))],
  ["/contacts", lazy(() => import("./pages/contacts/list"))],
  ["/contacts/import", lazy(() => import("./pages/contacts/import"))],
  ["/contacts/:id", lazy(() => import("./pages/contacts/detail"))],
  ["/segments", lazy(() => import("./pages/segments/list"))],
  ["/segments/new", lazy(() => import("./pages/segments/edit"))],
  ["/segments/:id", lazy(() => import("./pages/segments/detail"))],
  ["/segments/:id/edit", lazy(() => import("./pages/segments/edit"))],
  ["/journeys", lazy(() => import("./pages/journeys/list"))],
  ["/journeys/:id", lazy(() => import("./pages/journeys/canvas"))],
  ["/journeys/:id/runs", lazy(() => import("./pages/journeys/runs"))],
  ["/runs/:id", lazy(() => import("./pages/journeys/run"))],
  ["/messages", lazy(() => import("./pages/messages/list"))],
  ["/messages/:id", lazy(() => import("./pages/messages/detail"))],
  ["/outbox", lazy(() => import("./pages/messages/outbox"))],
  ["/dead-letters", lazy(() => import("./pages/messages/dead"))],
  ["/templates", lazy(() => import("./pages/templates/list"))],
  ["/templates/new", lazy(() => import("./pages/templates/edit"))],
  ["/templates/:name", lazy(() => import("./pages/templates/edit"))],
  ["/content", Content],
  ["/content/:key", Content],
  ["/bundles", lazy(() => import("./pages/bundles/list"))],
  ["/bundles/:id", lazy(() => import("./pages/bundles/detail"))],
  ["/projections", lazy(() => import("./pages/projections"))],
  ["/slack-workspaces", lazy(() => import("./pages/slack"))],
  ["/settings", Settings],
  ["/settings/:tab", Settings],
];

function NotFound() {
  const { t } = useWords();
  return (
    <Page title={t("page.notFound")}>
      <Empty title={t("page.notFound")} action={<ButtonLink to="/">{t("page.toOverview")}</ButtonLink>}>
        {t("page.notFoundHint")}
      </Empty>
    </Page>
  );
}

function CurrentPage() {
  const path = usePath();
  const found = useMemo(() => {
    for (const [pattern, page] of ROUTES) {
      const params = match(pattern, path);
      if (params) return { Found: page, params };
    }
    return null;
  }, [path]);
  if (!found) return <NotFound />;
  // A page about something else begins anew; tabs of one page do not.
  const key = found.params.id ?? found.params.name ?? "";
  return (
    <Boundary about={path}>
      <Suspense fallback={<Loading lines={6} />}>
        <found.Found key={key} params={found.params} />
      </Suspense>
    </Boundary>
  );
}

export function App() {
  useTheme();
  const standing = useStanding();
  switch (standing.is) {
    case "loading":
      return <Loading lines={6} />;
    case "unreachable":
      return <Failure error={standing.error} retry={standing.retry} />;
    case "setup":
      return <SignIn first />;
    case "signed_out":
      return <SignIn demo={standing.demo} />;
    case "signed_in":
      return (
        <SessionProvider session={standing.session}>
          <Shell>
            <CurrentPage />
          </Shell>
        </SessionProvider>
      );
  }
}
