import { expect, it } from 'vitest';
import { type AuditEvent, isFailed, partsOf } from './event-text.ts';
import { allTypes, type EventGroup, groupNames, sentenceOf, typesOf } from './sentences.ts';
import { lineOf } from './sign-in-line.ts';

function eventOf(changes: Partial<AuditEvent>): AuditEvent {
  return {
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
}

const joined = (parts: readonly { text: string }[]) => parts.map(({ text }) => text).join('');
const textOf = (changes: Partial<AuditEvent>) => joined(partsOf(eventOf(changes)));

it('every event type has a filter, and a sentence without placeholders', () => {
  expect(allTypes.length).toBeGreaterThan(100);
  const grouped = Object.keys(groupNames).flatMap((group) => typesOf(group as EventGroup));
  expect(grouped.sort()).toEqual([...allTypes].sort());
  expect(allTypes.filter((type) => sentenceOf(type).includes('{'))).toEqual([]);
});

it('names the changed fields, with their values', () => {
  const active = { before: { active: true }, after: { active: false } };
  const directory = { kind: 'scim', id: 's', name: 'Okta' };
  expect(textOf({ detail: active })).toBe('Ada deactivated Alan');
  expect(textOf({ detail: { ...active, changed: ['active'] }, actor: directory })).toBe(
    'The directory (Okta) deactivated Alan',
  );
  expect(textOf({ detail: { changed: ['title', 'department'] } })).toBe('Ada changed Title and Department of Alan');
  expect(textOf({ detail: { before: { phone: null }, after: { phone: '+41790000000' } } })).toBe(
    'Ada set Phone to +41790000000 for Alan',
  );
  expect(textOf({ detail: { before: { phone: '+4179' }, after: { phone: null } } })).toBe(
    'Ada removed Phone +4179 of Alan',
  );
  expect(textOf({ detail: { before: { name: '{actor}' }, after: { name: 'B' } } })).not.toContain('from Ada');
  // The server's name of the field is not shown.
  const idle = { before: { idleTimeoutSeconds: 1800 }, after: { idleTimeoutSeconds: 3600 } };
  expect(textOf({ detail: idle })).toBe('Ada set Idle timeout from 1800 to 3600 for Alan');
  const many = { a: 1, b: 1, c: 1, d: 1, e: 1 };
  expect(textOf({ detail: { before: many, after: many } })).toBe('Ada changed A, B, C and 2 more of Alan');
});

it('states how many members a group gained or lost, and its names', () => {
  const group = (detail: object) =>
    textOf({ type: 'group.updated', subject: { kind: 'group', id: 'g', name: 'Staff' }, detail: { ...detail } });
  expect(group({ added: 2, removed: 0 })).toBe('Ada added 2 members to the group Staff');
  expect(group({ added: 0, removed: 1 })).toBe('Ada removed 1 member from the group Staff');
  const names = { before: { displayName: 'Team' }, after: { displayName: 'Staff' } };
  expect(group({ added: 0, removed: 0, ...names })).toBe('Ada set Display name from Team to Staff for Staff');
  expect(group({ added: 1, removed: 0, ...names })).toBe('Ada changed the group Staff');
  expect(group({ added: 1, removed: 1 })).toBe('Ada changed the group Staff');
});

it('names roles, users of sessions and reasons', () => {
  const member = { kind: 'membership', id: 'm', name: 'alan@example.com' };
  expect(textOf({ type: 'membership.granted', subject: member, detail: { role: 'project_admin' } })).toBe(
    'Ada assigned the role Project admin to alan@example.com',
  );
  const session = { subject: { kind: 'session', id: 's', name: null }, person: { id: 'u', name: 'Alan' } };
  expect(textOf({ ...session, type: 'session.ended', detail: { reason: 'revoked' } })).toBe(
    'Ada ended a session of Alan',
  );
  expect(textOf({ ...session, type: 'session.ended', detail: { reason: 'logout' } })).toBe('Alan signed out');
  // The deactivation has an event of its own.
  expect(textOf({ ...session, type: 'session.ended', detail: { reason: 'deactivated' } })).toBe(
    'A session of Alan ended',
  );
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

it('does not count a sign-up that waits for an admin as a failure', () => {
  const waiting = eventOf({ type: 'signin.refused', result: 'FAILURE', detail: { fault: 'approval-required' } });
  expect(joined(partsOf(waiting))).toBe('Alan waits for approval');
  expect(isFailed(waiting)).toBe(false);
  expect(isFailed(eventOf({ ...waiting, detail: { fault: 'no-access' } }))).toBe(true);
});

it('states why a code or a token was refused', () => {
  const grafana = { kind: 'client', id: 'c', name: 'Grafana' };
  const refused = (fault: string) =>
    textOf({ type: 'token.refused', subject: grafana, result: 'FAILURE', detail: { fault } });
  const start = 'An authorization code, refresh token or device code from Grafana was refused';
  expect(refused('mismatch')).toBe(`${start}: wrong client, redirect URI or code verifier`);
  expect(refused('expired')).toBe(`${start}: expired`);
});

it('describes a sign-in in one line: the person, the application and the method', () => {
  const anonymous = { kind: 'anonymous', id: null, name: null };
  const event = (type: string, changes: Partial<AuditEvent> = {}) =>
    eventOf({ actor: anonymous, type, client: { id: 'c', name: 'Grafana' }, ...changes });
  const line = (...events: AuditEvent[]) => {
    const { parts, notes } = lineOf(events);
    return [joined(parts), ...notes].join(' · ');
  };
  const refused = event('otp.rejected', { result: 'FAILURE', detail: { fault: 'wrong', count: 2 } });
  const byMail = event('user.signed_in', { detail: { amr: ['otp', 'swk', 'mfa'], deviceId: 'd' } });
  expect(line(...['otp.requested', 'otp.sent'].map((type) => event(type)), refused, event('otp.verified'))).toBe(
    'Alan entered the code',
  );
  expect(
    line(event('otp.sent'), refused, event('otp.verified'), event('device.registered'), byMail, event('token.issued')),
  ).toBe('Alan signed in to Grafana · mail code · second factor · new device · 2 refusals');
  expect(line(event('user.signed_in', { detail: { amr: ['swk'], deviceId: 'd' } }), event('token.issued'))).toBe(
    'Alan signed in to Grafana · trusted device',
  );
  expect(line(event('user.signed_in', { detail: { amr: ['hwk', 'pop', 'mfa'], passkeyId: 'p' } }))).toBe(
    'Alan signed in to Grafana · passkey',
  );
  expect(line(event('user.signed_in', { client: null, detail: null }))).toBe('Alan signed in');
  expect(line(event('user.signed_in', { detail: { amr: ['otp', 'swk'], deviceId: 'd' } }), event('token.issued'))).toBe(
    'Alan signed in to Grafana · mail code',
  );
  expect(line(byMail, event('token.issued'))).toBe('Alan signed in to Grafana · second factor');
  const asked = (id: string) => event('otp.requested', { subject: { kind: 'address', id, name: id } });
  expect(line(asked('a…@x.example'), asked('b…@x.example'), asked('b…@x.example'))).toBe(
    'A one-time code was requested for b…@x.example · 2 addresses',
  );
  expect(line(event('otp.requested'), refused)).toBe('A one-time code of Alan was refused: wrong (2 times)');
  expect(line(event('token.issued'))).toBe('Tokens were issued for Alan');
});
