import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';

const schema = defineEntity({
  name: 'Backup',
  tableName: 'backups',
  properties: {
    id: key(),
    /** The file's name, without its folder. */
    file: p.text(),
    /** Time of the snapshot. */
    takenAt: instant().index(),
    finishedAt: instant(),
    bytes: p.bigint('number'),
    rows: p.bigint('number'),
    /** SHA-256 of the contents, base64url. */
    checksum: p.text(),
  },
});

/** A completed backup. Its file may have been moved or deleted since. */
export class Backup extends schema.class {}
schema.setClass(Backup);
