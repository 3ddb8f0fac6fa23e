import { defineConfig } from '@playwright/test';

/** Chromium without background requests; its sandbox does not work as root. */
const args = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

export default defineConfig({
  testDir: 'specs',
  outputDir: 'test-results',
  globalSetup: './support/global-setup.ts',
  workers: 2,
  timeout: 480_000,
  expect: { timeout: 60_000 },
  retries: Number(process.env['LATCHKEY_TEST_RETRIES'] ?? 2),
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    browserName: 'chromium',
    // By default, an action on a page that hangs waits until the test times out.
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    // Set by `npm test`.
    launchOptions: { executablePath: process.env['LATCHKEY_BROWSER'] ?? process.env['CHROME_PATH'], args },
    locale: 'en-GB',
    screenshot: 'only-on-failure',
    // Recording each test costs much of its time.
    trace: 'on-first-retry',
  },
});
