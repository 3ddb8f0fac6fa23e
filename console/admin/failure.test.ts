import { expect, it } from 'vitest';
import { failureOf, RequestError } from './failure.ts';

it('keeps the time at which a refused request can be repeated, for the countdown', () => {
  const before = Date.now();
  const failure = failureOf({ message: 'Too many attempts.', extensions: { code: 'too-many', retryAfterSeconds: 90 } });
  expect(failure.message).toBe('Too many attempts.');
  expect(failure.retryAt).toBeGreaterThanOrEqual(before + 90_000);
  expect(new RequestError(failure).retryAt).toBe(failure.retryAt);
  expect(failureOf({ message: 'Refused.' }).retryAt).toBeUndefined();
});
