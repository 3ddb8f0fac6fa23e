import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { compile } from 'svelte/compiler';
import { compileScript, parse } from 'vue/compiler-sfc';
import { type Served, serve } from '../clients/serve.ts';
import { AdminApi } from '../support/admin-api.ts';
import { Application, Inbox } from '../support/application.ts';
import { InstalledSdk } from '../support/installed-sdk.ts';
import { type Latchkey, startLatchkey } from '../support/latchkey.ts';

/** The README's components around `<latchkey-sign-in>`, on the packages that the instance serves. React has its own package. */

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

let latchkey: Latchkey;
let admin: AdminApi;
let sdk: InstalledSdk;
let site: Served;
let application: Application;

test.beforeAll(async () => {
  latchkey = await startLatchkey();
  admin = new AdminApi(latchkey.baseUrl, latchkey.adminToken);
  sdk = new InstalledSdk(latchkey.baseUrl);
  for (const name of ['vue', 'svelte']) symlinkSync(join(modules, name), join(sdk.folder, 'node_modules', name));
  site = await serve(() => sdk.listener);
  application = await Application.register(admin, latchkey, `${site.origin}/callback`, { pkceRequired: true });
});

test.afterAll(async () => {
  await site.close();
  sdk.remove();
  await latchkey.stop();
});

/** The README's component in a language, with the application's values. */
function componentOf(language: 'svelte' | 'vue'): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(sdk.readme)?.[1] ?? '';
  const filled = found
    .replace('lk_pk_…', application.publishableKey)
    .replace('https://id.example.com', latchkey.baseUrl);
  expect(filled).toContain(application.publishableKey);
  expect(filled).not.toContain('example.com');
  return filled;
}

/** Each component, compiled by its framework's Vite plugin, and the program that mounts it. */
const frameworks = {
  vue: (source: string): [code: string, main: string] => {
    const { descriptor } = parse(source);
    const { content } = compileScript(descriptor, {
      id: 'app',
      inlineTemplate: true,
      templateOptions: { compilerOptions: { isCustomElement: (tag) => tag === 'latchkey-sign-in' } },
    });
    const main = `import { createApp } from 'vue'; import App from './vue-app.js';
      createApp(App, { onCode: window.oncode, onDone: window.ondone }).mount('#root');`;
    return [content, main];
  },
  svelte: (source: string): [code: string, main: string] => {
    const { js } = compile(source, { generate: 'client' });
    const main = `import { mount } from 'svelte'; import App from './svelte-app.js';
      mount(App, { target: document.querySelector('#root'), props: { oncode: window.oncode, ondone: window.ondone } });`;
    return [js.code, main];
  },
};

for (const framework of ['vue', 'svelte'] as const) {
  test(`<latchkey-sign-in> signs users in inside a component of ${framework}`, async ({ page }) => {
    const [code, main] = frameworks[framework](componentOf(framework));
    sdk.write(`${framework}-app.js`, code);
    sdk.write(
      'main.js',
      `window.seen = []; window.oncode = (detail) => window.seen.push(detail);
      window.ondone = () => window.seen.push('done'); await import('./${framework}.js');`,
    );
    sdk.write(`${framework}.js`, main);
    sdk.write(
      'index.html',
      '<!doctype html><title>App</title><div id="root"></div><script type="module" src="./main.js"></script>',
    );
    sdk.build();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => void (message.type() === 'warning' && faults.push(message.text())));
    await page.context().grantPermissions(['local-network-access']);
    await page.goto(`${site.origin}/dist/`);
    const userid = `${framework}@example.com`;
    await page.getByLabel('Email address').fill(userid);
    await page.keyboard.press('Enter');
    await page.getByLabel('Six-digit code').fill(await new Inbox(admin, userid).code());
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('window.seen.at(-1)')).toBe('done');
    const issued = await page.evaluate<{ code: string; codeVerifier: string }>('window.seen[0]');
    expect(await application.redeem(issued.code, issued)).toMatchObject({ email: userid });
    expect(faults).toEqual([]);
  });
}
