import fs, { fstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Draft } from './draft.ts';
import { EventFolder } from './event-archive.ts';
import { masterKeysOf, nextMasterKeyOf, promoteNextMasterKey } from './master-key.ts';
import { syncFolder } from './sync-folder.ts';

let folder: string;
/** The names that were stored at the last sync of the folder. */
let stored: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
  stored = [];
  replaceSync((descriptor) => {
    original(descriptor);
    if (fstatSync(descriptor).ino === statSync(folder).ino) stored = readdirSync(folder).sort();
  });
});

afterEach(() => {
  replaceSync(original);
  rmSync(folder, { recursive: true });
});

const original = fs.fsyncSync;
function replaceSync(sync: (descriptor: number) => void): void {
  fs.fsyncSync = sync;
  syncBuiltinESMExports();
}

describe('the name of a file survives a power failure', () => {
  it('for a master key, before anything is encrypted with it', () => {
    masterKeysOf(folder);
    expect(stored).toContain('master.key');
    nextMasterKeyOf(folder);
    expect(stored).toContain('master.key.next');
    promoteNextMasterKey(folder, '01234567');
    expect(stored).toEqual(['master.key', 'master.key.01234567']);
  });

  it('for a backup, before older ones are removed', async () => {
    const draft = new Draft(join(folder, 'a.gz'));
    draft.stream.end('text');
    await finished(draft.stream);
    expect(draft.publish()).toBe(true);
    expect(stored).toEqual(['a.gz']);
  });

  it('for a month of events, before it is deleted from the database', async () => {
    async function* lines() {
      yield 'line';
    }
    await new EventFolder(folder).write('2026-01', lines());
    expect(stored).toEqual(['events-2026-01.jsonl.gz']);
  });
});

it('is not required of a file system that cannot sync folders', () => {
  replaceSync(() => {
    throw Object.assign(new Error('EINVAL: invalid argument, fsync'), { code: 'EINVAL' });
  });
  expect(() => syncFolder(folder)).not.toThrow();
  expect(() => syncFolder(join(folder, 'missing'))).toThrow('ENOENT');
});
