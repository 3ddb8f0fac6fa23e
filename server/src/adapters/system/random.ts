import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import type { Clock } from '../../domain/kernel/clock.ts';
import type { Random } from '../../domain/kernel/random.ts';
import { systemClock } from './clock.ts';

/** Bytes per call of the generator: a call costs more than the bytes. */
const batchBytes = 4096;

/** Bytes of the system's CSPRNG. Returned bytes are removed from the batch. */
function batched(): (count: number) => Buffer {
  const batch = Buffer.alloc(batchBytes);
  let used = batchBytes;
  return (count) => {
    if (count > batchBytes) return randomBytes(count);
    if (used + count > batchBytes) {
      randomFillSync(batch);
      used = 0;
    }
    const bytes = Buffer.from(batch.subarray(used, used + count));
    batch.fill(0, used, used + count);
    used += count;
    return bytes;
  };
}

/** The system's CSPRNG; ids are UUIDv7 with the time of `clock`. */
export function randomOn(clock: Clock): Random {
  let lastMillisecond = 0;
  let sequence = 0;
  const bytesOf = batched();
  return {
    bytes: bytesOf,
    integer: (below) => randomInt(below),
    id: () => {
      const bytes = bytesOf(16);
      const now = clock.now().getTime();
      // RFC 9562 §6.2: within a millisecond a counter keeps the ids of one process in order of creation.
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
