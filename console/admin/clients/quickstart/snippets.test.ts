import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import type { Client } from '../client-part.ts';
import { snippetsFor } from './snippets.ts';

// The settings are in the page.
vi.hoisted(() => {
  Object.assign(globalThis, {
    document: { querySelector: () => null },
    location: { origin: 'https://id.example.com' },
  });
});

const client = (redirectUri: string) =>
  ({
    id: '0193b0a1-0000-7000-8000-000000000001',
    redirectUris: [redirectUri],
    tokenEndpointAuthMethod: 'NONE',
    idTokenSignedResponseAlg: 'ES512',
    grantTypes: ['AUTHORIZATION_CODE'],
  }) as unknown as Client;

describe('a snippet', () => {
  // Redirect URIs may contain each of them.
  it.each(["';globalThis.stolen=1;'", "'+globalThis.stolen+'", '${1}$&', 'os.Getenv(1)'])(
    'does not run %s of a redirect URI',
    (part) => {
      const uri = `https://app.example.com/callback?a=${part}`;
      const snippets = snippetsFor('web-server', {
        client: client(uri),
        projectIssuer: 'https://id.example.com/p/acme',
      });
      const literals = snippets.flatMap(({ code, label }) => {
        const plain = code.replace(/‹([^›]*)›/g, '$1');
        return [...plain.matchAll(/redirectUri(?::| =) (.*?)[,;]?$/gm)].map(([, literal = '']) => [label, literal]);
      });
      expect(literals.map(([label]) => label)).toEqual(['Express', 'Fastify', 'Hono', 'Next.js', 'openid-client']);
      for (const [, literal] of literals) expect(runInNewContext(`(${literal})`)).toBe(uri);
    },
  );
});
