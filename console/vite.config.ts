import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compress } from '../.config/lib/compress.mjs';
import { chunks } from './chunks.ts';
import { buildDocs } from './docs/build.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Texts of the sign-in page, one file per language; the server renders them, the page fetches them. */
const messages: Plugin = {
  name: 'latchkey-messages',
  apply: 'build',
  generateBundle() {
    const folder = here('signin/messages/');
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const texts = Object.entries(JSON.parse(readFileSync(folder + file, 'utf8')) as Record<string, string>);
      // Those of mails are in the server.
      const source = JSON.stringify(Object.fromEntries(texts.filter(([key]) => !key.startsWith('mail.'))));
      this.emitFile({ type: 'asset', fileName: `messages/${file}`, source });
    }
  },
};

/** Omits translations that equal the English text: without a translation, the console shows the English text. */
const translations: Plugin = {
  name: 'latchkey-translations',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/admin\/language\/messages\/(?:\w+\/)?\w+\.json$/.test(id)) return null;
    const entries = Object.entries(JSON.parse(code) as Record<string, string>);
    return JSON.stringify(Object.fromEntries(entries.filter(([english, text]) => text !== english)));
  },
};

/** Precompresses assets. */
const compressed: Plugin = {
  name: 'latchkey-compressed',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    const served = Object.keys(bundle).filter((file) => /^(?:assets|messages)\/.+\.(?:js|css|json|svg)$/.test(file));
    await Promise.all(served.map((file) => compress(join(dir, file))));
  },
};

/**
 * A script of the sign-in page that loads with its styles: on a slow connection, a user may press Enter before the
 * page's own script has loaded. A changed script needs a new name: browsers cache it forever.
 */
const early: Plugin = {
  name: 'latchkey-early',
  apply: 'build',
  generateBundle() {
    const source =
      'addEventListener("keydown",(e)=>{if(e.key==="Enter"&&e.target.id==="userid")document.body.dataset.asked="true"})';
    this.emitFile({ type: 'asset', fileName: 'assets/early-1.js', source });
  },
};

/** The pages of `/docs`, which the server fills into their template. */
const docs: Plugin = {
  name: 'latchkey-docs',
  apply: 'build',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'docs/docs.json', source: JSON.stringify(buildDocs(here('../'))) });
  },
};

/** Page templates filled by the server; see signin/index.html for the placeholders. */
const pages = [
  ...['index', 'signed-out', 'confirm-logout', 'setup', 'mailbox', 'account', 'consent', 'organization'],
  ...[
    'answered',
    'closed',
    'connection-test',
    'ended',
    'error',
    'missing',
    'no-access',
    'portal',
    'reference',
    'signing-out',
    'start',
    'status',
    'unavailable',
  ].map((page) => `plain/${page}`),
  ...['device/code', 'device/match', 'device/approval', 'device/done'],
].map((page) => `signin/${page}.html`);

export default defineConfig({
  root: here('.'),
  base: '/',
  appType: 'mpa',
  resolve: {
    // The SDK's source, so that build and hot reload need no SDK build.
    alias: {
      '@latchkey/browser/internal': here('../shared/browser/src/internal.ts'),
      '@latchkey/browser/qr': here('../shared/browser/src/qr/picture.ts'),
      '@latchkey/contracts/user-agent': here('../shared/contracts/src/user-agent.ts'),
      '@latchkey/contracts/search-fold': here('../shared/contracts/src/search-fold.ts'),
    },
  },
  plugins: [translations, messages, early, docs, compressed, react()],
  build: {
    outDir: here('dist'),
    emptyOutDir: true,
    assetsDir: 'assets',
    // The CSP forbids data: URLs and inline scripts.
    assetsInlineLimit: 0,
    // Preloads only for the page that most visits begin with. A list for each page would exceed the budget of the first page.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (file, dependencies) => (/\/overview-page/.test(file) ? dependencies : []),
    },
    target: 'es2022',
    // A test limits the compressed sizes.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: [...pages, 'demo/index.html', 'docs/index.html', 'admin/index.html'].map((page) => here(page)),
      output: { codeSplitting: { groups: chunks } },
    },
  },
});
