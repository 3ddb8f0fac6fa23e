import { deviceColumns, isDeviceUnchanged, toTrustState } from '../../credentials/device-facts.ts';
import { belongsTo, notedUse } from '../../credentials/devices.ts';
import { checkProof } from '../../credentials/proof.ts';
import { seconds } from '../../kernel/clock.ts';
import { digest, isStorableText } from '../../kernel/secret.ts';
import { type Fragment, query, type Statement, sql } from '../../kernel/sql.ts';
import { isTrusted, skipsFactor, trustAfterUse } from '../../policy/device-trust.ts';
import { nextRequirement } from '../../policy/requirements.ts';
import { factorsOf, holdsPasskey } from '../../sessions/user-facts.ts';
import { addressKey, isAddress, trimmed } from '../../users/login.ts';
import type { SigninCaller } from '../callers.ts';
import { lacksPkce } from '../code-challenge.ts';
import type { FlowDeps, StepInput } from '../flow.ts';
import { asksForPasskeys, contextOf, siteOfPage } from '../sign-in-context.ts';
import { type BegunDevice, begunKey, type DeviceFacts } from './begun-devices.ts';
import {
  type Ending,
  endIfUnchanged,
  endingFacts,
  endsPlainly,
  isUnproved,
  passed,
  type SigninPage,
} from './ending.ts';
import { type Success, steps } from './steps.ts';

const { from } = steps.authenticate;
/** A step-up takes the general step. */
const ceremony = { stepUp: null };

/** The sign-in and the address, normalized by {@link addressKey}, that a step names. */
interface TrustedRequest {
  txn: string;
  addressKey: string;
  now: Date;
}

/** The row of a sign-in that begins; without `credential_id`, its key is of no device. */
type BegunRow = { is_begun: boolean } & (BegunDevice | { credential_id: null });

/**
 * The work is the same for every address: the device is found by its key. Each row is found by one key, and no other
 * index matches any condition, so a plan created while the tables were small stays good (decisions/0087).
 */
export function deviceFactsStatement(page: SigninPage, request: TrustedRequest): Statement<DeviceFacts> {
  const { txn, addressKey: key, now } = request;
  const projectId = sql`${page.project.id}::uuid`;
  const begun = sql`select * from ceremonies where project_id = ${projectId} and txn_hash = ${digest(txn)}`;
  return sql<DeviceFacts>`with begun as materialized (${begun}), ${knownDevices(page)}
    select ${deviceFacts(page)} from ${usersOfDevices(page)}
    where ${isUnproved(page)} and c.state = any(${from}) and least(c.expires_at, c.nonce_expires_at) > ${now} and u.active
      and (u.email_key = ${key} or u.user_name_key = ${key}
        and not exists (select 1 from users other where other.project_id = ${projectId} and other.email_key = ${key})
        -- A user of another home can have the name: the step then decides.
        and not exists (select 1 from users other
          where other.project_id = ${projectId} and other.user_name_key = ${key} and other.id <> u.id
            and other.account_id is null))
    order by d.id`;
}

/** Begins a sign-in with a device key, and reads the device for its first step. @param insertion of at most one sign-in */
export function beginningStatement(page: SigninPage, insertion: Fragment): Statement<BegunRow> {
  return sql<BegunRow>`with begun as (${insertion} returning *), ${knownDevices(page)}
    select exists (select 1 from begun) as is_begun, f.* from (values (1)) one left join (
      select ${deviceFacts(page)}, u.email_key from ${usersOfDevices(page)} where u.active
    ) f on true order by f.credential_id`;
}

const knownDevices = ({ project }: SigninPage) => sql`known as materialized (
      select d.* from begun, credentials d where d.project_id = ${project.id}::uuid and d.jkt = begun.jkt
    )`;

const usersOfDevices = ({ project }: SigninPage) => sql`begun c, known d,
      lateral (select id, user_name, active, email_key, user_name_key from users
        where project_id = ${project.id}::uuid and id = d.user_id offset 0) u`;

/** SQL: the columns of {@link DeviceFacts}. */
function deviceFacts(page: SigninPage): Fragment {
  const { factors, hasPending, isMarked, passkey } = factsOfUser(page);
  return sql`${endingFacts(page)}, c.jkt, d.id as credential_id, d.public_jwk, d.alg, d.client_id, d.hosted, d.domain, d.revoked_at,
      ${deviceColumns}, ${factors} as factors, ${passkey} as holds_passkey, ${isMarked} as is_marked, ${hasPending} as has_pending`;
}

/** SQL: what the policy of the page asks of user `u`. */
function factsOfUser(page: SigninPage) {
  const { id } = page.project;
  const user = sql`u.id`;
  const isAsked = asksForPasskeys({ caller: page, ceremony }, []);
  const hasFactor = (where: Fragment) =>
    sql`exists (select 1 from enrolments e where e.project_id = ${id}::uuid and e.user_id = u.id and ${where})`;
  return {
    factors: factorsOf(id, user),
    passkey: isAsked ? holdsPasskey(id, user) : sql`false`,
    isMarked: isAsked ? hasFactor(sql`e.beside_passkey`) : sql`false`,
    hasPending: hasFactor(sql`e.verified_at is null`),
  };
}

/**
 * `authenticate` in one read and one write: by a trusted device that nothing else is required of, without earlier evidence in
 * this sign-in. Null: the step decides in its transaction.
 */
