import { absorb } from '../absorb.ts';
import { type Change, changedColumns, describeChange } from '../changes.ts';
import type { Deviation, Refresh } from '../commands.ts';
import { nameOf } from '../finish.ts';
import { type ClientModel, type CodeModel, demand, type GrantModel, type Model, toleranceMs } from '../model.ts';
import { checkAlive, checkClaims } from '../oidc-rules.ts';
import { checkRefusal } from '../signin-rules.ts';
import { type Reply, send } from '../wire.ts';
import type { World } from '../world.ts';

/** A replaced token yields the same unused successor for this long, then another one (decisions/0112). */
const parallelMs = 30_000;

/** A request with a refresh token. */
interface Sent {
  grant: GrantModel;
  token: string;
  client: ClientModel;
  issuer: string;
  scope?: string;
}

/** Back ends of applications that refresh and revoke tokens. */
export class RefreshActor {
  private readonly world: World;
  private readonly log: (line: string) => void;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  async send({ app, pick, deviation }: Refresh): Promise<void> {
    const { model, processes } = this.world;
    const { grants } = model;
    const grant = grants.at(-1 - (pick % Math.max(1, Math.min(4, grants.length))));
    if (!grant) return;
    if (deviation === 'revoke-access') return this.revokeAccess(app, grant);
    const sent = this.sentOf(grant, deviation, pick);
    if (deviation === 'late') {
      processes.clock.turn((parallelMs + toleranceMs) / 1000 + 1);
      model.now = this.world.now();
    }
    if (sent) await (deviation.startsWith('revoke') ? this.revoke(app, sent) : this.refresh(app, sent));
  }

  private sentOf(grant: GrantModel, deviation: Deviation, pick: number): Sent | null {
    const { world } = this;
    const { client, issuer } = grant.code;
    const of = { grant, client, issuer, token: grant.tokens.at(-1) as string };
    const others = world.clients().filter((one) => one !== client && one.project === client.project);
    const [other] = others;
    const elsewhere = world.projects.find((one) => one !== client.project) ?? client.project;
    const isRepeat = deviation === 'repeat' || deviation === 'late';
    // Those that were replaced unused have ended, like those before the last two.
    const older = isRepeat ? grant.tokens.slice(0, -1) : [...grant.tokens.slice(0, -2), ...grant.ended];
    const earlier = isRepeat ? older.at(-1) : older[pick % Math.max(1, older.length)];
    switch (deviation) {
      case 'repeat':
      case 'late':
      case 'old':
      case 'revoke-old':
        return { ...of, token: earlier ?? of.token };
      case 'less':
        return { ...of, scope: 'openid' };
      case 'more':
        return { ...of, scope: 'openid phone' };
      case 'forged':
        return { ...of, token: reencoded(of.token, -2) };
      case 'stranger':
        return { ...of, token: reencoded(of.token, 'lk_rt_'.length) };
      case 'other-client':
      case 'revoke-other-client':
        return other ? { ...of, client: other } : null;
      case 'base-issuer':
        return { ...of, issuer: world.issuer };
      case 'other-issuer':
        return { ...of, issuer: world.issuerOf(elsewhere) };
      default:
        return of;
    }
  }

  async refresh(app: number, sent: Sent): Promise<void> {
    const { model } = this.world;
    const { grant, scope, token } = sent;
    const fields = { grant_type: 'refresh_token', refresh_token: token, ...(scope && { scope }) };
    await this.post(app, sent, 'token', fields, (reply, changes) => {
      this.log(`a refresh ${this.nameOf(sent)}${scope ? `, scope ${scope}` : ''}: ${reply.status}`);
      if (reply.status !== 200) {
        checkRefusedRefresh(sent, reply, changes);
        absorb(model, changes);
        if (changes.some(isEndOfGrant)) this.log('which ends the grant');
        return;
      }
      checkRefresh(model, sent, changes);
      const isLive = token === grant.tokens.at(-1);
      const next = String(reply.json['refresh_token']);
      const age = model.now - grant.rotatedAt;
      if (!isLive && next === grant.tokens.at(-1)) {
        demand(age < parallelMs + toleranceMs, 'a refresh gave the same token again after 30 seconds');
      } else {
        demand(isLive || age > parallelMs - toleranceMs, 'parallel refreshes gave different tokens');
        demand(!isIssued(grant, next), 'a refresh gave a token that was replaced');
        // The unused one has ended.
        if (!isLive) grant.ended.push(grant.tokens.pop() as string);
        grant.tokens.push(next);
        grant.rotatedAt = model.now;
      }
      grant.lastUsedAt = model.now;
      const granted = reply.json['scope'];
      demand(granted === (scope ?? grant.code.scope), `a refresh gave the scope ${granted}`);
      const code: CodeModel = { ...grant.code, session: sessionOf(grant), step: model.step, at: model.now };
      model.tokens.push(checkClaims(code, reply.json, { step: model.step, grant }));
      absorb(model, changes);
    });
  }

