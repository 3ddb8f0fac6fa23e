/** The sample application at /demo: a sign-in button and the resulting identity. */
import { type Claims, type Config, type Identity, receive, signIn, signOutUrl } from './oidc.ts';

const identityKey = 'demo.identity';
const element = (id: string) => document.getElementById(id) as HTMLElement;

/** Descriptions of claims. */
const meanings: Record<string, string> = {
  iss: 'issuer',
  sub: 'stable user ID',
  aud: 'client ID of the application',
  iat: 'issued at',
  nbf: 'not valid before',
  exp: 'expires at',
  jti: 'token ID',
  auth_time: 'time of the sign-in',
  amr: 'methods: swk = key in the browser, otp = one-time code, sms = code by SMS, mfa = second factor',
  acr: 'authentication context class',
  sid: 'session ID, also in logout tokens',
  nonce: 'binds the token to the request of this tab',
  email: 'email address',
  email_verified: 'whether the address is verified',
  phone_number: 'phone number',
  phone: 'phone number, under its older name',
  updated_at: 'last change of the profile',
};
const moments = new Set(['iat', 'nbf', 'exp', 'auth_time', 'updated_at']);

function show(config: Config, identity: Identity | undefined): void {
  element('signed-out').hidden = identity !== undefined;
  element('signed-in').hidden = identity === undefined;
  if (!identity) return;
  const { claims, userinfo, idToken, signature } = identity;
  element('account-name').textContent = String(userinfo['name'] ?? userinfo['email'] ?? claims['email'] ?? claims.sub);
  element('proved').textContent = describeMethods(claims);
  element('signature').textContent = signature;
  element('sign-out').setAttribute('href', signOutUrl(config, idToken));
  fillTable('claims', claims);
  fillTable('userinfo', userinfo);
}

function describeMethods({ amr }: Claims): string {
  const methods = Array.isArray(amr) ? amr : [];
  return methods.includes('otp') || methods.includes('sms')
    ? 'You confirmed your address with a code, and this browser created a key that cannot be exported. Next time, the key is enough.'
    : 'This browser signed with the key it created the first time: no code, no password.';
}

function fillTable(id: string, values: Record<string, unknown>): void {
  const rows = Object.entries(values).map(([name, value]) => {
    const row = document.createElement('tr');
    const cell = (tag: 'th' | 'td', text: string) => {
      const node = document.createElement(tag);
      node.textContent = text;
      if (tag === 'th') node.setAttribute('scope', 'row');
      row.append(node);
    };
    const moment = moments.has(name) ? new Date(Number(value) * 1000).toLocaleTimeString() : '';
    cell('th', name);
    cell('td', typeof value === 'object' ? JSON.stringify(value) : String(value));
    cell('td', [meanings[name], moment].filter(Boolean).join(': '));
    return row;
  });
  element(id).replaceChildren(...rows);
}

try {
  const config = (await (await fetch('/demo/config.json')).json()) as Config;
  element('sign-in').addEventListener('click', () => signIn(config));
  element('again').addEventListener('click', () => signIn(config, { prompt: 'login' }));
  element('sign-out').addEventListener('click', () => sessionStorage.removeItem(identityKey));
  show(config, JSON.parse(sessionStorage.getItem(identityKey) ?? 'null') ?? undefined);

  const answer = new URLSearchParams(location.search);
  // Remove the code from the URL first, so that it cannot end up in a bookmark.
  history.replaceState(null, '', location.pathname);
  const identity = await receive(config, answer);
  if (identity) {
    sessionStorage.setItem(identityKey, JSON.stringify(identity));
    show(config, identity);
    document.querySelector<HTMLElement>('#signed-in h1')?.focus();
  }
} catch (error) {
  element('problem').textContent = (error as Error).message;
  if (element('signed-in').hidden) element('signed-out').hidden = false;
}
