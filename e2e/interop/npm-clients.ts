import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { InteropClient } from './clients.ts';
import { installed, NotInstalled } from './runtimes/install.ts';

/** Applications with libraries of npm that are no dependencies of this repository. */
export const npmClients: readonly InteropClient[] = [
  {
    name: 'better-auth, generic OAuth',
    ...{ callback: '/api/auth/callback/latchkey', login: '/login', logout: '/logout', pkce: true },
    ...application('better_auth', { 'better-auth': '1.7.25' }),
  },
  {
    name: '@hono/oidc-auth',
    ...{ callback: '/callback', login: '/account', logout: null, pkce: true },
    ...application('hono_auth', { hono: '4.13.19', '@hono/node-server': '2.1.9', '@hono/oidc-auth': '1.8.1' }),
  },
  {
    name: '@fastify/oauth2',
    ...{ callback: '/callback', login: '/login', logout: '/logout', pkce: true },
    ...application('fastify_auth', { fastify: '5.12.8', '@fastify/oauth2': '8.3.0' }),
  },
];

/** A program of `apps`, which runs in the folder of its packages. */
function application(name: string, packages: Record<string, string>): Pick<InteropClient, 'lacks' | 'start'> {
  let folder = '';
  return {
    async lacks() {
      try {
        folder = await installed(name, packages);
        return null;
      } catch (error) {
        if (error instanceof NotInstalled) return error.message;
        throw error;
      }
    },
    start: (registration) => {
      const program = join(folder, 'main.mjs');
      cpSync(join(import.meta.dirname, 'apps', `${name}.mjs`), program);
      const env = { ...process.env, ...registration };
      return { process: spawn(process.execPath, [program], { env, stdio: 'pipe' }), clear: () => undefined };
    },
  };
}
