import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type AuditEvent, partsOf } from './event-text.ts';
import { allTypes, type EventGroup, groupNames, sentenceOf, typesOf } from './sentences.ts';

const list = new URL('../../../server/src/domain/audit/event-types.ts', import.meta.url);
const recorded = [...readFileSync(list, 'utf8').matchAll(/^ {2}'([^']+)',$/gm)].map(([, type]) => type as string);

function textOf(changes: Partial<AuditEvent>): string {
  const event: AuditEvent = {
    id: 'e',
    at: '2026-03-01T00:00:00Z',
    type: 'user.updated',
    result: 'SUCCESS',
    detail: null,
    ip: null,
    userAgent: null,
    requestId: null,
    actor: { kind: 'admin', id: 'a', name: 'Ada' },
    subject: { kind: 'user', id: 'u', name: 'Alan' },
    person: null,
    client: null,
    project: null,
    ...changes,
  };
  return partsOf(event)
    .map(({ text }) => text)
    .join('');
}

it('has a sentence and a filter group for every event type of the server', () => {
  expect(recorded.length).toBeGreaterThan(100);
  expect([...allTypes].sort()).toEqual([...recorded].sort());
  const grouped = Object.keys(groupNames).flatMap((group) => typesOf(group as EventGroup));
  expect(grouped.sort()).toEqual([...recorded].sort());
  expect(recorded.filter((type) => sentenceOf(type).includes('{'))).toEqual([]);
});

it('names what changed, with the values', () => {
  const active = { before: { active: true }, after: { active: false } };
  const directory = { kind: 'scim', id: 's', name: 'Okta' };
  expect(textOf({ detail: active })).toBe('Ada set Active from yes to no for Alan');
  expect(textOf({ detail: { ...active, changed: ['active'] }, actor: directory })).toBe(
    'The directory (Okta) set Active from yes to no for Alan',
  );
  expect(textOf({ detail: { changed: ['title', 'department'] } })).toBe('Ada changed Title and Department of Alan');
  expect(textOf({ detail: { before: { phone: null }, after: { phone: '+41790000000' } } })).toBe(
    'Ada set Phone to +41790000000 for Alan',
  );
  expect(textOf({ detail: { before: { phone: '+4179' }, after: { phone: null } } })).toBe(
    'Ada removed Phone +4179 of Alan',
  );
  expect(textOf({ detail: { before: { name: '{actor}' }, after: { name: 'B' } } })).not.toContain('from Ada');
  const many = { a: 1, b: 1, c: 1, d: 1, e: 1 };
  expect(textOf({ detail: { before: many, after: many } })).toBe('Ada changed A, B, C and 2 more of Alan');
});

it('names roles, users of sessions and reasons', () => {
  const member = { kind: 'membership', id: 'm', name: 'alan@example.com' };
  expect(textOf({ type: 'membership.granted', subject: member, detail: { role: 'project_admin' } })).toBe(
    'Ada gave alan@example.com the role Project admin',
  );
  const session = { subject: { kind: 'session', id: 's', name: null }, person: { id: 'u', name: 'Alan' } };
  expect(textOf({ ...session, type: 'session.ended', detail: { reason: 'revoked' } })).toBe(
    'Ada ended a session of Alan',
  );
  expect(textOf({ ...session, type: 'session.ended', detail: { reason: 'logout' } })).toBe('Alan signed out');
  expect(
    textOf({ type: 'otp.suppressed', result: 'FAILURE', detail: { reason: 'the user is not active', count: 2 } }),
  ).toBe('A one-time code for Alan was not sent: the user is not active (2 times)');
  expect(
    textOf({
      type: 'client.rejected',
      subject: null,
      result: 'FAILURE',
      detail: { fault: 'unknown_client', count: 3 },
    }),
  ).toBe('Client authentication of an unknown application failed: unknown client (3 times)');
});
