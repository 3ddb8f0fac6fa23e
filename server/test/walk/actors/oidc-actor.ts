import { authorizationParameters, pkce } from '../../browser.ts';
import { absorb } from '../absorb.ts';
import type { Browser, Tab } from '../browsers.ts';
import type { Change } from '../changes.ts';
import type { Access, Ask } from '../commands.ts';
import { type AuthRequest, type ClientModel, demand, type TokenModel } from '../model.ts';
import { checkClaims, checkExchange, checkSessionCode, checkUserInfo, grantOf, mayEnd } from '../oidc-rules.ts';
import { checkRefusal } from '../signin-rules.ts';
import { type Reply, send } from '../wire.ts';
import type { World } from '../world.ts';

const asks: Record<Ask, { prompt?: string; max_age?: string }> = {
  plain: {},
  login: { prompt: 'login' },
  now: { max_age: '0' },
  minutes: { max_age: '300' },
};

const scopes: Record<Access, string> = {
  base: 'openid',
  online: 'openid email',
  offline: 'openid email offline_access',
};

/** Browsers and back ends of applications at the OpenID Connect endpoints. */
export class OidcActor {
  private readonly world: World;
  private readonly log: (line: string) => void;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  /** GET /authorize. Returns the request if it leads to the hosted page; null if a session answered it. */
  async begin(
    app: number,
    browser: Browser,
    client: ClientModel,
    ask: Ask,
    access: Access,
  ): Promise<AuthRequest | null> {
    const { world } = this;
    const proof = pkce();
    const isBase = access === 'base' || client.project === world.console;
    const [scope, issuer] = isBase ? [scopes.base, world.issuer] : [scopes[access], world.issuerOf(client.project)];
    const over = { redirect_uri: client.redirectUri, scope, ...asks[ask] };
    const query = new URLSearchParams(authorizationParameters(client.id, proof.challenge, over));
    let held: string | undefined;
    const send = () => {
      held = sessionCookie(browser, client);
      return browser.get(`${world.at(app, issuer)}/authorize?${query}`);
    };
    return world.exchange(send, (reply, changes) => {
      this.log(
        `browser ${browser.index} /authorize for ${client.name}, ${ask}, ${isBase ? 'base' : access}: ${reply.status} ${where(reply)}`,
      );
      demand(reply.status < 500, `/authorize failed: ${reply.status} ${reply.text.slice(0, 200)}`);
      const maxAge = asks[ask].max_age === undefined ? undefined : Number(asks[ask].max_age);
      const flow = reply.location?.pathname === '/signin' ? reply.location.searchParams.get('flow') : null;
      const request: AuthRequest = {
        ...{ flow: flow ?? '', client, browser: browser.index, prompt: asks[ask].prompt, maxAge },
        ...{ step: world.model.step, at: world.now(), needsPerson: ask !== 'plain', pkce: proof },
        ...{ issuer, scope },
      };
      if (flow !== null) {
        this.only(changes, /^authorization_requests$/, '/authorize');
        return request;
      }
      // The page for users without access.
      if (reply.location?.pathname.endsWith('/authorize/resume')) {
        const user = world.model.sessions.get(world.model.cookies.get(held ?? '') ?? '')?.user;
        demand(!user || !world.model.hasAccess(user, client), '/authorize denied access to a user who has it');
        this.only(changes, /^authorization_requests$/, '/authorize');
        return null;
      }
      const code = reply.location?.searchParams.get('code');
      if (typeof code === 'string') this.gave(held, request, code, changes, 'authorize');
      else checkRefusal(changes, '/authorize');
      return null;
    });
  }

  /** GET /authorize/resume, the target of the hosted page after SUCCESS. */
  async resume(app: number, tab: Tab): Promise<void> {
    const { world } = this;
    const { request } = tab.txn;
    if (!request) return;
    let held: string | undefined;
    const resume = () => {
      held = sessionCookie(tab.browser, request.client);
      return tab.browser.get(`${world.at(app, request.issuer)}/authorize/resume?flow=${request.flow}`);
    };
    await world.exchange(resume, (reply, changes) => {
      this.log(`${tab.txn.name} /authorize/resume: ${reply.status} ${where(reply)}`);
      demand(reply.status < 500, `/authorize/resume failed: ${reply.status}`);
      const code = reply.location?.searchParams.get('code');
      if (typeof code === 'string') return this.gave(held, request, code, changes, 'resume');
      this.only(changes, /^authorization_requests$/, '/authorize/resume');
    });
  }

