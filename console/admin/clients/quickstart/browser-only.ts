// oxlint-disable-next-line import/default -- Vite gives its text
import redirectPage from '../../../../shared/browser/example/redirect.html?raw';
import { t } from '../../language/language.ts';
import type { Snippet } from '../../ui/code/snippets.tsx';
import {
  baseIssuer,
  clientIdOf,
  fill,
  issuerOf,
  marked,
  proofOf,
  redirectStringOf,
  redirectUriOf,
  type SnippetValues,
  stringOf,
} from './values.ts';

/** Pages without a back end, which sign in by redirect; none for a client that has a secret or pushes its requests. */
export function browserOnly(values: SnippetValues): Snippet[] {
  const { fapiProfile, pushedRequestsRequired } = values.client;
  if (proofOf(values) !== 'none' || fapiProfile || pushedRequestsRequired) return [];
  return [
    { label: t('Browser only'), code: `${stepsOf(values, 'vite')}\n${page(values)}` },
    { label: 'oidc-client-ts', code: `${stepsOf(values, 'vite oidc-client-ts')}\n${oidcClientPage(values)}` },
  ];
}

/** Comments before the doctype: the packages, the file's name, and the command that serves it at the redirect URI. */
function stepsOf(values: SnippetValues, packages: string): string {
  const { hostname, origin, port } = new URL(redirectUriOf(values));
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const address = `--host ${marked(values, hostname.replace(/[[\]]/g, ''))} --port ${marked(values, port || '80')} --strictPort`;
  const serve = isHere
    ? `npx vite ${address} -->\n<!-- Then open ${marked(values, origin)} -->`
    : `npx vite build -->\n<!-- Then serve the folder dist at ${marked(values, origin)}, for every path. -->`;
  return `<!-- No back end: the browser alone. npm install ${packages} -->
<!-- Save as index.html, then: ${serve}`;
}

function page(values: SnippetValues): string {
  const [leaving] = values.client.postLogoutRedirectUris;
  return fill(redirectPage, {
    "issuer: 'https://id.example.com'": `issuer: '${issuerOf(values)}'`,
    'https://id.example.com': baseIssuer(),
    '<title>Example</title>': titleOf(values),
    "clientId: '…'": `clientId: '${clientIdOf(values)}'`,
    "'https://app.example.com/callback'": redirectStringOf(values),
    ...(leaving !== undefined && { 'signOut()': `signOut({ returnTo: ${stringOf(leaving)} })` }),
  });
}

function oidcClientPage(values: SnippetValues): string {
  const [leaving] = values.client.postLogoutRedirectUris;
  return `<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${titleOf(values)}
<p role="status"></p>
<button hidden>Sign in</button> <button hidden>Sign out</button>
<script type="module">
  import { UserManager } from 'oidc-client-ts';

  const manager = new UserManager({
    authority: '${issuerOf(values)}',
    client_id: '${clientIdOf(values)}',
    redirect_uri: ${redirectStringOf(values)},${leaving === undefined ? '' : `\n    post_logout_redirect_uri: ${stringOf(leaving)},`}
    scope: 'openid profile email',
    automaticSilentRenew: false, // It needs cookies of another site, which browsers block.
  });
  const [signIn, signOut] = document.querySelectorAll('button');
  signIn.addEventListener('click', () => manager.signinRedirect({ state: { returnTo: location.pathname } }));
  signOut.addEventListener('click', () => manager.signoutRedirect());

  let problem = 'Signed out';
  if (new URLSearchParams(location.search).has('state')) {
    const returned = await manager.signinCallback().catch((error) => { problem = error.message; });
    history.replaceState(null, '', returned?.state?.returnTo ?? location.pathname);
  }
  const user = await manager.getUser();
  document.querySelector('p').textContent = user ? \`Hello, \${user.profile.email}\` : problem;
  (user ? signOut : signIn).hidden = false;
</script>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;' };

/** The application's name, which may contain any character. */
const titleOf = ({ client: { name } }: SnippetValues) =>
  `<title>‹${name.replace(/[&<]/g, (character) => entities[character] ?? '')}›</title>`;
