import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';

const library = createRequire(import.meta.url)
  .resolve('oidc-client-ts')
  .replace(/dist\/.*$/, 'dist/browser/oidc-client-ts.min.js');

/** A page with oidc-client-ts: all requests after the redirect use CORS. */
export function singlePage(origin: string, issuer: string, clientId: string): RequestListener {
  const settings = {
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${origin}/`,
    post_logout_redirect_uri: `${origin}/`,
    scope: 'openid profile email',
    loadUserInfo: true,
  };
  const page = `<!doctype html><title>Single page</title><button>Sign in</button><button>Sign out</button><pre></pre>
    <script src="/library.js"></script>
    <script>
      const manager = new oidc.UserManager({ ...${JSON.stringify(settings)}, userStore: new oidc.WebStorageStateStore({ store: sessionStorage }) });
      const show = (value) => { document.querySelector('pre').textContent = JSON.stringify(value); };
      const [signIn, signOut] = document.querySelectorAll('button');
      signIn.onclick = () => manager.signinRedirect({ nonce: 'n-1' });
      signOut.onclick = () => manager.signoutRedirect();
      const shown = (user) => show(user && user.profile);
      if (location.search.includes('code=')) manager.signinCallback().then(shown, (error) => show({ error: String(error) }));
      else manager.getUser().then(shown);
    </script>`;
  return (req, res) => {
    if (req.url === '/library.js') res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(library));
    else res.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  };
}
