import { isPasskey } from './absorb.ts';
import { type Change, describeChange, type Row } from './changes.ts';
import { concerned, nameOf } from './finish.ts';
import {
  type AuthRequest,
  type CodeModel,
  demand,
  type GrantModel,
  type Model,
  type TokenModel,
  toleranceMs,
} from './model.ts';

/** A code issued from a session: it must be the session of this browser's cookie, with its recorded properties. */
export function checkSessionCode(
  model: Model,
  request: AuthRequest,
  row: Row,
  cookieSession: string | undefined,
  at: string,
): void {
  const what = `/${at} gave a code of ${nameOf(model, row['user_id'])}`;
  const session = model.sessions.get(row['session_id']);
  demand(session, `${what} by a session that no sign-in began`);
  demand(session.id === cookieSession, `${what} by a session that this browser does not hold`);
  demand(!session.ended, `${what} by a session that was ended`);
  demand(session.user === row['user_id'], `${what} by a session of ${nameOf(model, session.user)}`);
  demand(session.project === request.client.project.id, `${what} by a session of another project`);
  demand(!request.client.isDisabled, `${what} to a disabled client`);
  demand(model.user(session.user)['active'], `${what}, who is deactivated`);
  demand(model.hasAccess(session.user, request.client), `${what}, who has no access`);
  demand(model.allows(session, request.client), `${what} without a factor or passkey that is required`);
  demand(String(row['amr']) === String(session.amr), `${what} with an amr that is not its session's`);
  const differs = Math.abs(Date.parse(row['auth_time']) - session.authTime);
  demand(differs < 1000, `${what} with an auth_time that is not its session's`);
  if (request.addsPasskey !== undefined) {
    const byPerson = session.personAt !== null && session.personStep > request.step;
    demand(byPerson, `${what} to the account page by a device key alone`);
  }
  if (request.prompt === 'login') {
    demand(session.step > request.step, `${what} to prompt=login by a sign-in before it`);
    const byPerson = session.personAt !== null && session.personStep > request.step;
    demand(byPerson, `${what} to prompt=login by a device key alone`);
  }
  if (request.maxAge === undefined) return;
  const isLater = session.step > request.step;
  demand(session.personAt !== null, `${what} to max_age by a device key alone`);
  const age = (isLater ? request.at : model.now) - session.personAt;
  demand(age <= request.maxAge * 1000 + toleranceMs, `${what} to max_age=${request.maxAge} by a person ${age} ms ago`);
}

export function checkExchange(model: Model, code: CodeModel, isAltered: boolean): void {
  const what = `a code of ${nameOf(model, code.user)} was exchanged`;
  demand(!isAltered, `${what} though one of the inputs was wrong`);
  demand(!code.isUsed, `${what} twice`);
  demand(model.now - code.at <= 60_000 + toleranceMs, `${what} after its lifetime`);
  checkAlive(model, code, what);
}

/** The refresh tokens of an exchange: only at the issuer of a project. */
export function grantOf(
  model: Model,
  code: CodeModel,
  body: Record<string, any>,
  changes: readonly Change[],
  baseIssuer: string,
): GrantModel | null {
  const what = `an exchange of a code of ${nameOf(model, code.user)}`;
  const rows = changes.flatMap(({ table, new: row }) => (table === 'refresh_grants' && row ? [row] : []));
  const token: unknown = body['refresh_token'];
  const isDue = code.issuer !== baseIssuer && code.redirectUri !== null;
  demand(isDue === (token !== undefined), `${what} gave ${isDue ? 'no' : 'a'} refresh token`);
  demand(rows.length === (isDue ? 1 : 0), `${what} wrote ${rows.length} refresh grants`);
  const [row] = rows;
  if (!row) return null;
  const isOffline = code.scope.includes('offline_access');
  const stored = [row['user_id'], row['client_id'], row['session_id'], row['issuer'], row['scope'], row['offline']];
  const proved = [code.user, code.client.id, code.session, code.issuer, code.scope, isOffline];
  demand(JSON.stringify(stored) === JSON.stringify(proved), `${what} wrote a grant for ${stored.join(' ')}`);
  demand(String(row['amr']) === String(code.amr), `${what} wrote a grant with another amr`);
  return {
    ...{ id: row['id'], code, isOffline, tokens: [String(token)], ended: [], isEnded: false },
    ...{ rotatedAt: model.now, createdAt: model.now, lastUsedAt: model.now },
  };
}

