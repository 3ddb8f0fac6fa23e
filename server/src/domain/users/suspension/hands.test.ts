import { describe, expect, it } from 'vitest';
import { secondsLater } from '../../kernel/clock.ts';
import type { UserRecord } from '../user-record.ts';
import { changesHands, type HeldIdentity, heldSeconds, identityOf, isOther } from './hands.ts';

const now = new Date('2026-11-28T12:00:00Z');
const ada = { userName: 'ada', email: 'ada@example.com', phone: '+41790000001', externalId: 'a' };
type Values = Partial<{ userName: string; email: string | null; phone: string | null; externalId: string | null }>;

const other: [string, Values, Values, boolean][] = [
  ['nothing', {}, {}, false],
  ['the spelling of the address', {}, { email: 'Ada@EXAMPLE.com' }, false],
  ['another address', {}, { email: 'berta@example.com' }, true],
  ['no address', {}, { email: null }, true],
  ['a first address', { email: null }, {}, true],
  ['another userName that is no address', {}, { userName: 'berta' }, false],
  ['another userName of a user without an address', { email: null }, { userName: 'berta', email: null }, true],
  ['the spelling of such a userName', { email: null }, { userName: ' ADA', email: null }, false],
  ['another userName that is an address', { userName: 'ada@example.com' }, { userName: 'berta@example.com' }, true],
  ['spaces of the userName', { userName: 'ada@example.com' }, { userName: ' Ada@example.com' }, false],
  ['a userName that becomes an address', {}, { userName: 'berta@example.com' }, true],
  ['another phone', {}, { phone: '+41790000002' }, true],
  ['no phone', {}, { phone: null }, false],
  ['a first phone', { phone: null }, {}, false],
  ['another externalId', {}, { externalId: 'b' }, true],
  ['another case of the externalId', {}, { externalId: 'A' }, true],
  ['no externalId', {}, { externalId: null }, false],
  ['a first externalId', { externalId: null }, {}, false],
];

describe('another person', () => {
  it.each(other)('is decided by the identifiers: %s', (_change, was, is, expected) => {
    expect(isOther(identityOf({ ...ada, ...was }), identityOf({ ...ada, ...is }))).toBe(expected);
  });
});

type State = 'ada, active' | 'ada, inactive' | 'berta, active' | 'berta, inactive';
const record = (state: State) => {
  const [name = '', activity] = state.split(', ');
  return { ...ada, userName: name, email: `${name}@example.com`, active: activity === 'active' } as UserRecord;
};
const held = (ageSeconds: number): HeldIdentity => ({
  ...identityOf(ada),
  suspendedAt: secondsLater(now, -ageSeconds),
});
const [recent, old] = [held(heldSeconds - 1), held(heldSeconds)];

const changes: [State, State, HeldIdentity | null, boolean][] = [
  // Active users, even with a row.
  ['ada, active', 'berta, active', null, false],
  ['ada, active', 'berta, active', recent, false],
  ['ada, active', 'ada, inactive', null, false],
  ['ada, active', 'berta, inactive', null, false],
  // Within 30 days only the activation decides.
  ['ada, inactive', 'berta, inactive', recent, false],
  ['berta, inactive', 'ada, inactive', recent, false],
  ['berta, inactive', 'ada, active', recent, false],
  ['ada, inactive', 'ada, active', recent, false],
  ['ada, inactive', 'berta, active', recent, true],
  ['berta, inactive', 'berta, active', recent, true],
  // Afterwards each change does; one who was never renamed may still return.
  ['ada, inactive', 'ada, active', old, false],
  ['ada, inactive', 'ada, inactive', old, false],
  ['ada, inactive', 'berta, inactive', old, true],
  ['berta, inactive', 'ada, active', old, true],
  ['berta, inactive', 'berta, inactive', old, true],
  // Nothing is known of the deactivation.
  ['ada, inactive', 'ada, active', null, false],
  ['ada, inactive', 'berta, inactive', null, true],
  ['ada, inactive', 'berta, active', null, true],
];

describe('a phone or externalId that is removed in between', () => {
  const changed = (name: 'phone' | 'externalId', value: string, heldFor: number) => {
    const before = { ...record('ada, inactive'), [name]: null } as UserRecord;
    const after = { ...record('ada, active'), [name]: value } as UserRecord;
    return changesHands({ before, after, held: held(heldFor), now });
  };

  it.each([
    ['phone', '+41790000002'],
    ['externalId', 'b'],
  ] as const)('hides no other one, at any time: %s', (name, value) => {
    expect([0, heldSeconds - 1, heldSeconds].map((age) => changed(name, value, age))).toEqual([true, true, true]);
    expect([0, heldSeconds - 1, heldSeconds].map((age) => changed(name, ada[name], age))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a change of a user', () => {
  it.each(changes)('from "%s" to "%s", held: %o, changes hands: %s', (before, after, identity, expected) => {
    expect(changesHands({ before: record(before), after: record(after), held: identity, now })).toBe(expected);
  });
});
