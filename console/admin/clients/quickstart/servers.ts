// oxlint-disable-next-line import/default -- Vite gives its text
import nextAccount from '../../../../shared/node/example/next/app/account/page.jsx?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import nextLayout from '../../../../shared/node/example/next/app/layout.jsx?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import nextAuth from '../../../../shared/node/example/next/auth.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import nextProxy from '../../../../shared/node/example/next/proxy.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import express from '../../../../shared/node/example/sessions-express.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import fastify from '../../../../shared/node/example/sessions-fastify.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import hono from '../../../../shared/node/example/sessions-hono.js?raw';
import type { Snippet } from '../../ui/code/snippets.tsx';
import {
  clientIdOf,
  filesOf,
  fill,
  issuerOf,
  packageOf,
  portOf,
  proofOf,
  redirectStringOf,
  type SnippetValues,
  stringOf,
} from './values.ts';

/** Servers with `createLatchkey`, Express first; none for a client that pushes its requests. */
export function backEnds(values: SnippetValues): Snippet[] {
  const { fapiProfile, pushedRequestsRequired } = values.client;
  if (fapiProfile || pushedRequestsRequired) return [];
  const visit = '// /account redirects to the hosted sign-in page; pages with @latchkey/browser use /auth instead.';
  const server = (label: string, packages: string, example: string): Snippet => ({
    label,
    code: `// npm install ${packages} ${packageOf('node')}
// Save as server.mjs, then: ${environments[proofOf(values)]}SESSION_SECRET=… node server.mjs
${visit}
${filled(example, values)}`,
  });
  return [
    server('Express', 'express', express),
    server('Fastify', 'fastify', fastify),
    server('Hono', 'hono @hono/node-server', hono),
    next(values),
  ];
}

function next(values: SnippetValues): Snippet {
  const files = {
    'auth.js': filled(nextAuth, values),
    'proxy.js': nextProxy,
    'app/layout.jsx': nextLayout,
    'app/account/page.jsx': nextAccount,
  };
  return {
    label: 'Next.js',
    code: `// npm install next react react-dom ${packageOf('node')}
// Four files, then: ${environments[proofOf(values)]}SESSION_SECRET=… npx next dev -p ${portOf(values)}, and open /account
${filesOf(files)}`,
  };
}

/** The option by which the application authenticates; the service accepts a client secret in either place. */
const credentials = {
  none: 'apiKey: process.env.LATCHKEY_API_KEY, // the secret key, lk_sk_…',
  secret: 'clientSecret: process.env.CLIENT_SECRET, // lk_cs_…',
  key: "privateKey: 'client-key.private.pem',",
};

/** Variables that the server reads; a private key is in a file. */
const environments = { none: 'LATCHKEY_API_KEY=… ', secret: 'CLIENT_SECRET=… ', key: '' };

function filled(example: string, values: SnippetValues): string {
  const [leaving] = values.client.postLogoutRedirectUris;
  const addresses = example.replace(/^( *)redirectUri: .*$/m, (_, indent: string) =>
    [
      `${indent}redirectUri: ${redirectStringOf(values)},`,
      ...(leaving === undefined ? [] : [`${indent}postLogoutRedirectUri: ${stringOf(leaving)},`]),
    ].join('\n'),
  );
  return fill(addresses, {
    'process.env.LATCHKEY_ISSUER': `'${issuerOf(values)}'`,
    'process.env.LATCHKEY_CLIENT_ID': `'${clientIdOf(values)}'`,
    'apiKey: process.env.LATCHKEY_API_KEY,': credentials[proofOf(values)],
    'process.env.REDIRECT_URI': redirectStringOf(values),
    'Number(process.env.PORT)': portOf(values),
  });
}
