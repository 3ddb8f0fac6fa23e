import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The texts of the sign-in page, one file a language, beside the pages: the server fills them in, the page fetches them. */
const messages: Plugin = {
  name: 'latchkey-messages',
  apply: 'build',
  generateBundle() {
    const folder = here('signin/messages/');
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const source = JSON.stringify(JSON.parse(readFileSync(folder + file, 'utf8')));
      this.emitFile({ type: 'asset', fileName: `messages/${file}`, source });
    }
  },
};

/** Each page is a template that the server fills before it is sent: see signin/index.html for its placeholders. */
const pages = ['index', 'error', 'unavailable', 'signed-out', 'confirm-logout', 'setup', 'mailbox', 'account'].map(
  (page) => `signin/${page}.html`,
);

export default defineConfig({
  root: here('.'),
  base: '/',
  appType: 'mpa',
  resolve: {
    // The SDK's source, so that neither the build nor hot reload waits for its own build.
    alias: { '@latchkey/browser/internal': here('../shared/browser/src/internal.ts') },
  },
  plugins: [messages, react()],
  build: {
    outDir: here('dist'),
    emptyOutDir: true,
    assetsDir: 'assets',
    // The content security policy allows no data: URL and no inline script.
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
    rolldownOptions: { input: [...pages, 'demo/index.html', 'admin/index.html'].map((page) => here(page)) },
  },
});
