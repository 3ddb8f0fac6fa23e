// oxlint-disable-next-line import/default -- Vite gives its text
import nextStep from '../../../../shared/browser/example/next-step.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import htmlPage from '../../../../shared/browser/example/page.html?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import reactHtml from '../../../../shared/react/example/index.html?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import reactPage from '../../../../shared/react/example/page.jsx?raw';
import type { Snippet } from '../../ui/code/snippets.tsx';
import { baseIssuer, filesOf, fill, packageOf, type SnippetValues } from './values.ts';

/** A page of the Express application, with the built-in form. */
export function pageOfHtml(values: SnippetValues): Snippet {
  const [doctype, ...lines] = filled(htmlPage, values).split('\n');
  const where = '<!-- Save as pages/index.html beside the Express application. -->';
  return { label: 'HTML', code: [doctype, where, ...lines].join('\n') };
}

/** The same with React and Vite. */
export function pageOfReact(values: SnippetValues): Snippet {
  return {
    label: 'React',
    code: `// npm install vite react react-dom ${packageOf('react')} ${packageOf('browser')}
// Two files beside the Express application, then: npx vite build --outDir pages
${filesOf({ 'index.html': reactHtml, 'main.jsx': filled(reactPage, values) })}`,
  };
}

/** The application's own form. */
export function ownForm({ publishableKey = 'lk_pk_…' }: SnippetValues): Snippet {
  return {
    label: '@latchkey/browser',
    code: `// npm install ${packageOf('browser')}
// Works from the origins of this application's redirect URIs.
import * as latchkey from '@latchkey/browser';

await latchkey.init({
  apiKey: '‹${publishableKey}›', // the publishable key
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

function filled(example: string, { publishableKey = 'lk_pk_…' }: SnippetValues): string {
  return fill(example, { 'lk_pk_…': `‹${publishableKey}›`, 'https://id.example.com': baseIssuer() });
}
