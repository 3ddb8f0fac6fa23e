import { createHash, randomBytes } from 'node:crypto';

/** Back end of a public client that uses a browser's session without a page. */
export class SilentClient {
  readonly #issuer: string;
  readonly #clientId: string;
  readonly #redirectUri: string;
  readonly #cookie: string;
  readonly #verifier = randomBytes(32).toString('base64url');

  constructor(issuer: string, clientId: string, redirectUri: string, cookies: { name: string; value: string }[]) {
    this.#issuer = issuer;
    this.#clientId = clientId;
    this.#redirectUri = redirectUri;
    this.#cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  /** Gets a code with the live session (`prompt=none`), from the process at `base`. */
  async code(base = this.#issuer): Promise<string> {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.#clientId,
      redirect_uri: this.#redirectUri,
      scope: 'openid',
      prompt: 'none',
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const response = await fetch(`${base}/authorize?${query}`, {
      redirect: 'manual',
      headers: { cookie: this.#cookie },
    });
    const code = new URL(response.headers.get('location') ?? 'about:blank').searchParams.get('code');
    if (code === null) throw new Error(`no code, but ${response.status} ${response.headers.get('location')}`);
    return code;
  }

  exchange(code: string, base = this.#issuer): Promise<Response> {
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: this.#verifier,
      client_id: this.#clientId,
      redirect_uri: this.#redirectUri,
    });
    return fetch(`${base}/oauth2/token`, { method: 'POST', body });
  }
}
