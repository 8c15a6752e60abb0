import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { App } from "./app";
import { WordsProvider } from "./i18n";
import { ToastProvider } from "./ui/toast";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./ui/layout.css";
import "./ui/data.css";
import "./ui/letters.css";
import "./ui/pages.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000,
      refetchOnWindowFocus: false,
      // What the server said clearly it will say again; only silence is worth another try.
      retry: (count, error) => error instanceof Problem && (error.status === 0 || error.status >= 500) && count < 2,
    },
  },
});

const root = document.getElementById("root");
if (!root) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <WordsProvider>
        <ToastProvider>
          <App />
        </ToastProvider>
      </WordsProvider>
    </QueryClientProvider>
  </StrictMode>,
);
