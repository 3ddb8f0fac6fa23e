import type { EntityManager } from '@mikro-orm/postgresql';
import { type Audit, aboutClient } from '../audit/audit.ts';
import { Client } from '../clients/client.entity.ts';
import type { Clients } from '../clients/clients.ts';
import { system } from '../kernel/actor.ts';
import { change } from '../kernel/change.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import type { Projects } from '../projects/projects.ts';

/** Key of the advisory lock: one process at a time seeds. */
const seedLock = 7_316_904_553;

/** The built-in projects and clients. */
export interface BuiltIn {
  /** The project in which admins are users. */
  console: Project;
  /** The console's own client. */
  consoleClient: Client;
  /** The sample relying party; absent if there is no demo project. */
  demoClient: Client | null;
}

/** Creates the built-in project and clients, and updates them when the base address changes. */
export class Seed {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      projects: Projects;
      clients: Clients;
      issuer: string;
    },
  ) {}

  /**
   * Safe at every start and in concurrent processes. The demo is created only together with the console's project,
   * so that a deleted demo stays deleted.
   */
  create(options: { demo: boolean }): Promise<BuiltIn> {
    return this.deps.db.transaction(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(${seedLock})`);
      const found = await em.findOne(Project, { builtIn: 'console' });
      const console = found ?? (await this.createConsole(em));
      if (!found && options.demo) await this.createDemo(em);
      await em.flush();
      const consoleClient = await em.findOneOrFail(Client, { builtIn: 'console' });
      const demoClient = await em.findOne(Client, { builtIn: 'demo' });
      const wasHttp = consoleClient.redirectUris.every((uri) => uri.startsWith('http:'));
      this.follow(em, consoleClient, '/admin/callback', '/admin');
      if (demoClient) this.follow(em, demoClient, '/demo', '/demo');
      await this.deps.projects.endTestModes(em, wasHttp ? 'base-address' : 'user-limit');
      return { console, consoleClient, demoClient };
    });
  }

  private async createConsole(em: EntityManager): Promise<Project> {
    const project = this.deps.projects.make(em, {
      name: 'Latchkey',
      slug: await this.deps.projects.freeSlug(em, 'Latchkey'),
      builtIn: 'console',
      scimEnabled: false,
      signUp: 'provisioned_only',
      mfaPolicy: 'optional',
    });
    this.deps.clients.make(em, project, {
      name: 'Latchkey console',
      builtIn: 'console',
      redirectUris: [`${this.deps.issuer}/admin/callback`],
      postLogoutRedirectUris: [`${this.deps.issuer}/admin`],
    });
    const subject = { kind: 'project', id: project.id, name: project.name };
    this.deps.audit.record(em, { type: 'instance.created', actor: system, subject });
    return project;
  }

  private async createDemo(em: EntityManager): Promise<void> {
    const project = this.deps.projects.make(em, {
      name: 'demo',
      slug: await this.deps.projects.freeSlug(em, 'demo'),
      builtIn: 'demo',
    });
    this.deps.clients.make(em, project, {
      name: 'Demo',
      builtIn: 'demo',
      redirectUris: [`${this.deps.issuer}/demo`],
      postLogoutRedirectUris: [`${this.deps.issuer}/demo`],
    });
  }

  /** Updates the URIs of a built-in client when the base address changes. */
  private follow(em: EntityManager, client: Client, callback: string, afterLogout: string): void {
    const changed = change<Client>(client, {
      redirectUris: moved(client.redirectUris, this.deps.issuer, callback),
      postLogoutRedirectUris: moved(client.postLogoutRedirectUris, this.deps.issuer, afterLogout),
    });
    if (!changed) return;
    client.version += 1;
    client.updatedAt = this.deps.clock.now();
    const detail = { ...changed };
    this.deps.audit.record(em, { type: 'client.updated', actor: system, ...aboutClient(client), detail });
  }
}

/** Replaces the address of our page at an earlier base; addresses that an admin added stay. */
function moved(uris: readonly string[], issuer: string, path: string): string[] {
  const here = `${issuer}${path}`;
  if (uris.includes(here)) return [...uris];
  return [here, ...uris.filter((uri) => !uri.endsWith(path))];
}