export async function byTrustedDevice(
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  nextNonce: string,
): Promise<Success | null> {
  const address = trimmed(input.userid ?? '');
  if (input.proof === undefined || input.stepUp || !isStorableText(address) || !isAddress(address)) return null;
  const request = { txn: input.txn, addressKey: addressKey(address), now: deps.clock.now() };
  const end = (rows: readonly DeviceFacts[]) => endedBy(deps, caller, input, { rows, request, nextNonce });
  // Read when the sign-in began: it ends with it only if the write finds the same.
  const begun = caller.sessionSecret === undefined ? deps.begunDevices.take(begunKey(caller, digest(input.txn))) : null;
  const isOfUser = ({ email_key }: BegunDevice) => email_key === request.addressKey;
  const ended = begun?.some(isOfUser) ? await end(begun.filter(isOfUser)) : null;
  if (ended) return ended;
  return end(await query(deps.db.alone, deviceFactsStatement(caller, request), { prepare: 'trusted-device.facts' }));
}

/** Ends the sign-in by the device of this page among these. Null: none is enough, or a fact has changed. */
async function endedBy(
  deps: FlowDeps,
  caller: SigninCaller,
  input: StepInput,
  { rows, request, nextNonce }: { rows: readonly DeviceFacts[]; request: TrustedRequest; nextNonce: string },
): Promise<Success | null> {
  const facts = rows.find((row) => belongsTo(keyOf(row), pageOf(deps, caller)));
  if (!facts || !isEnough(facts, caller, request.now) || !endsPlainly(caller, facts, request.now)) return null;
  if (lacksPkce(caller, facts.code_challenge) || !(await isProved(deps, caller, input, facts))) return null;
  return endIfUnchanged(deps, caller, ending(caller, input, facts, request), nextNonce);
}

function keyOf({ client_id: id, hosted, domain }: DeviceFacts) {
  return { client: { id }, hosted, domain };
}

function pageOf(deps: FlowDeps, caller: SigninCaller) {
  const { client, request } = caller;
  return { client, isHosted: request !== null, domain: siteOfPage({ deps, caller }).domain };
}

/** Whether the device is trusted, and its key is all that the sign-in requires. A pending factor may be required, too. */
function isEnough(facts: DeviceFacts, caller: SigninCaller, now: Date): boolean {
  const { project } = caller;
  const device = toTrustState(facts);
  if (facts.revoked_at !== null || facts.has_pending || !isTrusted(device, project, now)) return false;
  const person = {
    // As if all were marked: they count no more than that.
    factors: facts.factors.map((method) => ({ method, besidePasskey: facts.is_marked })),
    holdsPasskey: facts.holds_passkey,
    skipsFactor: skipsFactor(device, project, now),
  };
  return nextRequirement([pieceOf(facts, now)], contextOf({ caller, ceremony }, person)) === 'nothing';
}

function pieceOf({ user_id: account, credential_id: device }: DeviceFacts, now: Date): Ending['piece'] {
  return { kind: 'device-key', account, device, at: now.toISOString() };
}

async function isProved(deps: FlowDeps, caller: SigninCaller, input: StepInput, facts: DeviceFacts): Promise<boolean> {
  const { jkt, public_jwk: jwk, alg } = facts;
  const verdict = await checkProof(input.proof ?? '', {
    key: { kind: 'stored', jkt, jwk, alg },
    act: 'authenticate',
    issuer: siteOfPage({ deps, caller }).origin,
    projectId: caller.project.id,
    clientId: caller.client.id,
    origin: caller.origin,
    originAllowed: true,
    txn: input.txn,
    stateAllows: true,
    codeChallenge: facts.code_challenge,
    jkt,
    body: input.body,
    // Only compared here: the write consumes it.
    consumeNonce: async (nonce) => digest(nonce) === facts.nonce_hash,
    nowSeconds: seconds(deps.clock.now()),
  });
  return verdict.valid;
}

/** Requires the user, their factors, the device and the sign-in as they were read. */
function ending(caller: SigninCaller, input: StepInput, facts: DeviceFacts, request: TrustedRequest): Ending {
  const { project } = caller;
  const { addressKey: address, now } = request;
  const { factors, hasPending, isMarked, passkey } = factsOfUser(caller);
  const use = { lastUsedAt: now, trustedUntil: trustAfterUse(facts, project, now) };
  return {
    label: 'trusted-device.end',
    facts,
    piece: pieceOf(facts, now),
    credential: sql`select d.id, d.user_id, d.client_id, d.jkt
      from users u join credentials d on d.project_id = ${project.id}::uuid and d.user_id = u.id
      where u.project_id = ${project.id}::uuid and u.id = ${facts.user_id} and u.active
        and (u.email_key = ${address} or u.user_name_key = ${address}) and d.id = ${facts.credential_id} and d.revoked_at is null
        and d.client_id = ${facts.client_id} and d.jkt = ${facts.jkt} and ${isDeviceUnchanged(facts)}
        and ${factors} = ${facts.factors}::text[] and ${passkey} = ${facts.holds_passkey}::boolean
        and ${isMarked} = ${facts.is_marked}::boolean and not ${hasPending}
      for no key update of u, d`,
    allowed: sql`c.jkt = t.jkt and c.state = any(${from}) and least(c.expires_at, c.nonce_expires_at) > ${now}`,
    columns: sql`remember_device = ${input.rememberDevice ?? true}, step_up = null, mfa_method = null, mfa_session_hash = null,
        enrolment_id = null`,
    writes: { used: notedUse({ project, id: passed.credential }, use) },
  };
}
