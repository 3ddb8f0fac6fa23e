import { settings } from '../../settings.ts';
import type { Snippet } from '../../ui/code/snippets.tsx';
import type { ClientKind } from '../kind.ts';

export interface SnippetValues {
  clientId: string;
  redirectUri: string | undefined;
  isPublic: boolean;
  /** Known only at creation. */
  publishableKey?: string | undefined;
}

/** Runnable code; this application's values stand between ‹ and ›. */
export function snippetsFor(kind: ClientKind, values: SnippetValues): Snippet[] {
  const all = { browser: browser(values), node: node(values), openid: openidClient(values), curl: curl(values) };
  if (kind === 'web-server') return [all.node, all.openid, all.browser, all.curl];
  return kind === 'native' ? [all.openid, all.curl] : [all.browser, all.node, all.openid, all.curl];
}

const issuer = () => `‹${settings.issuer}›`;
const clientIdOf = ({ clientId }: SnippetValues) => `‹${clientId}›`;
const redirectOf = ({ redirectUri }: SnippetValues) => `‹${redirectUri ?? 'https://app.example.com/callback'}›`;

function browser(values: SnippetValues): Snippet {
  return {
    label: '@latchkey/browser',
    code: `// npm install @latchkey/browser
// Works from the origins of this application's redirect URIs.
import * as latchkey from '@latchkey/browser';

await latchkey.init({
  apiKey: '‹${values.publishableKey ?? 'lk_pk_…'}›', // the publishable key
  baseUrl: '${issuer()}',
});

export async function signIn(userid) {
  let step = await latchkey.authenticate(userid, { rememberDevice: true });
  if (step.status === 'OTP_NEEDED') {
    await latchkey.verifyEmailOtp({ userid, otp: prompt(\`The code sent to \${step.sentTo}\`) });
    step = await latchkey.verifyDevice({ userid });
    if (step.status === 'DEVICE_REGISTERED') step = await latchkey.authenticate(userid);
  }
  if (step.status === 'MFA_REQUIRED') {
    await latchkey.initiateMfa({ userid, sessionId: step.sessionId });
    step = await latchkey.verifyMfa({ userid, otp: prompt(\`The \${step.method} code\`) });
  }
  // SUCCESS carries a code (single use, 60 seconds) and its PKCE verifier, both for your back end.
  await fetch('/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: step.code, code_verifier: step.codeVerifier }),
  });
}`,
  };
}

function node(values: SnippetValues): Snippet {
  return {
    label: '@latchkey/node',
    code: `// npm install @latchkey/node express
import { createLatchkeyMiddleware } from '@latchkey/node';
import express from 'express';

const latchkey = createLatchkeyMiddleware({
  baseUrl: '${issuer()}',
  clientId: '${clientIdOf(values)}',
  apiKey: process.env.LATCHKEY_API_KEY, // the secret key, lk_sk_…
  redirectUri: '${redirectOf(values)}',
});

const onSignIn = ({ claims }, req, res) => {
  // Begin your own session here. Key your accounts on claims.sub.
  res.json({ hello: claims.email });
};

const app = express();
app.post('/sign-in', latchkey.signIn({ onSignIn })); // {code, code_verifier} from @latchkey/browser
app.get('/login', latchkey.begin()); // or the hosted sign-in page
app.get('‹${pathOf(values.redirectUri)}›', latchkey.callback({ onSignIn }));
app.listen(‹${portOf(values.redirectUri)}›);`,
  };
}

function openidClient(values: SnippetValues): Snippet {
  const { isPublic } = values;
  const isHttp = settings.issuer.startsWith('http:');
  const imports = isPublic ? '' : "\nimport { readFileSync } from 'node:fs';\nimport { importPKCS8 } from 'jose';";
  const auth = isPublic
    ? 'const auth = client.None(); // public: PKCE alone'
    : "const key = await importPKCS8(readFileSync('client-key.private.pem', 'utf8'), 'Ed25519');\nconst auth = client.PrivateKeyJwt(key);";
  return {
    label: 'openid-client',
    code: `// npm install openid-client${isPublic ? '' : ' jose'}
import { createServer } from 'node:http';${imports}
import * as client from 'openid-client';

${auth}
const config = await client.discovery(
  new URL('${issuer()}'),
  '${clientIdOf(values)}',
  { id_token_signed_response_alg: 'ES512' },
  auth,${isHttp ? '\n  { execute: [client.allowInsecureRequests] }, // http, on this machine only' : ''}
);
const redirectUri = '${redirectOf(values)}';

// One sign-in at a time will do here. A real server keeps these two in each browser's session.
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
}).listen(‹${portOf(values.redirectUri)}›); // then open /login there`,
  };
}

function curl(values: SnippetValues): Snippet {
  const redirect = values.redirectUri ?? 'https://app.example.com/callback';
  const assertion = `
# 4. The client proves itself: a JWT of a minute, signed with its private key
b64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
NOW=$(date +%s)
HEAD=$(printf '{"alg":"EdDSA"}' | b64)
BODY=$(printf '{"iss":"%s","sub":"%s","aud":"%s","jti":"%s","iat":%s,"exp":%s}' \\
  '${clientIdOf(values)}' '${clientIdOf(values)}' '${issuer()}' "$(openssl rand -hex 16)" "$NOW" "$((NOW + 60))" | b64)
printf %s "$HEAD.$BODY" > assertion.txt
ASSERTION="$HEAD.$BODY.$(openssl pkeyutl -sign -rawin -inkey client-key.private.pem -in assertion.txt | b64)"
`;
  const auth = values.isPublic
    ? `  -d client_id=${clientIdOf(values)} \\`
    : `  -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \\
  -d client_assertion="$ASSERTION" \\`;
  return {
    label: 'curl',
    code: `# 1. A verifier, and its challenge
VERIFIER=$(openssl rand -base64 48 | tr '+/' '-_' | tr -d '=\\n')
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=\\n')

# 2. Open this in a browser, and sign in
echo "${issuer()}/authorize?response_type=code&client_id=${clientIdOf(values)}&redirect_uri=‹${encodeURIComponent(redirect)}›&scope=openid%20email&code_challenge=$CHALLENGE&code_challenge_method=S256&state=1"

# 3. The browser comes back with ?code=…: paste what stands there, within 60 seconds
read -r -p 'code: ' CODE
${values.isPublic ? '' : assertion}
curl ${issuer()}/oauth2/token \\
  -d grant_type=authorization_code \\
${auth}
  --data-urlencode redirect_uri='‹${redirect.replaceAll("'", "'\\''")}›' \\
  -d code_verifier="$VERIFIER" \\
  -d code="$CODE"`,
  };
}

function pathOf(uri: string | undefined): string {
  return uri ? new URL(uri).pathname : '/callback';
}

function portOf(uri: string | undefined): string {
  return (uri && new URL(uri).port) || '3001';
}
