import { expect, it } from 'vitest';
import { snippetsOfApi } from './snippets.ts';

it('code that protects an API checks issuer, audience, type, algorithm and scope', () => {
  const api = {
    issuer: 'https://id.example.com/p/acme',
    identifier: 'https://mcp.example.com/mcp',
    metadataUrl: 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp',
    scopes: [{ key: 'notes:read' }],
  };
  const snippets = snippetsOfApi(api);
  expect(snippets.map(({ label }) => label)).toEqual(['TypeScript', 'Python']);
  for (const { code } of snippets) {
    for (const value of [api.issuer, api.identifier, 'notes:read']) expect(code).toContain(`‹${value}›`);
    for (const check of ['issuer', 'audience', 'at+jwt', 'ES256']) expect(code).toContain(check);
    expect(code).not.toContain('undefined');
  }
});
