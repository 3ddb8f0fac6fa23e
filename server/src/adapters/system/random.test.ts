import { describe, expect, it } from 'vitest';
import { isUuid } from '../../domain/kernel/secret.ts';
import { systemRandom } from './random.ts';

describe('ids (RFC 9562 §5.7)', () => {
  it('are unique UUIDv7 in order of creation', () => {
    const ids = Array.from({ length: 20_000 }, () => systemRandom.id());
    expect(ids.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] as string))).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
