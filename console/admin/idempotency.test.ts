import { describe, expect, it } from 'vitest';
import { keyOf } from './idempotency.ts';

describe('the key of a mutation', () => {
  it('stays the same for a retry whose outcome is unknown', () => {
    const first = keyOf('create a', undefined);
    expect(keyOf('create a', first)).toEqual(first);
  });

  it('is new for other variables, and after an answer', () => {
    const first = keyOf('create a', undefined);
    expect(keyOf('create b', first).key).not.toBe(first.key);
    expect(keyOf('create a', undefined).key).not.toBe(first.key);
    expect(first.key).toMatch(/^[0-9a-f]{32}$/);
  });
});