  /** RFC 7009. */
  private async revoke(app: number, sent: Sent): Promise<void> {
    const { model } = this.world;
    const { grant, token } = sent;
    const isOwn = sent.client === grant.code.client;
    await this.post(app, sent, 'revoke', { token }, (reply, changes) => {
      // The client may have missed the live one.
      const isKnown = isIssued(grant, token);
      const wasEnded = grant.isEnded;
      this.log(`a refresh token is revoked, ${this.nameOf(sent)}: ${reply.status}`);
      if (reply.status !== 200 || !isOwn || !isKnown) {
        checkRefusal(changes, 'a revocation');
        return demand(reply.status !== 200 || isOwn || !isKnown, 'another client revoked a refresh token');
      }
      checkEnd(grant, changes, 'a revocation');
      absorb(model, changes);
      demand(wasEnded || changes.some(isEndOfGrant), 'a revocation ended nothing');
      grant.isEnded = true;
    });
  }

  private async revokeAccess(app: number, grant: GrantModel): Promise<void> {
    const { model } = this.world;
    const token = model.tokens.findLast((one) => one.grant === grant);
    if (!token) return;
    const { client, issuer } = grant.code;
    const sent = { grant, client, issuer, token: token.accessToken };
    await this.post(app, sent, 'revoke', { token: sent.token }, (reply, changes) => {
      this.log(`an access token is revoked: ${reply.status}`);
      if (reply.status !== 200) return checkRefusal(changes, 'a revocation');
      const isOnly = changes.every(
        ({ table, new: row }) => table === 'authorization_codes' && row?.['revoked_at'] !== null,
      );
      demand(isOnly && changes.length <= 1, 'the revocation of an access token changed more');
      token.isRevoked = true;
      absorb(model, changes);
    });
  }

  private async post(
    app: number,
    { client, issuer }: Sent,
    path: 'token' | 'revoke',
    fields: Record<string, string>,
    settle: (reply: Reply, changes: Change[]) => void,
  ): Promise<void> {
    const { world } = this;
    const body = new URLSearchParams({ ...fields, client_id: client.id }).toString();
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const post = () => send('POST', `${world.at(app, issuer)}/oauth2/${path}`, headers, body);
    await world.exchange(post, (reply, changes) => {
      demand(reply.status < 500, `/oauth2/${path} failed: ${reply.status} ${reply.text.slice(0, 200)}`);
      settle(reply, changes);
    });
  }

  private nameOf({ client, grant, issuer, token }: Sent): string {
    const place = grant.tokens.indexOf(token);
    const number = place < 0 ? 'unknown' : `${place + 1} of ${grant.tokens.length}`;
    const { model } = this.world;
    const kind = grant.isOffline ? 'offline' : 'online';
    const at = issuer === grant.code.issuer ? '' : ` at ${issuer}`;
    return `${kind} for ${nameOf(model, grant.code.user)}, token ${number}, by ${client.name}${at}`;
  }
}

/** Whether the grant had this token. */
function isIssued({ ended, tokens }: GrantModel, token: string): boolean {
  return tokens.includes(token) || ended.includes(token);
}

/** The session that its tokens name. */
function sessionOf({ code, isOffline }: GrantModel): string | null {
  return isOffline ? null : code.session;
}

