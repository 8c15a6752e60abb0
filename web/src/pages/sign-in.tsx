import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api } from "../api/client";
import { useWords } from "../i18n";
import { navigate } from "../shell/router";
import { SESSION } from "../shell/session";
import { Preferences } from "../shell/shell";
import { Button, TextField } from "../ui/controls";
import { Note } from "../ui/layout";
import { problemTextInFull } from "../ui/problem-text";

const text = (form: FormData, name: string) => String(form.get(name) ?? "");

/** The door: sign in, or at the very first start make the user who owns the workspace. */
export function SignIn({ first = false, demo = false }: { first?: boolean; demo?: boolean }) {
  const { t, language } = useWords();
  const client = useQueryClient();
  const [fault, setFault] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const enter = async (path: string, body: unknown) => {
    setBusy(true);
    setFault(null);
    try {
      await api.post(path, body);
      if (first) navigate("/start", "replace");
      await client.invalidateQueries({ queryKey: SESSION });
    } catch (error) {
      setFault(problemTextInFull(language, error));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = { email: text(form, "email"), password: text(form, "password") };
    if (!first) return void enter("/api/v1/session", body);
    void enter("/api/v1/setup", { ...body, name: text(form, "name"), key: text(form, "key") });
  };
  return (
    <main className="door">
      <div className="panel">
        <div className="body">
          <div className="brand">
            <img src="/favicon.svg" alt="" />
            Kurier
          </div>
          <div>
            <h1>{first ? t("setup.title") : t("signin.title")}</h1>
            {first && <p className="soft">{t("setup.lead")}</p>}
          </div>
          {demo && (
            <div className="stack">
              <Button kind="primary" busy={busy} onClick={() => void enter("/api/v1/session", { demo: true })}>
                {t("signin.demo")}
              </Button>
              <p className="small soft">{t("signin.demoHint")}</p>
            </div>
          )}
          {fault && <Note tone="bad">{fault}</Note>}
          <form className="form" onSubmit={submit}>
            {first && <TextField label={t("setup.name")} name="name" autoComplete="name" required />}
            <TextField label={t("signin.email")} name="email" type="email" autoComplete="username" required />
            <TextField
              label={t("signin.password")}
              name="password"
              type="password"
              minLength={first ? 10 : undefined}
              hint={first ? t("setup.passwordHint") : undefined}
              autoComplete={first ? "new-password" : "current-password"}
              required
            />
            {first && (
              <TextField label={t("setup.key")} name="key" hint={t("setup.keyHint")} autoComplete="off" required />
            )}
            <Button kind={demo ? undefined : "primary"} type="submit" busy={busy}>
              {first ? t("setup.action") : t("signin.action")}
            </Button>
          </form>
          <Preferences />
        </div>
      </div>
    </main>
  );
}
