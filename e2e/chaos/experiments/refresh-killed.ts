import { createHash, randomBytes } from 'node:crypto';
import { type Experiment, evaluate } from '../experiment.ts';
import { type App, Person } from '../support/person.ts';
import { World } from '../support/world.ts';

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** A client that keeps a person signed in by refresh tokens. */
class TokenHolder {
  readonly #issuer: string;
  readonly #clientId: string;
  #refreshToken = '';
  #accessToken = '';

  constructor(issuer: string, clientId: string) {
    this.#issuer = issuer;
    this.#clientId = clientId;
  }

  /** Signs in under the session of a browser. */
  async begin(cookies: ReadonlyMap<string, string>, redirectUri: string): Promise<void> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.#clientId,
      redirect_uri: redirectUri,
      scope: 'openid offline_access',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { Cookie: cookie };
    const answer = await fetch(`${this.#issuer}/authorize?${query}`, { redirect: 'manual', headers });
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
    const status = await this.#ask(fields);
    if (status !== 200) throw new Error(`no refresh token: ${status}`);
  }

  /** The status of a refresh; undefined without a response. The token that was sent is kept until there is one. */
  refresh(): Promise<number | undefined> {
    return this.#ask({ grant_type: 'refresh_token', refresh_token: this.#refreshToken }).catch(() => undefined);
  }

  async isSignedIn(): Promise<boolean> {
    const headers = { Authorization: `Bearer ${this.#accessToken}` };
    return (await fetch(`${this.#issuer}/userinfo`, { headers })).status === 200;
  }

  async #ask(fields: Record<string, string>): Promise<number> {
    const body = new URLSearchParams({ client_id: this.#clientId, ...fields }).toString();
    const response = await fetch(`${this.#issuer}/oauth2/token`, { method: 'POST', headers: form, body });
    const tokens = (await response.json()) as { refresh_token?: string; access_token?: string };
    this.#refreshToken = tokens.refresh_token ?? this.#refreshToken;
    this.#accessToken = tokens.access_token ?? this.#accessToken;
    return response.status;
  }
}

export const refreshKilled: Experiment = {
  name: 'refresh-killed',
  done: 'kill -9 of the server, three times, while 60 applications refresh; then each repeats its request without a response',
  passes:
    'each repeated request succeeds, even if the kill came between rotation and response; every user stays signed in',
  async run({ scale, log }) {
    const count = Math.max(20, Math.round(60 * scale));
    const world = await World.create();
    try {
      await world.start();
      const app: App = await world.app({ grantTypes: ['REFRESH_TOKEN'] });
      const issuer = await world.admin.issuerOf(app.projectId);
      const holders = Array.from({ length: count }, () => new TokenHolder(issuer, app.clientId));
      for (const [index, holder] of holders.entries()) {
        const person = new Person(app, `person-${index}@example.com`);
        await person.signInHosted();
        await holder.begin(person.cookies, app.redirectUri);
      }
      const faults: string[] = [];
      let cutOff = 0;
      let repeated = 0;
      for (let kills = 0; kills < 3; kills += 1) {
        const startedAt = new Date().toISOString();
        const answered = new Set<TokenHolder>();
        const asked = holders.map(async (holder) => {
          const status = await holder.refresh();
          if (status === undefined) return;
          if (status !== 200) faults.push(`refresh: ${status}`);
          answered.add(holder);
          if (answered.size === 1) void world.processes.at(-1)?.kill();
        });
        await Promise.all(asked);
        const [row] = await world.postgres.query<{ rotated: number }>(
          `select count(*)::int as rotated from refresh_grants where rotated_at >= '${startedAt}'`,
        );
        const unanswered = (row?.rotated ?? 0) - answered.size;
        cutOff += unanswered;
        log(`killed with ${answered.size} of ${count} responses, ${unanswered} rotated without a response`);
        await world.start({ PORT: world.issuerPort });
        for (const holder of holders.filter((one) => !answered.has(one))) {
          repeated += 1;
          const status = await holder.refresh();
          if (status !== 200) faults.push(`repeated request: ${status ?? 'no response'}`);
        }
      }
      const signedIn = await Promise.all(holders.map(async (one) => (await one.refresh()) === 200 && one.isSignedIn()));
      const left = signedIn.filter(Boolean).length;
      return evaluate(
        `${repeated} requests repeated over 3 kills, ${cutOff} of them rotated before; ${left} of ${count} users signed in`,
        [
          cutOff === 0 && 'no kill came between rotation and response',
          left < count && `${count - left} lost`,
          ...faults,
        ],
      );
    } finally {
      await world.close();
    }
  },
};