/** A refreshed access token exists only if its grant was proved and is live. */
function checkRefresh(model: Model, sent: Sent, changes: readonly Change[]): void {
  const { client, grant, issuer, scope, token } = sent;
  const { code } = grant;
  const what = `a refresh token of ${nameOf(model, code.user)} was accepted`;
  const place = grant.tokens.indexOf(token);
  demand(place >= 0, `${what} that was never issued`);
  demand(client === code.client, `${what} from another client`);
  demand(issuer === code.issuer, `${what} at another issuer`);
  demand(isPart(scope, code.scope), `${what} for more than was granted`);
  demand(!grant.isEnded, `${what} after its grant was ended`);
  demand(!code.isReplayed, `${what} whose code was used twice`);
  const isLive = place === grant.tokens.length - 1;
  const isRepeat = place === grant.tokens.length - 2;
  demand(isLive || isRepeat, `${what} after its replacement was used`);
  checkAlive(model, { ...code, session: sessionOf(grant) }, what);
  checkPolicy(model, grant, what);
  const project = model.project(code.client.project.id);
  const age = model.now - grant.createdAt - toleranceMs;
  demand(age < project['refresh_token_ttl_seconds'] * 1000, `${what} after its lifetime`);
  const unused = model.now - grant.lastUsedAt - toleranceMs;
  demand(unused < project['refresh_token_idle_seconds'] * 1000, `${what} after it was unused for too long`);
  for (const change of changes) {
    const isNoted = change.table === 'authorization_codes' && change.op === 'INSERT';
    const columns = changedColumns(change).filter(
      (name) => !/^(previous|current)_hash$|^(rotated|last_used)_at$|^renewals$/.test(name),
    );
    const isRotated = change.table === 'refresh_grants' && change.op === 'UPDATE' && columns.length === 0;
    const isOwn = change.new?.[isNoted ? 'grant_id' : 'id'] === grant.id && change.new?.['user_id'] === code.user;
    demand(isOwn && (isNoted || isRotated), `${what} and made an unexpected ${describeChange(change)}`);
  }
  const written = (table: string) => changes.filter((change) => change.table === table).length;
  demand(written('authorization_codes') === 1, `${what} without noting the access token`);
  // A repetition in the same millisecond writes what is there.
  const least = isLive ? 1 : 0;
  demand(written('refresh_grants') >= least && written('refresh_grants') <= 1, `${what} without replacing it`);
}

/** Policies are checked at use. */
function checkPolicy(model: Model, { code, isOffline }: GrantModel, what: string): void {
  const session = code.session === null ? undefined : model.sessions.get(code.session);
  const isByPasskey = ['pop', 'mfa'].every((name) => code.amr.includes(name));
  const byPasskey = isOffline ? isByPasskey : session?.passkey != null;
  demand(model.meetsPolicy(code.user), `${what} without a factor that the policy demands`);
  demand(byPasskey || !model.requiresPasskey(code.user, code.client), `${what} without the passkey that is required`);
}

/** A refusal changes nothing, except that a reused token ends its grant. */
function checkRefusedRefresh(sent: Sent, reply: Reply, changes: readonly Change[]): void {
  const { client, grant, issuer, token } = sent;
  const place = grant.tokens.indexOf(token);
  const isOwn = client === grant.code.client && issuer === grant.code.issuer;
  const isOfFamily = grant.tokens.some((one) => one.slice(0, familyEnd) === token.slice(0, familyEnd));
  const isReplaced = place < grant.tokens.length - (place < 0 ? 1 : 2) && isOfFamily;
  if (!isOwn || !isReplaced) return checkRefusal(changes, 'a refresh');
  checkEnd(grant, changes, 'a refresh');
  const mustEnd = reply.status === 400 && !grant.isEnded;
  demand(!mustEnd || changes.some(isEndOfGrant), 'a reused refresh token did not end its grant');
}

/** The end of a grant changes it and its access tokens only. */
function checkEnd(grant: GrantModel, changes: readonly Change[], what: string): void {
  for (const change of changes) {
    const isToken = change.table === 'authorization_codes' && change.new?.['grant_id'] === grant.id;
    const isEnd = isToken || (isEndOfGrant(change) && change.new?.['id'] === grant.id);
    const isOnly = changedColumns(change).every((name) => name === 'revoked_at');
    demand(change.op === 'UPDATE' && isEnd && isOnly, `${what} made an unexpected ${describeChange(change)}`);
  }
}

function isEndOfGrant({ table, old, new: row }: Change): boolean {
  return table === 'refresh_grants' && old?.['revoked_at'] === null && row?.['revoked_at'] !== null;
}

function isPart(scope: string | undefined, granted: string): boolean {
  return scope === undefined || scope.split(' ').every((one) => granted.split(' ').includes(one));
}

/** Length of `lk_rt_` and the name of the family. */
const familyEnd = 'lk_rt_'.length + 43;

/** The token with another character at this place. */
function reencoded(token: string, place: number): string {
  const at = place < 0 ? token.length + place : place;
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
}
