/** Steps of an admin of the project, who changes settings, people and rules while others sign in. */
import { system } from '../../../src/domain/kernel/actor.ts';
import { problemOf } from '../../../src/domain/kernel/problem.ts';
import { keyIn } from '../../../src/domain/projects/tenant.ts';
import { valuesOf } from '../../../src/domain/users/user-record.ts';
import type { Customer, Customers, Upstream } from './customers.ts';
import type { Done } from './pages.ts';

export class AdminSteps {
  constructor(private readonly world: Customers) {}

  private async tried(name: string, work: Promise<unknown>): Promise<Done> {
    // A refusal is an outcome; any other error is a fault.
    const problem = await problemOf(work);
    return { outcome: problem === null ? name : `${name} ${problem.code}`, reach: { kind: 'admin' } };
  }

  private get services() {
    return this.world.services;
  }

  private userOf(address: string): Promise<{ id: string; active: boolean }[]> {
    return this.world.rows<{ id: string; active: boolean }>(
      'select id, active from users where project_id = ? and email_key = ?',
      [address],
    );
  }

  async member(customer: Customer, address: string, what: 'give' | 'end' | 'suspended' | 'active'): Promise<Done> {
    const { memberships } = this.services;
    const [user] = await this.userOf(address);
    if (!user) return { outcome: 'none', reach: { kind: 'admin' } };
    if (what === 'give') return this.tried('give', this.world.join(customer.id, user.id));
    const [held] = await this.world.rows<{ id: string }>(
      'select id from organization_memberships where project_id = ? and organization_id = ? and user_id = ?',
      [customer.id, user.id],
    );
    if (!held) return { outcome: 'none', reach: { kind: 'admin' } };
    const key = this.world.key(held.id);
    return this.tried(what, what === 'end' ? memberships.remove(key, system) : memberships.setState(key, what, system));
  }

  organization(
    customer: Customer,
    settings: Parameters<typeof this.services.organizations.update>[1],
    name: string,
  ): Promise<Done> {
    return this.tried(name, this.services.organizations.update(this.world.key(customer.id), settings, system));
  }

  async remove(customer: Customer, people: 'erase' | 'move'): Promise<Done> {
    const done = await this.tried(
      `delete ${people}`,
      this.services.organizationEnds.delete(this.world.key(customer.id), people, system),
    );
    if (done.outcome === `delete ${people}`) customer.isDeleted = true;
    return done;
  }

  /** Verifies the domain, or ends it, as the check does that finds no record for too long. */
  async domain(customer: Customer): Promise<Done> {
    const [held] = await this.world.rows<{ id: string }>(
      'select id from organization_domains where project_id = ? and organization_id = ? and domain = ?',
      [customer.id, customer.domain],
    );
    if (!held) return this.tried('verified', this.world.verify(customer, customer.domain));
    return this.tried('lost', this.services.organizationDomains.remove(keyIn(this.world.project.id, held.id), system));
  }

  async connection(
    { connection }: Upstream,
    what: 'disabled' | 'enabled' | 'jit' | 'settings',
    isOn: boolean,
  ): Promise<Done> {
    const { connections } = this.services;
    if (what === 'jit')
      return this.tried('jit', connections.update(connection, { jit: isOn, refreshesProfile: !isOn }, system));
    if (what === 'settings') {
      const change =
        connection.kind === 'oidc'
          ? { oidc: { scopes: isOn ? ['openid', 'email'] : ['openid'] } }
          : { saml: { signed: isOn ? 'assertion' : 'either' } };
      return this.tried('settings', connections.update(connection, change as object, system));
    }
    return this.tried(what, connections.setState(connection, what, system));
  }

  async account(address: string, isErased: boolean): Promise<Done> {
    const [user] = await this.userOf(address);
    if (!user) return { outcome: 'none', reach: { kind: 'admin' } };
    const { accounts, accountAccess } = this.services;
    const { id } = this.world.project;
    if (isErased) return this.tried('erase', accountAccess.erase(id, user.id, system));
    return this.tried(
      user.active ? 'deactivate' : 'activate',
      accounts.change(id, user.id, (now) => ({ ...valuesOf(now), active: !user.active }), system),
    );
  }

  async project(settings: { organizationsEnabled: boolean }): Promise<Done> {
    return this.tried('project', this.services.projects.update(this.world.project.id, settings, system));
  }

  async client(organizationRequired: boolean): Promise<Done> {
    return this.tried('client', this.services.clients.update(this.world.client, { organizationRequired }, system));
  }

  async revokeLink(customer: Customer, at: number): Promise<Done> {
    const link = customer.links[at % Math.max(1, customer.links.length)];
    if (!link) return { outcome: 'none', reach: { kind: 'admin' } };
    const done = await this.tried('revoke link', this.services.portalLinks.revoke(this.world.key(link.id), system));
    link.isRevoked = true;
    return done;
  }
}
