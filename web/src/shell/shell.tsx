import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { api } from "../api/client";
import { useWords, type Key } from "../i18n";
import { Button, IconButton } from "../ui/controls";
import { Icon, type IconName } from "../ui/icons";
import { Link, navigate, usePath } from "./router";
import { SESSION, useSession } from "./session";
import { useTheme } from "./theme";

type Entry = { to: string; key: Key; icon: IconName };
type Group = { title: Key | null; entries: Entry[] };

const GROUPS: Group[] = [
  {
    title: null,
    entries: [
      { to: "/", key: "nav.overview", icon: "overview" },
      { to: "/start", key: "nav.start", icon: "play" },
    ],
  },
  {
    title: "nav.group.people",
    entries: [
      { to: "/contacts", key: "nav.contacts", icon: "contacts" },
      { to: "/segments", key: "nav.segments", icon: "segments" },
    ],
  },
  {
    title: "nav.group.flow",
    entries: [
      { to: "/journeys", key: "nav.journeys", icon: "journeys" },
      { to: "/messages", key: "nav.messages", icon: "messages" },
      { to: "/outbox", key: "nav.outbox", icon: "outbox" },
      { to: "/dead-letters", key: "nav.dead", icon: "dead" },
      { to: "/templates", key: "nav.templates", icon: "templates" },
    ],
  },
  {
    title: "nav.group.publish",
    entries: [
      { to: "/content", key: "nav.content", icon: "content" },
      { to: "/bundles", key: "nav.bundles", icon: "bundles" },
    ],
  },
  {
    title: "nav.group.system",
    entries: [
      { to: "/projections", key: "nav.projections", icon: "projections" },
      { to: "/slack-workspaces", key: "nav.slack", icon: "slack" },
      { to: "/settings", key: "nav.settings", icon: "settings" },
    ],
  },
];

const isCurrent = (to: string, path: string) => (to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`));

function Navigation() {
  const { t } = useWords();
  const path = usePath();
  return (
    <nav className="nav" aria-label={t("app.navigation")}>
      {GROUPS.map((group, index) => (
        <div key={index}>
          {group.title && <h2>{t(group.title)}</h2>}
          <ul>
            {group.entries.map((entry) => (
              <li key={entry.to}>
                <Link to={entry.to} aria-current={isCurrent(entry.to, path) ? "page" : undefined}>
                  <Icon name={entry.icon} />
                  {t(entry.key)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Language and colours, wherever there is room for them. */
export function Preferences() {
  const { t, language, setLanguage } = useWords();
  const [theme, setTheme] = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <div className="actions">
      <Button kind="quiet" small icon={other === "dark" ? "moon" : "sun"} onClick={() => setTheme(other)}>
        {t(`app.theme.${other}`)}
      </Button>
      <Button
        kind="quiet"
        small
        lang={language === "de" ? "en" : "de"}
        onClick={() => setLanguage(language === "de" ? "en" : "de")}
      >
        {t("app.language")}
      </Button>
    </div>
  );
}

function Account() {
  const { t, word } = useWords();
  const { user } = useSession();
  const client = useQueryClient();
  const signOut = async () => {
    await api.del("/api/v1/session");
    navigate("/");
    await client.invalidateQueries({ queryKey: SESSION });
    // What one user saw is not kept for the next.
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION[0] });
  };
  return (
    <div className="account">
      <div className="who" title={user.email}>
        <strong>{user.name || user.email}</strong> <span className="soft">{word("role", user.role)}</span>
      </div>
      <Preferences />
      {user.id !== "proxy" && (
        <Button small onClick={() => void signOut()}>
          {t("signin.out")}
        </Button>
      )}
    </div>
  );
}

export function Shell({ children }: { children: ReactNode }) {
  const { t } = useWords();
  const { demo, user } = useSession();
  const path = usePath();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t("app.skip")}
      </a>
      <div className="topbar">
        <Link to="/" className="brand">
          <img src="/favicon.svg" alt="" />
          Kurier
        </Link>
        <IconButton
          icon={open ? "close" : "menu"}
          label={t("app.menu")}
          aria-expanded={open}
          aria-controls="side"
          onClick={() => setOpen(!open)}
        />
      </div>
      <div className="side" id="side" data-open={open}>
        <Link to="/" className="brand">
          <img src="/favicon.svg" alt="" />
          Kurier
        </Link>
        <Navigation />
        <Account />
      </div>
      <main className="main" id="content" tabIndex={-1}>
        {demo && <p className="demo note small">{t("app.demo")}</p>}
        {!demo && user.role === "viewer" && <p className="demo note small">{t("app.readOnly")}</p>}
        {children}
      </main>
    </div>
  );
}
