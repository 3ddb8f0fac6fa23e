import { createHash, randomBytes } from 'node:crypto';
import { deviceProofHeader, deviceProofType, signinFlowHeader } from '@latchkey/contracts';
import { type DeviceKey, newDeviceKey, signJws } from '../signin-browser.ts';
import type { Open } from './commands.ts';
import type { ClientModel, Transaction } from './model.ts';
import type { Options } from './passkeys.ts';
import { Jar, type Reply, send } from './wire.ts';

/** A browser: cookies, an IP address, and a device key per page and user. */
export class Browser {
  readonly jar = new Jar();
  readonly index: number;
  readonly ip: string;
  private readonly keys = new Map<string, DeviceKey>();

  constructor(index: number, ip: string) {
    this.index = index;
    this.ip = ip;
  }

  async key(scope: string): Promise<DeviceKey> {
    const held = this.keys.get(scope) ?? (await newDeviceKey());
    this.keys.set(scope, held);
    return held;
  }

  /** Replaces a key, as a page does after its key was revoked. */
  forgetKey(scope: string): void {
    this.keys.delete(scope);
  }

  allKeys(): DeviceKey[] {
    return [...this.keys.values()];
  }

  async get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await send('GET', url, { ...this.headers, ...headers });
    this.jar.keep(reply);
    return reply;
  }

  async post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Reply> {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(form).toString();
    const reply = await send('POST', url, { ...this.headers, ...type, ...headers }, body);
    this.jar.keep(reply);
    return reply;
  }

  /** This browser with forged cookies: the names are those of the other browser, the value is the last of its own. */
  forging(other: Browser): Browser {
    const forged = new Browser(this.index, this.ip);
    const [value = 'forged'] = [...this.jar.cookies.values()].slice(-1);
    for (const name of other.jar.cookies.keys()) forged.jar.cookies.set(name, value);
    for (const [name, own] of this.jar.cookies) forged.jar.cookies.set(name, own);
    return forged;
  }

  get headers(): Record<string, string> {
    return { ...this.jar.header, 'X-Forwarded-For': this.ip };
  }
}

/** A device proof and its key; `deviation` makes one claim invalid. */
export interface ProofOf {
  kind: 'use' | 'registration';
  key: DeviceKey;
  deviation: 'nonce' | 'act' | 'body' | 'txn' | 'audience' | null;
}

/** A sign-in in one tab of a browser. */
export class Tab {
  readonly browser: Browser;
  readonly txn: Transaction;
  readonly key: DeviceKey;
  readonly scope: string;
  /** The command that opened it. */
  readonly opening: Open;
  nonce = '';
  sessionId = '';
  /** The options of the last `passkey-options`. */
  options: Options | null = null;
  /** The last typed address, accepted or not. */
  typed = '';
  /** Whether the next code is a recovery code in place of a passkey. */
  recovers = false;
  /** The recovery grant's code that the person types in place of a factor or passkey. */
  recoveryCode: string | null = null;
  /** Whether the last response was a rate limit. */
  mustWait = false;
  /** The next step of an honest page. */
  next: string | null = 'authenticate';
  private readonly issuer: string;

  constructor(browser: Browser, issuer: string, txn: Transaction, key: DeviceKey, scope: string, opening: Open) {
    this.browser = browser;
    this.issuer = issuer;
    this.txn = txn;
    this.key = key;
    this.scope = scope;
    this.opening = opening;
  }

  /** Sends one step. @param process its base URL @param over overrides, e.g. another transaction's handle or nonce */
  async step(
    process: string,
    name: string,
    fields: Record<string, unknown>,
    proof: ProofOf | null,
    over: { txn?: string; nonce?: string } = {},
  ): Promise<Reply> {
    const body = JSON.stringify({ txn: over.txn ?? this.txn.txn, ...fields });
    const proved: Record<string, string> = proof ? { [deviceProofHeader]: this.prove(name, body, proof, over) } : {};
    const reply = await post(process, name, body, this.txn, this.browser, this.issuer, proved);
    if (this.txn.entry !== 'sdk') this.browser.jar.keep(reply);
    if (typeof reply.json['nonce'] === 'string') this.nonce = reply.json['nonce'];
    return reply;
  }

  private prove(name: string, body: string, proof: ProofOf, over: { txn?: string; nonce?: string }): string {
    const { key, deviation, kind } = proof;
    const { client, entry } = this.txn;
    const named = kind === 'use' ? { kid: key.jkt } : { jwk: key.jwk };
    const claims = {
      act: deviation === 'act' ? 'verify-mfa-x' : name,
      aud: `${this.issuer}/${deviation === 'audience' ? '00000000-0000-7000-8000-000000000000' : client.project.id}`,
      cid: client.id,
      org: entry === 'sdk' ? client.origin : this.issuer,
      txn: deviation === 'txn' ? randomBytes(32).toString('base64url') : (over.txn ?? this.txn.txn),
      cc: this.txn.pkce?.challenge,
      nonce: deviation === 'nonce' ? randomBytes(32).toString('base64url') : (over.nonce ?? this.nonce),
      bh: createHash('sha256')
        .update(deviation === 'body' ? `${body} ` : body)
        .digest('base64url'),
      iat: Math.floor(this.txn.clock() / 1000),
      jti: randomBytes(16).toString('base64url'),
    };
    return signJws({ typ: deviceProofType, alg: 'ES256', ...named }, claims, key);
  }
}

/** `POST /v1/signin/<step>` from a page of an application or from the hosted page. */
export function post(
  process: string,
  step: string,
  body: string,
  page: { entry: Transaction['entry']; client: ClientModel; request: { flow: string } | null },
  browser: Browser,
  issuer: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const caller: Record<string, string> =
    page.entry === 'sdk'
      ? { Origin: page.client.origin, 'X-Api-Key': page.client.apiKey, 'X-Forwarded-For': browser.ip }
      : { Origin: issuer, [signinFlowHeader]: page.request?.flow ?? '', ...browser.headers };
  return send(
    'POST',
    `${process}/v1/signin/${step}`,
    { 'Content-Type': 'application/json', ...caller, ...headers },
    body,
  );
}
