import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditEvent } from '../audit/audit-event.entity.ts';
import type { EventType } from '../audit/event-types.ts';
import { type EventFilter, listEvents } from '../audit/events.ts';
import { momentOf } from '../audit/moment.ts';
import { decidedFor } from '../ceremonies/account.ts';
import { maskAddress } from '../delivery/mask.ts';
import { secondsLater } from '../kernel/clock.ts';
import { refuse } from '../kernel/problem.ts';
import { isStorableText, isUuid } from '../kernel/secret.ts';
import { addressKey, isAddress } from '../users/login.ts';
import { type Attempt, attemptsOf } from './attempts.ts';
import { oauthErrors } from './oauth-errors.ts';

/** The events of a sign-in, from the first request to the tokens. */
const signInTypes: readonly EventType[] = [
  'access.refused',
  'authorization.refused',
  'code.replayed',
  'consent.given',
  'consent.refused',
  'device-authorization.approved',
  'device-authorization.denied',
  'mfa.enrolled',
  'mfa.recovery_code_used',
  'mfa.rejected',
  'otp.failed',
  'otp.rejected',
  'otp.requested',
  'otp.sent',
  'otp.suppressed',
  'otp.verified',
  'passkey.rejected',
  'recovery.used',
  'refresh-token.replayed',
  'signin.refused',
  'token.issued',
  'token.refused',
  'user.signed_in',
];

const maxLength = 2000;
const maxEvents = 200;
const maxAttempts = 10;
/** Events after a request that are part of its sign-in. */
const aroundSeconds = 15 * 60;

/** The last sign-in attempts that match an admin's search. */
export interface SignInHistory {
  kind: 'address' | 'request' | 'error' | 'latest';
  /** The search: an address, a request id or an error code; empty for the latest refusals. */
  about: string;
  /** The user, if the project has one; never of another project. */
  userId: string | null;
  /** Newest first. */
  attempts: Attempt[];
}

/**
 * @param pasted an address or user name, a text with a request id, or one with an OAuth error; null: the latest refusals of
 *   the project. Refuses `invalid`
 */
export async function signInHistory(
  em: EntityManager,
  projectId: string,
  pasted: string | null,
): Promise<SignInHistory> {
  if (pasted === null) return latest(em, projectId);
  const text = pasted.trim();
  if (text === '' || text.length > maxLength || !isStorableText(text)) {
    const reason = `must be an address, a request id or an OAuth error, of 1 to ${maxLength} characters`;
    refuse({ code: 'invalid', field: 'about', reason });
  }
  if (isAddress(text)) return ofAddress(em, projectId, text);
  const requestId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(text)?.[0]?.toLowerCase();
  if (requestId !== undefined) return ofRequest(em, projectId, requestId);
  const code = text.split(/[^a-z_]+/).find((word) => Object.hasOwn(oauthErrors, word));
  return code === undefined ? ofAddress(em, projectId, text) : ofError(em, projectId, code);
}

async function ofAddress(em: EntityManager, projectId: string, address: string): Promise<SignInHistory> {
  const key = addressKey(address);
  const { account } = await decidedFor(em, projectId, key, null);
  // Events about an unknown address contain it masked.
  const masks = [...new Set([maskAddress(key), maskAddress(address)])];
  const filters: EventFilter[] = account ? [{ userId: account }] : masks.map((subjectId) => ({ subjectId }));
  const attempts = attemptsOf(await eventsOf(em, projectId, filters));
  return { kind: 'address', about: address, userId: account, attempts: attempts.slice(0, maxAttempts) };
}

/** The sign-in of the request's user; without one, the events of the request. */
async function ofRequest(em: EntityManager, projectId: string, requestId: string): Promise<SignInHistory> {
  const own = await eventsOf(em, projectId, [{ requestId }], false);
  const named = own.find(({ subjectKind }) => subjectKind === 'user' || subjectKind === 'address');
  const isUser = named?.subjectKind === 'user' && isUuid(named.subjectId);
  const subjectId = named?.subjectId ?? undefined;
  const begun = momentOf(requestId);
  const all =
    subjectId === undefined || begun === null
      ? own
      : await eventsOf(em, projectId, [
          { ...(isUser ? { userId: subjectId } : { subjectId }), until: secondsLater(begun, aroundSeconds) },
        ]);
  const attempts = attemptsOf(all);
  const matching = attempts.filter(({ steps }) => steps.some((step) => isOf(step, requestId)));
  return {
    kind: 'request',
    about: requestId,
    userId: isUser ? (subjectId ?? null) : null,
    attempts: matching.length > 0 ? matching : attemptsOf(own),
  };
}

/** Whether the event belongs to the request, alone or among repeated refusals. */
export function isOf({ requestId, detail }: AuditEvent, wanted: string): boolean {
  const counted = detail?.['requestIds'];
  return requestId === wanted || (Array.isArray(counted) && counted.includes(wanted));
}

async function ofError(em: EntityManager, projectId: string, code: string): Promise<SignInHistory> {
  const types = ['authorization.refused', ...(oauthErrors[code]?.events ?? [])];
  const { items } = await listEvents(em, projectId, { types }, { first: maxEvents, after: null });
  const matching = items.filter(({ type, detail }) => type !== 'authorization.refused' || detail?.['fault'] === code);
  const attempts = matching.slice(0, maxAttempts).flatMap((event) => attemptsOf([event]));
  return { kind: 'error', about: code, userId: null, attempts };
}

/** The last refusal of each of the last sign-ins that had one. */
async function latest(em: EntityManager, projectId: string): Promise<SignInHistory> {
  const filter = { types: signInTypes, result: 'failure' } as const;
  const { items } = await listEvents(em, projectId, filter, { first: maxEvents, after: null });
  const signInOf = ({ id, detail }: AuditEvent) => detail?.['signInId'] ?? id;
  const signIns = items.map(signInOf);
  const refusals = items.filter((event, index) => signIns.indexOf(signInOf(event)) === index).slice(0, maxAttempts);
  return { kind: 'latest', about: '', userId: null, attempts: refusals.flatMap((event) => attemptsOf([event])) };
}

/** Newest first. */
async function eventsOf(
  em: EntityManager,
  projectId: string,
  filters: readonly EventFilter[],
  isSignIn = true,
): Promise<AuditEvent[]> {
  const types = isSignIn ? { types: signInTypes } : {};
  const page = { first: maxEvents, after: null };
  const found: AuditEvent[] = [];
  for (const filter of filters) found.push(...(await listEvents(em, projectId, { ...types, ...filter }, page)).items);
  return found.sort((one, other) => (one.id < other.id ? 1 : -1));
}
