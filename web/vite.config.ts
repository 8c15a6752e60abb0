import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// While developing, requests go on to a running server. With KURIER_ADMIN_KEY they carry that key,
// so the pages can be worked on against a server that knows no users yet.
const target = process.env.KURIER_URL ?? "http://127.0.0.1:8787";
const key = process.env.KURIER_ADMIN_KEY;
const backend = { target, changeOrigin: false, headers: key ? { Authorization: `Bearer ${key}` } : {} };
const ingest = { target, changeOrigin: false };
const proxy = {
  "/api/": backend,
  "/v1/": ingest,
  "/bundle/": backend,
  "/ready/": backend,
  "/readyz": ingest,
  "/openapi.json": ingest,
};

export default defineConfig({
  plugins: [react()],
  server: { proxy },
  preview: { proxy },
  build: {
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The viewer of the reference comes as one file of 1.5 MB, and only /docs loads it.
    chunkSizeWarningLimit: 1600,
    rolldownOptions: { input: ["index.html", "docs.html"] },
  },
  test: { include: ["src/**/*.test.ts"] },
});