export function checkAlive(model: Model, code: CodeModel, what: string): void {
  const dead = model.killed.get(code.user);
  demand(model.isAlive(code.user, code.step), `${what} after ${dead?.why} at step ${dead?.step}`);
  demand(model.user(code.user)['active'], `${what}, who is deactivated`);
  demand(!code.client.isDisabled, `${what} by a disabled client`);
  demand(model.hasAccess(code.user, code.client), `${what}, who has no access`);
  const session = code.session === null ? undefined : model.sessions.get(code.session);
  demand(!session?.ended, `${what} after its session was ended`);
}

/** Checks the claims of both tokens against the code. */
export function checkClaims(
  code: CodeModel,
  body: Record<string, any>,
  { step, grant }: { step: number; grant: GrantModel | null },
): TokenModel {
  const id = claimsOf(body['id_token']);
  const access = claimsOf(body['access_token']);
  for (const claims of [id, access]) {
    demand(claims['sub'] === code.user, `a token names ${claims['sub']}, its code ${code.user}`);
    demand(claims['iss'] === code.issuer, 'a token is of a different issuer than its code');
    demand(String(claims['amr']) === String(code.amr), 'a token has a different amr than its code');
    demand(Math.abs(Number(claims['auth_time']) * 1000 - code.authTime) <= 1000, 'a token has another auth_time');
  }
  demand(id['aud'] === code.client.id, 'an ID token is for another client');
  demand((id['sid'] ?? null) === code.session, 'an ID token has the wrong sid');
  return {
    ...{ accessToken: body['access_token'], idToken: body['id_token'], user: code.user, code, step },
    ...{ expiresAt: Number(access['exp']) * 1000, sid: code.session, grant, isRevoked: false },
  };
}

export function checkUserInfo(model: Model, token: TokenModel, body: Record<string, any>): void {
  const what = `UserInfo of ${nameOf(model, token.user)} answered`;
  demand(body['sub'] === token.user, `${what} for another user`);
  demand(model.now < token.expiresAt + toleranceMs, `${what} to an expired token`);
  const first = token.grant?.code ?? token.code;
  demand(!first.isReplayed, `${what} to a token whose code was used twice`);
  demand(!token.grant?.isEnded, `${what} to a token whose refresh tokens were ended`);
  demand(!token.isRevoked, `${what} to a token that was revoked`);
  checkAlive(model, token.code, what);
}

/** A logout may end the browser's own sessions, or those of the user whose active session the hint names. */
export function mayEnd(
  model: Model,
  changes: readonly Change[],
  by: { cookies: Map<string, string>; hint: TokenModel | undefined; isConfirmed: boolean; forgets: boolean },
): void {
  const held = [...by.cookies.values()].flatMap((secret) => {
    const session = model.sessions.get(model.cookies.get(secret) ?? '');
    return session && !session.ended ? [session] : [];
  });
  const hinted = by.hint?.sid ? model.sessions.get(by.hint.sid) : undefined;
  const isHintLive = hinted !== undefined && !hinted.ended;
  for (const change of changes) {
    if (change.table === 'logout_deliveries') continue;
    if (by.forgets && isRevocation(change)) {
      demand(!isPasskey(change), 'a logout revoked a passkey: only a fresh session may');
      const isHeld = held.some(({ device }) => device === change.new?.['id']);
      demand(isHeld, 'a logout revoked a device that this browser has no session of');
      continue;
    }
    const outlives = change.table === 'refresh_grants' && change.new?.['offline'] === true;
    demand(!outlives || by.forgets, 'a logout ended a grant with offline_access');
    demand(change.table === 'sessions' || isOpenWork(change), `a logout made an unexpected ${describeChange(change)}`);
    const isAllowed = concerned(model, change).some((user) => {
      const byCookie = held.some((session) => session.user === user);
      return (byCookie && by.isConfirmed) || (by.hint?.user === user && (byCookie || isHintLive));
    });
    demand(isAllowed, `a logout made an ${describeChange(change)} of ${names(model, change)}, unasked`);
  }
}

function names(model: Model, change: Change): string {
  return concerned(model, change)
    .map((user) => nameOf(model, user))
    .join(' or ');
}

function isRevocation({ table, op, old, new: row }: Change): boolean {
  return table === 'credentials' && op === 'UPDATE' && old?.['revoked_at'] === null && row?.['revoked_at'] !== null;
}

/** Pending work that ends with the session: transactions, codes, tokens, and pending numbers and factors. */
function isOpenWork({ table, op, new: row }: Change): boolean {
  if (table === 'authorization_codes' || table === 'refresh_grants')
    return op === 'UPDATE' && row?.['revoked_at'] !== null;
  if (table === 'ceremonies') return op === 'UPDATE' && row?.['finished_at'] !== null;
  return op === 'DELETE' && /^(one_time_codes|enrolments|phone_changes|email_changes|factor_changes)$/.test(table);
}

function claimsOf(jwt: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}
