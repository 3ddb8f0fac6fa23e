import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
type Json = Record<string, unknown>;

/** A key of the provider, with the `kid` of its public form. */
interface ProviderKey extends Pair {
  kid: string;
}

/** What a test changes in the answers of the provider; each part replaces the honest one. */
export interface Lies {
  discovery?: Json;
  /** Query of the redirect to the callback. */
  response?(query: URLSearchParams): void;
  header?: Json;
  claims?: Json;
  /** Makes the ID token from the honest header and claims. */
  idToken?(header: Json, claims: Json, key: ProviderKey): Promise<string> | string;
  /** Status and body of the token endpoint. */
  token?: { status: number; body: string };
  userInfo?: Json;
  /** The body of the key set. */
  keys?: string;
  /** Takes over the response of a path. */
  at?: Record<string, (req: IncomingMessage, res: ServerResponse) => void>;
}

/** An OpenID Connect provider in the test process, honest unless a test lets it lie. */
export class UpstreamProvider {
  readonly clientId = 'latchkey';
  secret = 'a secret of the provider';
  lies: Lies = {};
  /** The person who is signed in there. */
  person: Json = { sub: 'upstream-1', email: 'ada@upstream.example', email_verified: true };
  /** Paths of requests from the server. */
  readonly requests: string[] = [];
  private readonly codes = new Map<string, { nonce: string; challenge: string }>();
  private key!: ProviderKey;
  private server!: Server;
  issuer = '';
  private count = 0;

  private constructor(private readonly now: () => Date) {}

  static async open(now: () => Date): Promise<UpstreamProvider> {
    const provider = new UpstreamProvider(now);
    await provider.rotate();
    provider.server = createServer((req, res) => {
      provider.answer(req, res).catch(() => res.destroy());
    });
    await new Promise<void>((done) => {
      provider.server.listen(0, '127.0.0.1', done);
    });
    provider.issuer = `http://127.0.0.1:${(provider.server.address() as AddressInfo).port}`;
    return provider;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => {
      this.server.close(done);
    });
  }

  /** A new signing key instead of the current one. */
  async rotate(): Promise<void> {
    this.key = { ...(await generateKeyPair('ES256', { extractable: true })), kid: `key-${++this.count}` };
  }

  /** The person agrees: the address of the callback that the browser is sent to. */
  agree(to: URL): URL {
    const asked = to.searchParams;
    const code = `code-${++this.count}`;
    this.codes.set(code, { nonce: asked.get('nonce') ?? '', challenge: asked.get('code_challenge') ?? '' });
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
    this.lies.response?.(back.searchParams);
    return back;
  }

  /** A JWT with its key; members that are undefined are left out. */
  sign(header: Json, claims: Json, key = this.key): Promise<string> {
    return signed(without({ alg: 'ES256', kid: this.key.kid, ...header }), without(claims), key);
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(req.url ?? '', this.issuer);
    this.requests.push(path);
    const other = this.lies.at?.[path];
    if (other) return other(req, res);
    if (path === '/.well-known/openid-configuration') return send(res, { ...this.document, ...this.lies.discovery });
    if (path === '/keys') {
      if (this.lies.keys !== undefined) return void res.end(this.lies.keys);
      return send(res, { keys: [await this.publicKey()] });
    }
    if (path === '/me') return send(res, this.lies.userInfo ?? this.person);
    if (path === '/token') return this.redeem(req, res);
    res.writeHead(404).end();
  }

  private get document(): Json {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/keys`,
      userinfo_endpoint: `${this.issuer}/me`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    };
  }

  async publicKey(): Promise<JWK> {
    return { ...(await exportJWK(this.key.publicKey)), kid: this.key.kid, alg: 'ES256', use: 'sig' };
  }

  private async redeem(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(req));
    if (this.lies.token) return void res.writeHead(this.lies.token.status, json).end(this.lies.token.body);
    const [id, secret] = Buffer.from((req.headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
      .map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    if (id !== this.clientId || secret !== this.secret) return send(res, { error: 'invalid_client' }, 401);
    const code = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const { createHash } = await import('node:crypto');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge) return send(res, { error: 'invalid_grant' }, 400);
    const seconds = Math.floor(this.now().getTime() / 1000);
    const base = { iss: this.issuer, aud: this.clientId, exp: seconds + 300, iat: seconds, nonce: code.nonce };
    const claims = without({ ...base, ...this.person, ...this.lies.claims });
    const header = without({ alg: 'ES256', kid: this.key.kid, ...this.lies.header });
    const idToken = await (this.lies.idToken ?? signed)(header, claims, this.key);
    send(res, { access_token: 'an access token', token_type: 'Bearer', id_token: idToken });
  }
}

const json = { 'content-type': 'application/json' };

function send(res: ServerResponse, body: unknown, status = 200): void {
  res.writeHead(status, json).end(JSON.stringify(body));
}

/** Without members that are undefined. */
function without(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

export function signed(header: Json, claims: Json, { privateKey }: Pair): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header as { alg: string }).sign(privateKey);
}

async function text(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
