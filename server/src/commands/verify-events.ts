import { resolve } from 'node:path';
import { EventFolder } from '../adapters/files/event-archive.ts';
import type { Command } from './command.ts';

export const verifyEvents: Command = {
  name: 'events:verify',
  summary: 'Checks that archived audit events are complete and unchanged.',
  operands: ['<folder>'],
  notes: [
    'Reads the files that the server writes to AUDIT_ARCHIVE_DIR. Needs no database. Compare the last hash with the newest',
    'audit event of type audit.archived, or with a note kept elsewhere.',
  ],
  run: async (input, { print }) => {
    const folder = new EventFolder(resolve(input.operands[0] as string));
    const months = await folder.months();
    let before: string | undefined;
    for (const month of months) {
      const { events, previous, hash } = await folder.verify(month);
      if (before !== undefined && previous !== before) {
        print(`${month}  does not follow the file before it: a file is missing or was replaced`);
        return 1;
      }
      print(`${month}  ${events} events  ${hash}`);
      before = hash;
    }
    print(months.length === 0 ? 'No files of events.' : `${months.length} months are complete and unchanged.`);
    return months.length === 0 ? 1 : 0;
  },
};