  /** @param cookie of the session, as sent */
  private gave(
    cookie: string | undefined,
    request: AuthRequest,
    code: string,
    changes: readonly Change[],
    at: 'authorize' | 'resume',
  ): void {
    const { model } = this.world;
    this.only(changes, /^(authorization_requests|authorization_codes|participations|sessions)$/, `/${at}`);
    const row = changes.findLast(({ table, op }) => table === 'authorization_codes' && op === 'INSERT')?.new;
    demand(row, `/${at} returned a code without storing it`);
    const isOfIssuer = (row['issuer'] ?? this.world.issuer) === request.issuer && row['scope'] === request.scope;
    demand(isOfIssuer, `/${at} returned a code of a different issuer or scope than requested`);
    checkSessionCode(model, request, row, cookie === undefined ? undefined : model.cookies.get(cookie), at);
    absorb(model, changes);
    // The account page discards the verifier of its request.
    if (request.addsPasskey !== undefined) return;
    model.codes.push({
      ...{ code, user: row['user_id'], client: request.client, session: row['session_id'], amr: row['amr'] },
      ...{ authTime: Date.parse(row['auth_time']), step: model.step, at: model.now },
      ...{ verifier: request.pkce.verifier, redirectUri: request.client.redirectUri },
      ...{ issuer: request.issuer, scope: request.scope },
      ...{ isUsed: false, isReplayed: false },
    });
  }

  private only(changes: readonly Change[], tables: RegExp, what: string): void {
    const strange = changes.find(({ table }) => !tables.test(table));
    demand(!strange, `${what} changed ${strange?.table}`);
  }

