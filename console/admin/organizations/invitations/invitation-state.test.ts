import { expect, it } from 'vitest';
import { invitationState } from './invitation-state.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const [past, future] = ['2026-03-01T09:59:59Z', '2026-03-01T10:00:01Z'];

it.each([
  ['pending', { expiresAt: future, acceptedAt: null, revokedAt: null }],
  ['expired', { expiresAt: past, acceptedAt: null, revokedAt: null }],
  ['accepted', { expiresAt: past, acceptedAt: past, revokedAt: null }],
  ['revoked', { expiresAt: future, acceptedAt: null, revokedAt: past }],
])('an invitation is %s', (state, invitation) => {
  expect(invitationState(invitation, now)).toBe(state);
});
