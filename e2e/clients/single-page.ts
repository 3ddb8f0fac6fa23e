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
    scope: 'openid profile email',
    loadUserInfo: true,
  };
  const page = `<!doctype html><title>Single page</title><button>Sign in</button><pre></pre>
    <script src="/library.js"></script>
    <script>
      const manager = new oidc.UserManager({ ...${JSON.stringify(settings)}, userStore: new oidc.WebStorageStateStore({ store: sessionStorage }) });
      const show = (value) => { document.querySelector('pre').textContent = JSON.stringify(value); };
      document.querySelector('button').onclick = () => manager.signinRedirect({ nonce: 'n-1' });
      if (location.search.includes('code=')) manager.signinCallback().then((user) => show(user.profile), (error) => show({ error: String(error) }));
    </script>`;
  return (req, res) => {
    if (req.url === '/library.js') res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(library));
    else res.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  };
}
