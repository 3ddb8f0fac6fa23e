import { randomBytes, randomInt } from 'node:crypto';
import type { Clock } from '../domain/kernel/clock.ts';
import type { Random } from '../domain/kernel/random.ts';

export const systemClock: Clock = { now: () => new Date() };

/** The operating system's generator. */
export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  integer: (below) => randomInt(below),
  id: () => {
    const bytes = randomBytes(16);
    bytes.writeUIntBE(Date.now(), 0, 6);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x70;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
};
