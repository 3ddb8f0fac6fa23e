// oxlint-disable-next-line import/default -- Vite gives its text
import nextStep from '../../../../shared/browser/example/next-step.js?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import htmlPage from '../../../../shared/browser/example/page.html?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import reactHtml from '../../../../shared/react/example/index.html?raw';
// oxlint-disable-next-line import/default -- Vite gives its text
import reactPage from '../../../../shared/react/example/page.jsx?raw';
import { t } from '../../language/language.ts';
import type { Snippet } from '../../ui/code/snippets.tsx';
import { baseIssuer, filesOf, fill, packageOf, type SnippetValues } from './values.ts';

/** A page of the Express application, with the built-in form. */
export function pageOfHtml(values: SnippetValues): Snippet {
  const where = '<!-- Needs a back end: the Express quickstart. Save as pages/index.html beside it. -->';
  return { label: t('{name} with a back end', { name: 'HTML' }), code: `${where}\n${filled(htmlPage, values)}` };
}

/** The same with React and Vite. */
export function pageOfReact(values: SnippetValues): Snippet {
  return {
    label: t('{name} with a back end', { name: 'React' }),
    code: `// Needs a back end: the Express quickstart. Two files beside it, then: npx vite build --outDir pages
// npm install vite react react-dom ${packageOf('react')} ${packageOf('browser')}
${filesOf({ 'index.html': reactHtml, 'main.jsx': filled(reactPage, values) })}`,
  };
}

/** The application's own form. */
export function ownForm({ publishableKey = 'lk_pk_…' }: SnippetValues): Snippet {
  const html = `<!doctype html>
<title>Example</title>
<form><label>Email <input name="userid" type="email" autocomplete="username" required></label> <button>Continue</button></form>
<p role="status"></p>
<script type="module" src="./main.js"></script>`;
  const script = `import * as latchkey from '@latchkey/browser';

await latchkey.init({
  apiKey: '‹${publishableKey}›', // the publishable key; works from the origins of the redirect URIs
  baseUrl: '${baseIssuer()}',
});

async function signIn(userid) {
  const ask = (question, use) => use(prompt(question));
  let step = await latchkey.authenticate(userid, { rememberDevice: true });
  while (step.status !== 'SUCCESS') step = await nextStep(latchkey, step, userid, ask);
  // SUCCESS carries a code (single use, 60 seconds) and its PKCE verifier, both for your back end (@latchkey/node).
  const response = await fetch('/auth/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: step.code, code_verifier: step.codeVerifier }),
  });
  if (!response.ok) throw new Error('The back end began no session. Try again.');
  const { user } = await (await fetch('/auth/session')).json();
  return \`Hello, \${user.email}\`;
}

document.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const show = (text) => { document.querySelector('p').textContent = text; };
  signIn(event.target.userid.value).then(show, (error) => show(error.message));
});

${nextStep.replace('export ', '').trim()}`;
  return {
    label: t('{name} with a back end', { name: '@latchkey/browser' }),
    code: `// Needs a back end: the Express quickstart. Two files beside it, then: npx vite build --outDir pages
// npm install vite ${packageOf('browser')}
${filesOf({ 'index.html': html, 'main.js': script })}`,
  };
}

function filled(example: string, { publishableKey = 'lk_pk_…' }: SnippetValues): string {
  return fill(example, { 'lk_pk_…': `‹${publishableKey}›`, 'https://id.example.com': baseIssuer() });
}
