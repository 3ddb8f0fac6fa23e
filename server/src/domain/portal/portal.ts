import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Database } from '../kernel/database.ts';
import { found, invalid } from '../kernel/problem.ts';
import { domainsOf, type OrganizationDomains } from '../organizations/domains/organization-domains.ts';
import type { OrganizationDomain } from '../organizations/organization-domain.entity.ts';
import { keyIn } from '../projects/tenant.ts';
import { mayDo, type OpenLink, openLink } from './open-links.ts';
import type { PortalConnections } from './portal-connections.ts';
import type { PortalDirectory } from './portal-directory.ts';
import type { PortalTask } from './portal-link.entity.ts';
import type { PortalLinks } from './portal-links.ts';
import type { PortalSecret } from './portal-secret.ts';

interface Deps {
  db: Database;
  clock: Clock;
  organizationDomains: Pick<OrganizationDomains, 'add' | 'check' | 'remove'>;
  portalLinks: Pick<PortalLinks, 'complete'>;
  portalConnections: Pick<PortalConnections, 'of'>;
  portalDirectory: Pick<PortalDirectory, 'of'>;
}

/** What the holder of a session of a portal link sees and changes: the tasks of the link, in its organization. */
export class Portal {
  constructor(private readonly deps: Deps) {}

  /** The link of a session; null if it has ended. */
  visit(session: PortalSecret): Promise<OpenLink | null> {
    return openLink(this.deps.db.alone, session, 'session_hash', this.deps.clock.now());
  }

  /** The mail domains of the organization, by name. */
  domains(link: OpenLink): Promise<OrganizationDomain[]> {
    return domainsOf(this.deps.db.reader(), [keyIn(link.projectId, link.organizationId)]);
  }

  /** Refuses as {@link OrganizationDomains.add}. */
  async addDomain(link: OpenLink, name: string, actor: Actor): Promise<OrganizationDomain> {
    mayDo(link, 'domains');
    return this.deps.organizationDomains.add(keyIn(link.projectId, link.organizationId), name, actor);
  }

  /** Refuses as {@link OrganizationDomains.check}, and `not-found` for a domain of another organization. */
  async checkDomain(link: OpenLink, id: string, actor: Actor): Promise<OrganizationDomain> {
    const { project } = await this.ownDomain(link, id);
    return this.deps.organizationDomains.check(keyIn(project.id, id), actor);
  }

  /** Refuses `not-found`, and `invalid` for a verified domain, on which sign-ins depend. */
  async removeDomain(link: OpenLink, id: string, actor: Actor): Promise<void> {
    const { project, state } = await this.ownDomain(link, id);
    if (state === 'verified') invalid('id', 'must be a domain that is not verified');
    await this.deps.organizationDomains.remove(keyIn(project.id, id), actor);
  }

  /** Whether each task of the link is done. */
  async isDone(link: OpenLink): Promise<boolean> {
    const isDone: Record<PortalTask, () => Promise<boolean>> = {
      domains: async () => (await this.domains(link)).some(({ state }) => state === 'verified'),
      connection: async () => (await this.deps.portalConnections.of(link))?.state === 'enabled',
      directory: async () => (await this.deps.portalDirectory.of(link)).isConnected,
    };
    for (const task of link.can) if (!(await isDone[task]())) return false;
    return true;
  }

  /** Ends the set-up; the link works on. Refuses `invalid` while a task is not done. */
  async complete(link: OpenLink, actor: Actor): Promise<void> {
    if (!(await this.isDone(link))) invalid('can', 'has a task that is not done');
    await this.deps.portalLinks.complete(link, actor);
  }

  private async ownDomain(link: OpenLink, id: string): Promise<OrganizationDomain> {
    mayDo(link, 'domains');
    const own = await this.domains(link);
    return found(
      own.find((domain) => domain.id === id),
      'organization-domain',
    );
  }
}
