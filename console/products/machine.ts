import type { Product } from './product.ts';

/** A service or script that signs in as itself (RFC 6749 section 4.4). */
export const machine: Omit<Product, 'name'> = {
  id: 'machine',
  words: 'client credentials service cron job m2m',
  address: null,
  redirectUris: [],
  isMachine: true,
  algorithm: 'RS256',
  scope: '',
  pkce: 'none',
  withoutRefresh: true,
  settings: [
    {
      name: 'curl',
      language: 'sh',
      code: ({ issuer, clientId, clientSecret }) => `curl -u ${clientId}:${clientSecret} ${issuer}/oauth2/token \\
  -d grant_type=client_credentials -d resource=https://api.example.com`,
    },
  ],
  sources: [],
};
