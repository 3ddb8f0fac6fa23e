import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InteropClient } from './clients.ts';
import { installed, NotInstalled } from './runtimes/install.ts';

const documentation = new URL('../../server/docs/products.md', import.meta.url);

interface Values {
  ISSUER: string;
  CLIENT_ID: string;
  CLIENT_SECRET: string;
  ORIGIN: string;
}

/** The text that an admin pastes into a product: the same data makes the wizard and the documentation. */
function settingsOf(id: string, { ISSUER, CLIENT_ID, CLIENT_SECRET, ORIGIN }: Values): string {
  const section = readFileSync(documentation, 'utf8').split(`<!-- settings: ${id} -->`)[1]?.split('<!-- end -->')[0];
  const [, address = '', text = ''] =
    /redirect URI `(https:\/\/[^/`]+)[^]*?```\w+\n([^]*?)\n```/.exec(section ?? '') ?? [];
  if (text === '') throw new Error(`server/docs/products.md has no settings of ${id}`);
  const secrets = [CLIENT_ID, CLIENT_SECRET];
  return text
    .replaceAll('https://id.example.com/p/acme', ISSUER)
    .replaceAll(address, ORIGIN)
    .replaceAll('…', () => secrets.shift() ?? '');
}

let folder = '';

/** Products that npm installs, with the settings of the wizard and no others. */
export const products: readonly InteropClient[] = [
  {
    name: 'Node-RED',
    ...{ callback: '/auth/strategy/callback/', login: '/auth/strategy', logout: null, pkce: false, showsSub: false },
    async lacks() {
      try {
        folder = await installed('node-red', { 'node-red': '4.1.15', 'passport-openidconnect': '0.1.2' });
        return null;
      } catch (error) {
        if (error instanceof NotInstalled) return error.message;
        throw error;
      }
    },
    start(registration) {
      const settings = join(folder, 'settings.cjs');
      const port = `uiHost: '127.0.0.1', uiPort: ${registration.PORT},`;
      writeFileSync(settings, `module.exports = { ${port}\n${settingsOf('node-red', registration)}\n};\n`);
      const program = join(folder, 'node_modules/node-red/red.js');
      const args = [program, '--settings', settings, '--userDir', join(folder, 'user')];
      return { process: spawn(process.execPath, args, { stdio: 'pipe' }), clear: () => undefined };
    },
    // The editor gets its token in its address.
    async reads(_page, address) {
      const token = address.searchParams.get('access_token');
      if (token === null) return address.search;
      const answer = await fetch(new URL('/settings', address), { headers: { authorization: `Bearer ${token}` } });
      return answer.text();
    },
  },
];
