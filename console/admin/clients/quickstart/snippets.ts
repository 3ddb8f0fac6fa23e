// oxlint-disable-next-line import/default -- its text, by Vite
import nextStep from '../../../../shared/browser/example/next-step.js?raw';
import { version } from '../../../../shared/browser/package.json';
// oxlint-disable-next-line import/default -- its text, by Vite
import sessions from '../../../../shared/node/example/sessions-express.js?raw';
// oxlint-disable-next-line import/default -- its text, by Vite
import page from '../../../../shared/react/example/page.jsx?raw';
import type { Snippet } from '../../ui/code/snippets.tsx';
import { needsProjectIssuer } from '../issuer-advice.ts';
import type { ClientKind } from '../kind.ts';
import { curl } from './curl.ts';
import { openidClient } from './openid-client.ts';
import { otherLibraries } from './other-libraries.ts';
import { baseIssuer, clientIdOf, keyAlgorithmOf, portOf, proofOf, redirectOf, type SnippetValues } from './values.ts';

/** Runnable code; this application's values stand between ‹ and ›. Our own libraries use the base issuer. */
export function snippetsFor(kind: ClientKind, values: SnippetValues): Snippet[] {
  const all = {
    browser: browser(values),
    react: react(values),
    node: node(values),
    openid: openidClient(values),
    list: otherLibraries(values),
  };
  // A shell signs assertions with Ed25519 only.
  const standard = [all.openid, ...(isByShell(values) ? [curl(values)] : []), all.list];
  if (needsProjectIssuer(values.client) || kind === 'native') return standard;
  return kind === 'web-server'
    ? [all.node, all.openid, all.browser, all.react, ...standard.slice(1)]
    : [all.browser, all.react, all.node, ...standard];
}

/** This instance serves its own packages. */
function packageOf(name: 'browser' | 'node' | 'react'): string {
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
  // SUCCESS carries a code (single use, 60 seconds) and its PKCE verifier, both for your back end (@latchkey/node).
  await fetch('/auth/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: step.code, code_verifier: step.codeVerifier }),
  });
}

${nextStep.replace('export ', '').trim()}`,
  };
}

function react(values: SnippetValues): Snippet {
  const filled = fill(page, {
    'lk_pk_…': `‹${values.publishableKey ?? 'lk_pk_…'}›`,
    'https://id.example.com': baseIssuer(),
  });
  return {
    label: '@latchkey/react',
    code: `// npm install react react-dom ${packageOf('react')} ${packageOf('browser')}
// Works from the origins of this application's redirect URIs, before a back end with @latchkey/node.
${filled}`,
  };
}

function node(values: SnippetValues): Snippet {
  const filled = fill(sessions, {
    'process.env.LATCHKEY_ISSUER': `'${baseIssuer()}'`,
    'process.env.LATCHKEY_CLIENT_ID': `'${clientIdOf(values)}'`,
    'process.env.LATCHKEY_API_KEY,': 'process.env.LATCHKEY_API_KEY, // the secret key, lk_sk_…',
    'process.env.REDIRECT_URI, // http://localhost:3001/auth/callback': `'${redirectOf(values)}',`,
    'Number(process.env.PORT)': `‹${portOf(values)}›`,
  });
  return {
    label: '@latchkey/node',
    code: `// npm install express ${packageOf('node')}
// /account redirects to the hosted sign-in page; @latchkey/browser and @latchkey/react use /auth instead.
${filled}`,
  };
}

/** An example with values in place of its own. */
function fill(example: string, values: Record<string, string>): string {
  return Object.entries(values)
    .reduce((text, [name, value]) => text.replace(name, () => value), example)
    .trim();
}
