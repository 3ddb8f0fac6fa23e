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

const client = (...redirectUris: string[]) =>
  ({
    id: '0193b0a1-0000-7000-8000-000000000001',
    name: 'A <b> & ‹c›',
    redirectUris,
    postLogoutRedirectUris: [],
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

  it.each(['single-page', 'web-server', 'native'] as const)(
    'marks no address of an application that has none: %s',
    (kind) => {
      const snippets = snippetsFor(kind, { client: client(), projectIssuer: 'https://id.example.com/p/acme' });
      for (const { code, label } of snippets) {
        expect(code, label).not.toMatch(/‹[^›]*(?:localhost|5173|3001|callback)/);
        expect(code, label).not.toContain('app.example.com');
      }
    },
  );

  it('returns to the registered address after sign-out', () => {
    const of = {
      ...client('http://localhost:3001/callback'),
      tokenEndpointAuthMethod: 'CLIENT_SECRET_BASIC' as const,
      postLogoutRedirectUris: ['http://localhost:3001/$&'],
    };
    const snippets = snippetsFor('web-server', { client: of, projectIssuer: 'https://id.example.com/p/acme' });
    const servers = snippets.filter(({ code }) => code.includes('createLatchkey('));
    expect(servers).toHaveLength(4);
    for (const { code } of servers) expect(code).toContain("postLogoutRedirectUri: '‹http://localhost:3001/$&›',");
  });

  it('has the name of the application as its title', () => {
    const [alone] = snippetsFor('single-page', {
      client: client('http://localhost:5173/callback'),
      projectIssuer: 'https://id.example.com/p/acme',
    });
    expect(alone?.code).toContain('<title>‹A &lt;b> &amp; ‹c››</title>');
  });
});
