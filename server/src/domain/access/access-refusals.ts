import { type Audit, aboutClient } from '../audit/audit.ts';
import type { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import type { User } from '../users/user.entity.ts';

/** Audit events of users who proved themselves and have no access to an application; for each user one per hour. */
export class AccessRefusals {
  constructor(private readonly deps: { db: Database; audit: Audit }) {}

  async record(client: Client, user: Pick<User, 'id'> & Partial<Pick<User, 'userName'>>, actor: Actor): Promise<void> {
    const { projectId, clientId } = aboutClient(client);
    const subject = { kind: 'user', id: user.id, name: user.userName };
    const entry = { type: 'access.refused', actor, projectId, clientId, subject } as const;
    await this.deps.audit.recordRepeated(this.deps.db.alone, entry, 'no-access', { each: 'subject' });
  }
}
