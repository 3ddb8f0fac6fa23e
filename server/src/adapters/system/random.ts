import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Random } from '../../domain/kernel/random.ts';
import { systemClock } from './clock.ts';

/** Of so many ids at once the generator is asked: each question costs more than the bytes. */
const stock = 256;

/** The operating system's generator; the time in its ids is the clock's. */
export function randomOn(clock: Clock): Random {
  let lastMillisecond = 0;
  let sequence = 0;
  const stocked = Buffer.alloc(16 * stock);
  let taken = stocked.length;
  return {
    bytes: (count) => randomBytes(count),
    integer: (below) => randomInt(below),
    id: () => {
      if (taken === stocked.length) {
        randomFillSync(stocked);
        taken = 0;
      }
      const bytes = stocked.subarray(taken, taken + 16);
      taken += 16;
      const now = clock.now().getTime();
      // Within a millisecond the ids of one process count on (RFC 9562 §6.2), so that their order is that of their making.
      if (now > lastMillisecond) {
        lastMillisecond = now;
        sequence = bytes.readUInt16BE(6) & 0x07ff;
      } else if (sequence === 0x0fff) {
        lastMillisecond += 1;
        sequence = bytes.readUInt16BE(6) & 0x07ff;
      } else sequence += 1;
      bytes.writeUIntBE(lastMillisecond, 0, 6);
      bytes.writeUInt16BE(0x7000 | sequence, 6);
      bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}

export const systemRandom: Random = randomOn(systemClock);
