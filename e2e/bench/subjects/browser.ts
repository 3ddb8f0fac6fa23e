import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { Connection } from '../harness/http.ts';
import { SoftPasskey } from './passkey.ts';

/** An application of one project, with the credentials of its page and back end. */
export interface Application {
  baseUrl: string;
  projectId: string;
  clientId: string;
  publishableKey: string;
  redirectUri: string;
}

/** A browser's device key: ECDSA P-256. */
export interface DeviceKey {
  jkt: string;
  jwk: { kty: string; crv: string; x: string; y: string };
  privateKey: KeyObject;
}

interface StepAnswer {
  status?: string;
  nonce: string;
  txn: string;
  code?: string;
  options?: Parameters<SoftPasskey['create']>[0];
  passkey_options?: Parameters<SoftPasskey['get']>[0];
}

export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: digest(verifier) };
}

/** One user's browser: its device key and, after sign-in on the hosted page, its session cookie. */
export class Browser {
  readonly #app: Application;
  readonly #key: DeviceKey;
  readonly #passkey: SoftPasskey;
  readonly userid: string;
  cookie = '';

  constructor(app: Application, userid: string, key = newDeviceKey()) {
    this.#app = app;
    this.userid = userid;
    this.#key = key;
    this.#passkey = new SoftPasskey(new URL(app.redirectUri).origin);
  }

  /** Registers the device key on the application's page, with the email code of test mode. */
  async register(connection: Connection): Promise<void> {
    await this.#enrol(connection, this.#ownPage);
  }

  /** Registers like {@link register}, then creates a passkey on the application's page, which must be a related origin. */
  async registerPasskey(connection: Connection): Promise<void> {
    const pageHeaders = this.#ownPage;
    const txn = await this.#enrol(connection, pageHeaders, { step_up: 'create_passkey' });
    const creation = await this.#step(connection, pageHeaders, 'passkey-options', { txn, purpose: 'registration' });
    const credential = this.#passkey.create(creation.options as NonNullable<StepAnswer['options']>);
    await this.#step(connection, pageHeaders, 'register-passkey', { txn, credential });
  }

  /** Challenge → authenticate → code, with the registered key. */
  async signIn(connection: Connection): Promise<string> {
    const pageHeaders = this.#ownPage;
    const { txn, nonce } = await this.#step(connection, pageHeaders, 'challenge', { jkt: this.#key.jkt });
    return codeOf(
      await this.#proved(connection, pageHeaders, 'authenticate', { txn, userid: this.userid }, nonce, 'use'),
    );
  }

  /** Challenge with options → assertion → code, with the passkey and without an address. */
  async signInWithPasskey(connection: Connection): Promise<string> {
    const pageHeaders = this.#ownPage;
    const { txn, passkey_options } = await this.#step(connection, pageHeaders, 'challenge', { passkey: true });
    const credential = this.#passkey.get(passkey_options as NonNullable<StepAnswer['passkey_options']>);
    return codeOf(await this.#step(connection, pageHeaders, 'verify-passkey', { txn, credential }));
  }

  get #ownPage(): Record<string, string> {
    return { 'X-Api-Key': this.#app.publishableKey, Origin: new URL(this.#app.redirectUri).origin };
  }

  /** Signs in on the hosted page, and stores the session cookie. */
  async beginSession(): Promise<void> {
    const connection = new Connection(this.#app.baseUrl);
    await this.registerHosted(connection);
    connection.close();
    if (this.cookie === '') throw new Error('no session cookie');
  }

  /** Registers the device key on the hosted page. */
  async registerHosted(connection: Connection): Promise<void> {
    await this.#enrol(connection, await this.#hostedPage(connection));
  }

  /** Authorize → challenge → authenticate → session, with the key registered on the hosted page. */
  async signInHosted(connection: Connection): Promise<void> {
    const pageHeaders = await this.#hostedPage(connection);
    const { txn, nonce } = await this.#step(connection, pageHeaders, 'challenge', { jkt: this.#key.jkt });
    const body = { txn, userid: this.userid };
    const { status } = await this.#proved(connection, pageHeaders, 'authenticate', body, nonce, 'use');
    if (status !== 'SUCCESS') throw new Error(`the hosted page answered ${status}`);
  }

  async #hostedPage(connection: Connection): Promise<Record<string, string>> {
    const begun = await connection.ask({ path: authorizePath(this.#app, pkce().challenge) });
    const flow = new URL(begun.headers['location'] ?? '', this.#app.baseUrl).searchParams.get('flow') ?? '';
    return { 'Signin-Flow': flow, Origin: this.#app.baseUrl, Cookie: begun.cookies.join('; ') };
  }

  /** Returns the transaction. */
  async #enrol(connection: Connection, pageHeaders: Record<string, string>, settings: object = {}): Promise<string> {
    const { jkt } = this.#key;
    const { userid } = this;
    const { txn } = await this.#step(connection, pageHeaders, 'challenge', { jkt });
    const { code } = await this.#step(connection, pageHeaders, 'authenticate', { txn, userid, ...settings });
    const { nonce } = await this.#step(connection, pageHeaders, 'verify-email-otp', { txn, userid, otp: code });
    await this.#proved(connection, pageHeaders, 'verify-device', { txn, userid }, nonce, 'registration');
    return txn;
  }

  #proved(
    connection: Connection,
    pageHeaders: Record<string, string>,
    act: string,
    body: object,
    nonce: string,
    kind: 'use' | 'registration',
  ): Promise<StepAnswer> {
    const { jkt, jwk, privateKey } = this.#key;
    const header = { typ: 'device-proof+jwt', alg: 'ES256', ...(kind === 'use' ? { kid: jkt } : { jwk }) };
    const payload = {
      act,
      aud: `${this.#app.baseUrl}/${this.#app.projectId}`,
      cid: this.#app.clientId,
      org: pageHeaders['Origin'],
      txn: (body as { txn: string }).txn,
      nonce,
      bh: digest(JSON.stringify(body)),
      iat: Math.floor(Date.now() / 1000),
      jti: randomBytes(16).toString('base64url'),
    };
    const input = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return this.#step(
      connection,
      { ...pageHeaders, 'Device-Proof': `${input}.${signature.toString('base64url')}` },
      act,
      body,
    );
  }

  async #step(
    connection: Connection,
    pageHeaders: Record<string, string>,
    name: string,
    body: object,
  ): Promise<StepAnswer> {
    const answer = await connection.ask({
      method: 'POST',
      path: `/v1/signin/${name}`,
      headers: { 'Content-Type': 'application/json', ...pageHeaders },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.body}`);
    const session = answer.cookies.find((cookie) => cookie.startsWith('lk-session-'));
    if (session !== undefined) this.cookie = session;
    return JSON.parse(answer.body) as StepAnswer;
  }
}

function codeOf(answer: StepAnswer): string {
  if (answer.code === undefined) throw new Error(`no code: ${JSON.stringify(answer)}`);
  return answer.code;
}

export function authorizePath({ clientId, redirectUri }: Application, challenge: string): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: 'af0ifjsldkj',
    nonce: 'n-0S6_WzA2Mj',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  return `/authorize?${query}`;
}

export function newDeviceKey(): DeviceKey {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = pair.publicKey.export({ format: 'jwk' }) as { x: string; y: string };
  const jwk = { crv: 'P-256', kty: 'EC', x, y };
  return { jkt: digest(JSON.stringify(jwk)), jwk, privateKey: pair.privateKey };
}

/** SHA-256 in base64url, as the server hashes secrets. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