  /** POST /oauth2/token from the application's back end; `deviation` makes one input invalid. */
  async exchange(command: { app: number; pick: number; deviation: number }): Promise<void> {
    const { world } = this;
    const { model } = world;
    const code = model.codes.at(-1 - (command.pick % Math.max(1, Math.min(6, model.codes.length))));
    if (!code) return;
    const deviates = command.deviation >= 7 || (code.redirectUri === null && code.client.secretKey === '');
    const other = world.clients().find(({ id }) => id !== code.client.id) as ClientModel;
    const client = command.deviation === 7 ? other : code.client;
    const form: Record<string, string> = { grant_type: 'authorization_code', code: code.code, client_id: client.id };
    if (code.verifier !== null) form['code_verifier'] = command.deviation === 8 ? pkce().verifier : code.verifier;
    if (code.verifier === null && command.deviation === 8) form['code_verifier'] = pkce().verifier;
    if (code.redirectUri !== null)
      form['redirect_uri'] = command.deviation === 9 ? 'https://app.example.com/x' : code.redirectUri;
    if (code.redirectUri === null && command.deviation === 9) form['code'] = `${code.code}x`;
    const key: Record<string, string> = code.redirectUri === null ? { 'X-Api-Key': client.secretKey } : {};
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...key };
    const body = new URLSearchParams(form).toString();
    const elsewhere = code.issuer === world.issuer ? world.issuerOf(code.client.project) : world.issuer;
    const issuer = command.deviation === 10 ? elsewhere : code.issuer;
    const post = () => send('POST', `${world.at(command.app, issuer)}/oauth2/token`, headers, body);
    await world.exchange(post, (reply, changes) => {
      this.log(
        `exchange of a code for ${code.client.name}${deviates ? `, deviation ${command.deviation}` : ''}: ${reply.status}`,
      );
      demand(reply.status < 500, `/oauth2/token failed: ${reply.status} ${reply.text.slice(0, 200)}`);
      if (reply.status !== 200) {
        // Reuse revokes the tokens of the first exchange; a wrong verifier may revoke the code.
        const isReplay =
          code.isUsed && changes.every(({ table }) => /^(authorization_codes|refresh_grants)$/.test(table));
        if (isReplay) absorb(model, changes);
        if (!isReplay) checkRefusal(changes, 'an exchange');
        // A request that fails to authenticate its client (401), e.g. a disabled one, does not use the code.
        if (code.isUsed && command.deviation < 7 && reply.status === 400) code.isReplayed = true;
        return;
      }
      checkExchange(model, code, deviates);
      this.only(changes, /^(authorization_codes|participations|sessions|refresh_grants)$/, 'an exchange');
      code.isUsed = true;
      const grant = grantOf(model, code, reply.json, changes, world.issuer);
      if (grant) model.grants.push(grant);
      model.tokens.push(checkClaims(code, reply.json, { step: model.step, grant }));
    });
  }

  async userInfo(command: { app: number; pick: number }): Promise<void> {
    const { world } = this;
    const { model } = world;
    const token = model.tokens.at(-1 - (command.pick % Math.max(1, Math.min(6, model.tokens.length))));
    if (!token) return;
    const headers = { Authorization: `Bearer ${token.accessToken}` };
    const { issuer } = token.code;
    const elsewhere = issuer === world.issuer ? world.issuerOf(token.code.client.project) : world.issuer;
    const isElsewhere = command.pick % 8 === 7;
    const ask = () => send('GET', `${world.at(command.app, isElsewhere ? elsewhere : issuer)}/userinfo`, headers);
    await world.exchange(ask, (reply, changes) => {
      checkRefusal(changes, 'UserInfo');
      this.log(`userinfo of ${model.user(token.user)['user_name']}: ${reply.status}`);
      demand(reply.status < 500, `/userinfo failed: ${reply.status}`);
      demand(reply.status !== 200 || !isElsewhere, 'UserInfo answered to a token of another issuer');
      if (reply.status === 200) checkUserInfo(model, token, reply.json);
    });
  }

  /** GET /oauth2/end_session with or without an ID token hint, and the confirmation page if it is shown. */
  async logout(command: {
    app: number;
    browser: number;
    client: number;
    hint: number;
    isSession: boolean;
    isConfirmed: boolean;
  }): Promise<void> {
    const { world } = this;
    const { model } = world;
    const browser = world.browsers[command.browser] as Browser;
    const client = world.clients()[command.client] as ClientModel;
    const hint = command.hint < 6 ? model.tokens.at(-1 - command.hint) : undefined;
    const query = new URLSearchParams({
      client_id: hint?.code.client.id ?? client.id,
      ...(hint && { id_token_hint: hint.idToken }),
      ...(command.isSession && { logout_scope: 'session' }),
    });
    const url = `${world.process(command.app)}/oauth2/end_session`;
    const ask = () => browser.get(`${url}?${query}`);
    const by = { hint, isConfirmed: false, forgets: false };
    const asked = await this.end(browser, ask, hint ? 'with a hint' : 'without a hint', by);
    const hidden = [...asked.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
    if (fields['csrf'] === undefined || !command.isConfirmed) return;
    const forgets = command.hint % 2 === 1;
    const form = { ...fields, ...(forgets && { forget: '1' }) };
    const confirm = () => browser.post(url, form, { Origin: world.issuer });
    await this.end(browser, confirm, `confirms${forgets ? ', and forgets the browser' : ''}`, {
      ...{ hint, isConfirmed: true, forgets },
    });
  }

  private end(
    browser: Browser,
    send: () => Promise<Reply>,
    how: string,
    by: { hint: TokenModel | undefined; isConfirmed: boolean; forgets: boolean },
  ): Promise<Reply> {
    const { model } = this.world;
    let cookies = new Map<string, string>();
    const end = () => {
      cookies = new Map(browser.jar.cookies);
      return send();
    };
    return this.world.exchange(end, (reply, changes) => {
      this.log(`browser ${browser.index} logs out, ${how}: ${reply.status}`);
      demand(reply.status < 500, `/oauth2/end_session failed: ${reply.status}`);
      mayEnd(model, changes, { cookies, ...by });
      absorb(model, changes, { mayEnd: (kind) => by.forgets && kind === 'device' });
      for (const { table, new: row } of changes)
        if (table === 'sessions') model.interrupted.set(row?.['user_id'], model.step);
      return reply;
    });
  }
}

function sessionCookie(browser: Browser, { project }: ClientModel): string | undefined {
  return browser.jar.cookies.get(`lk-session-${project.id}`);
}

function where(reply: Reply): string {
  const { location } = reply;
  if (!location) return '';
  const names = [...location.searchParams.keys()].filter((name) => /code|error|flow/.test(name));
  return `to ${location.pathname} with ${names.join(', ')}`;
}
