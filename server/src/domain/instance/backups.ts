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

/** The record of backups: how old the newest one is. */
export class Backups {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit }) {}

  /** Of a backup whose file is complete and safe on disk. */
  record(backup: FinishedBackup, actor: Actor = system): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const id = this.deps.random.id();
      em.persist(em.create(Backup, { ...backup, id, finishedAt: this.deps.clock.now() }));
      const { file, rows, bytes } = backup;
      const subject = { kind: 'backup', id, name: file };
      this.deps.audit.record(em, { type: 'backup.made', actor, subject, detail: { rows, bytes } });
    });
  }

  /** Of a backup that was put into this database. */
  restored(file: string, takenAt: Date, actor: Actor = system): Promise<void> {
    return this.deps.db.transaction(async (em) => {
      const subject = { kind: 'backup', id: file, name: file };
      const detail = { takenAt: takenAt.toISOString() };
      this.deps.audit.record(em, { type: 'backup.restored', actor, subject, detail });
    });
  }

  /** The newest by what it holds; null: none was ever made. */
  newest(): Promise<Backup | null> {
    return this.deps.db.reader().findOne(Backup, { id: { $ne: null } }, { orderBy: { takenAt: 'desc' } });
  }
}
