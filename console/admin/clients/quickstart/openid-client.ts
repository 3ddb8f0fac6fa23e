import { settings } from '../../settings.ts';
import type { Snippet } from '../../ui/code/snippets.tsx';
import {
  clientIdOf,
  issuerOf,
  keyAlgorithmOf,
  portOf,
  proofOf,
  redirectStringOf,
  type SnippetValues,
  signatureOf,
} from './values.ts';

/** Client authentication, as openid-client writes it. */
const proofs: Record<
  ReturnType<typeof proofOf>,
  (values: SnippetValues) => { packages?: string; imports?: string; code: string }
> = {
  none: () => ({ code: 'const auth = client.None(); // public: PKCE alone' }),
  secret: ({ client: { tokenEndpointAuthMethod } }) => ({
    code: `const auth = client.${tokenEndpointAuthMethod === 'CLIENT_SECRET_POST' ? 'ClientSecretPost' : 'ClientSecretBasic'}(process.env.CLIENT_SECRET); // lk_cs_…`,
  }),
  key: (values) => ({
    packages: ' jose',
    imports: "\nimport { readFileSync } from 'node:fs';\nimport { importPKCS8 } from 'jose';",
    code: `const key = await importPKCS8(readFileSync('client-key.private.pem', 'utf8'), '${keyAlgorithmOf(values)}');
const auth = client.PrivateKeyJwt(key);`,
  }),
};

/** A server with the library openid-client 6. */
export function openidClient(values: SnippetValues): Snippet {
  const proof = proofs[proofOf(values)](values);
  const variable = proofOf(values) === 'secret' ? 'CLIENT_SECRET=… ' : '';
  const isHttp = settings.issuer.startsWith('http:');
  return {
    label: 'openid-client',
    code: `// npm install openid-client${proof.packages ?? ''}
// Save as server.mjs, then: ${variable}node server.mjs
import { createServer } from 'node:http';${proof.imports ?? ''}
import * as client from 'openid-client';

${proof.code}
const config = await client.discovery(
  new URL('${issuerOf(values)}'),
  '${clientIdOf(values)}',
  { id_token_signed_response_alg: '${signatureOf(values)}' },
  auth,${isHttp ? '\n  { execute: [client.allowInsecureRequests] }, // http, on this machine only' : ''}
);
const redirectUri = ${redirectStringOf(values)};

// Supports one sign-in at a time. A real server keeps both values in the browser's session.
let codeVerifier;
let state;

async function begin(res) {
  codeVerifier = client.randomPKCECodeVerifier();
  state = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    state,
  });
  res.writeHead(303, { Location: url.href }).end();
}

async function finish(currentUrl, res) {
  const tokens = await client.authorizationCodeGrant(config, currentUrl, {
    pkceCodeVerifier: codeVerifier,
    expectedState: state,
  });
  // Begin your own session here. Key your accounts on claims().sub.
  res.setHeader('Content-Type', 'application/json').end(JSON.stringify(tokens.claims()));
}

createServer(async (req, res) => {
  const currentUrl = new URL(req.url, redirectUri);
  try {
    if (currentUrl.pathname === new URL(redirectUri).pathname) await finish(currentUrl, res);
    else if (currentUrl.pathname === '/login') await begin(res);
    else res.writeHead(404).end();
  } catch (error) {
    res.writeHead(400).end(String(error));
  }
}).listen(${portOf(values)}, () => console.log(\`Open \${new URL('/login', redirectUri)}\`));`,
  };
}
