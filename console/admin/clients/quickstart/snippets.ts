// oxlint-disable-next-line import/default -- its text, by Vite
import nextStep from '../../../../shared/browser/example/next-step.js?raw';
import { version } from '../../../../shared/browser/package.json';
import type { Snippet } from '../../ui/code/snippets.tsx';
import { needsProjectIssuer } from '../issuer-advice.ts';
import type { ClientKind } from '../kind.ts';
import { curl } from './curl.ts';
import { openidClient } from './openid-client.ts';
import { otherLibraries } from './other-libraries.ts';
import {
  baseIssuer,
  clientIdOf,
  keyAlgorithmOf,
  pathOf,
  portOf,
  proofOf,
  redirectOf,
  type SnippetValues,
} from './values.ts';

/** Runnable code; this application's values stand between ‹ and ›. Our own libraries use the base issuer. */
export function snippetsFor(kind: ClientKind, values: SnippetValues): Snippet[] {
  const all = {
    browser: browser(values),
    node: node(values),
    openid: openidClient(values),
    list: otherLibraries(values),
  };
  // A shell signs assertions with Ed25519 only.
  const standard = [all.openid, ...(isByShell(values) ? [curl(values)] : []), all.list];
  if (needsProjectIssuer(values.client) || kind === 'native') return standard;
  return kind === 'web-server'
    ? [all.node, all.openid, all.browser, ...standard.slice(1)]
    : [all.browser, all.node, ...standard];
}

/** This instance serves its own packages. */
function packageOf(name: 'browser' | 'node'): string {
  return `${baseIssuer()}/sdk/latchkey-${name}-${version}.tgz`;
}

function isByShell(values: SnippetValues): boolean {
  return proofOf(values) !== 'key' || keyAlgorithmOf(values) === 'Ed25519';
}

function browser(values: SnippetValues): Snippet {
  return {
    label: '@latchkey/browser',
    code: `// npm install ${packageOf('browser')}
// Works from the origins of this application's redirect URIs.
import * as latchkey from '@latchkey/browser';

await latchkey.init({
  apiKey: '‹${values.publishableKey ?? 'lk_pk_…'}›', // the publishable key
  baseUrl: '${baseIssuer()}',
});

export async function signIn(userid) {
  const ask = (question, use) => use(prompt(question));
  let step = await latchkey.authenticate(userid, { rememberDevice: true });
  while (step.status !== 'SUCCESS') step = await nextStep(latchkey, step, userid, ask);
  // SUCCESS carries a code (single use, 60 seconds) and its PKCE verifier, both for your back end.
  await fetch('/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: step.code, code_verifier: step.codeVerifier }),
  });
}

${nextStep.replace('export ', '').trim()}`,
  };
}

function node(values: SnippetValues): Snippet {
  return {
    label: '@latchkey/node',
    code: `// npm install express ${packageOf('node')}
import { createLatchkeyMiddleware } from '@latchkey/node';
import express from 'express';

const latchkey = createLatchkeyMiddleware({
  baseUrl: '${baseIssuer()}',
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
app.get('‹${pathOf(values)}›', latchkey.callback({ onSignIn }));
app.listen(‹${portOf(values)}›);`,
  };
}
