import { describe, expect, it } from 'vitest';
import { protectedResource } from './protected-resource.ts';

const issuer = 'https://id.example.com/p/acme';
const of = (identifier: string) =>
  protectedResource({ identifier, name: 'Notes', scopes: [{ key: 'read', description: 'Read' }] }, issuer);

describe('the metadata of an API (RFC 9728)', () => {
  it.each([
    ['https://mcp.example.com/mcp', 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp'],
    ['https://mcp.example.com', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['https://mcp.example.com/', 'https://mcp.example.com/.well-known/oauth-protected-resource'],
    ['https://mcp.example.com/a?b=c', 'https://mcp.example.com/.well-known/oauth-protected-resource/a?b=c'],
    ['http://localhost:4000/mcp', 'http://localhost:4000/.well-known/oauth-protected-resource/mcp'],
  ])('of %s is at %s (section 3.1), and names the identifier as it is written', (identifier, metadataUrl) => {
    expect(of(identifier)).toMatchObject({ metadataUrl, metadata: { resource: identifier } });
  });

  it('names the issuer and the scopes (section 2)', () => {
    expect(of('https://mcp.example.com/mcp')?.metadata).toEqual({
      resource: 'https://mcp.example.com/mcp',
      authorization_servers: [issuer],
      scopes_supported: ['read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Notes',
    });
  });

  it.each(['urn:example:notes', 'com.example:/notes'])('is absent for %s, which is no address', (identifier) => {
    expect(of(identifier)).toBeNull();
  });
});
