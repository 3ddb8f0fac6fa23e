import { expect, it } from 'vitest';
import type { User } from '../users/user.entity.ts';
import { mailboxesOf } from './notices.ts';

it('a notice goes to each address of the user once, the login address first, and to nothing else', () => {
  const emails = [{ value: 'b@example.com' }, { type: 'work' }, { value: 'no address' }, { value: 'a@example.com' }];
  const of = (some: Partial<User>) =>
    mailboxesOf({ userName: 'ada', email: 'a@example.com', attributes: { emails }, ...some } as User);
  expect(of({})).toEqual(['a@example.com', 'b@example.com']);
  expect(of({ email: null })).toEqual(['b@example.com', 'a@example.com']);
  expect(of({ email: null, userName: 'c@example.com', attributes: {} })).toEqual(['c@example.com']);
  expect(of({ email: null, attributes: { emails: 'x' } })).toEqual([]);
});
