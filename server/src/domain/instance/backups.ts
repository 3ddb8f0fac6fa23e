import type { Audit } from '../audit/audit.ts';
import { type Actor, system } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import type { Random } from '../kernel/random.ts';
import { Backup } from './backup.entity.ts';

export interface FinishedBackup {
  /** The file's name, without its folder. */
  file: string;
  takenAt: Date;
  bytes: number;
  rows: number;
  checksum: string;
}

/** The record of backups. */
export class Backups {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** Records a backup whose file is complete and synced to disk. */
  record(backup: FinishedBackup, actor: Actor = system): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const id = this.deps.random.id();
      em.persist(em.create(Backup, { ...backup, id, finishedAt: this.deps.clock.now() }));
      const { file, rows, bytes } = backup;
      const subject = { kind: 'backup', id, name: file };
      this.deps.audit.record(em, { type: 'backup.made', actor, subject, detail: { rows, bytes } });
    });
  }

  /** Records a restore into this database. */
  restored(file: string, takenAt: Date, actor: Actor = system): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const subject = { kind: 'backup', id: file, name: file };
      const detail = { takenAt: takenAt.toISOString() };
      this.deps.audit.record(em, { type: 'backup.restored', actor, subject, detail });
    });
  }

  /** The backup with the latest snapshot; null: none. */
  newest(): Promise<Backup | null> {
    return this.deps.db.reader().findOne(Backup, { id: { $ne: null } }, { orderBy: { takenAt: 'desc' } });
  }

  /** Seconds since the latest snapshot; null: none. */
  async ageSeconds(): Promise<number | null> {
    const newest = await this.newest();
    return newest && (this.deps.clock.now().getTime() - newest.takenAt.getTime()) / 1000;
  }
}
