import { defineConfig } from "@playwright/test";

// Debian's Chromium is used as it is; CHROMIUM names another one.
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: ".",
  outputDir: "../test-results",
  workers: 1,
  fullyParallel: false,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    trace: "off",
    launchOptions: { executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] },
  },
});
