/** Steps of an organization itself: its directory, and its IT contact at the portal. */

import { system } from '../../../src/domain/kernel/actor.ts';
import { Refusal } from '../../../src/domain/kernel/problem.ts';
import { CookieBrowser } from '../../browser.ts';
import { fetchHere } from '../../fetch-here.ts';
import type { Customer, Customers } from './customers.ts';
import type { Done } from './pages.ts';
import { Violation } from './rules.ts';

type Body = Record<string, any>;

export class CustomerSteps {
  constructor(private readonly world: Customers) {}

  private async scim(
    { scim }: Customer,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Body }> {
    const headers = { Authorization: `Bearer ${scim.token}`, 'Content-Type': 'application/scim+json' };
    const response = await fetchHere(`${scim.base}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Body) };
  }

  private done(customer: Customer, name: string, { status }: { status: number }): Done {
    return { outcome: `${name} ${status}`, reach: { kind: 'inside', customer } };
  }

  /** Provisions an address, of its own people or of others. */
  async provision(customer: Customer, address: string, suffix: string): Promise<Done> {
    const [name = ''] = address.split('@');
    const answer = await this.scim(customer, 'POST', '/Users', {
      userName: suffix === '' ? address : `${name}${suffix}`,
      externalId: `${name}-1`,
      emails: [{ value: address, primary: true }],
    });
    if (answer.status === 201) customer.records.push(String(answer.body['id']));
    else if (answer.status === 409) await this.explains(customer, address, `${name}${suffix}`);
    return this.done(customer, 'provision', answer);
  }

  /** A conflict has its reason inside of the organization, or it would tell of others. */
  private async explains({ id, slug }: Customer, address: string, userName: string): Promise<void> {
    const own = await this.world.rows(
      `select 1 from users where project_id = ? and organization_id = ? and (user_name_key in (?, ?) or email_key = ?
        or withheld_email_key = ? or external_id = ? or account_id in (select id from users where project_id = ? and email_key = ?))`,
      [id, address, userName, address, address, `${address.split('@')[0]}-1`, this.world.project.id, address],
    );
    if (own.length === 0) throw new Violation(`3: ${slug} got a conflict for ${address}, which no user has there`);
  }

  /** A record of any directory: refused unless it is its own. */
  async change(
    customer: Customer,
    of: Customer,
    at: number,
    what: 'off' | 'on' | 'delete' | 'move' | 'read',
    address: string,
  ): Promise<Done> {
    const id = of.records[at % Math.max(1, of.records.length)];
    if (id === undefined) return { outcome: 'none', reach: { kind: 'nothing' } };
    const replaced = (path: string, value: unknown) => ({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path, value }],
    });
    const answer =
      what === 'read'
        ? await this.scim(customer, 'GET', `/Users/${id}`)
        : what === 'delete'
          ? await this.scim(customer, 'DELETE', `/Users/${id}`)
          : await this.scim(
              customer,
              'PATCH',
              `/Users/${id}`,
              what === 'move'
                ? replaced('emails', [{ value: address, primary: true }])
                : replaced('active', what === 'on'),
            );
    const isOwn = customer === of;
    if (!isOwn && answer.status < 400)
      throw new Violation(`3: ${customer.slug} reached a record of ${of.slug} (${what} ${answer.status})`);
    return this.done(customer, isOwn ? what : `foreign ${what}`, answer);
  }

  /** Lists hold its own records alone. */
  async list(customer: Customer, address: string): Promise<Done> {
    const filter = address === '' ? '' : `?${new URLSearchParams({ filter: `emails.value eq "${address}"` })}`;
    const answer = await this.scim(customer, 'GET', `/Users${filter}`);
    const listed = ((answer.body['Resources'] ?? []) as Body[]).map(({ id }) => String(id));
    const own = await this.world.rows<{ id: string }>(
      'select id from users where project_id = ? and organization_id = ?',
      [customer.id],
    );
    const ids = new Set(own.map(({ id }) => id));
    const foreign = listed.find((id) => !ids.has(id));
    if (foreign !== undefined) throw new Violation(`3: ${customer.slug} lists a record that is not its own`);
    if (answer.status === 200 && filter === '' && answer.body['totalResults'] !== own.length) {
      throw new Violation(`3: ${customer.slug} counts ${answer.body['totalResults']} of ${own.length}`);
    }
    return this.done(customer, 'list', answer);
  }

  /** A link for the IT contact, opened in a new browser. */
  async link(customer: Customer, can: ('domains' | 'connection')[]): Promise<Done> {
    const { portalLinks } = this.world.services;
    const wanted = { email: `it@${customer.domain}`, can };
    const made = await portalLinks.create(this.world.key(customer.id), wanted, system).catch(orRefused);
    if (made === null) return { outcome: 'no link', reach: { kind: 'nothing' } };
    const browser = new CookieBrowser();
    await browser.post(`${this.world.app.url}${new URL(made.url).pathname}`, { change: 'open' }, this.origin);
    customer.links.push({ id: made.portalLink.id, can, browser, isRevoked: false });
    return { outcome: 'link', reach: { kind: 'admin' } };
  }

  private get origin() {
    return { Origin: new URL(this.world.app.url).origin };
  }

  /** A change at the portal, with an id of any organization. */
  async setUp(customer: Customer, at: number, change: string, foreign: string): Promise<Done> {
    const link = customer.links[at % Math.max(1, customer.links.length)];
    if (!link) return { outcome: 'none', reach: { kind: 'nothing' } };
    const { url } = this.world.app;
    const page = await (await link.browser.get(`${url}/portal`)).text();
    for (const { address } of this.world.people) {
      if (page.includes(address)) throw new Violation(`5: the portal of ${customer.slug} shows ${address}`);
    }
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const before = await this.counted(customer);
    const form = {
      csrf,
      change,
      domain: `new${before}.${customer.domain}`,
      id: foreign,
      kind: 'oidc',
      provider: 'okta',
    };
    const answer = await link.browser.post(`${url}/portal`, form, this.origin);
    const isChanged = (await this.counted(customer)) !== before;
    const task = change.endsWith('domain') ? 'domains' : 'connection';
    if (isChanged && (link.isRevoked || !link.can.includes(task))) {
      throw new Violation(`5: a link of ${customer.slug} for ${link.can.join()} did ${change}`);
    }
    return {
      outcome: `${change} ${answer.status}`,
      reach: link.isRevoked ? { kind: 'nothing' } : { kind: 'inside', customer },
    };
  }

  private async counted({ id }: Customer): Promise<number> {
    const [row] = await this.world.rows<{ n: number }>(
      `select (select count(*) from organization_domains where project_id = ? and organization_id = ?)::int
        + (select count(*) from connections where project_id = ? and organization_id = ?)::int as n`,
      [id, this.world.project.id, id],
    );
    return row?.n ?? 0;
  }
}

function orRefused(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
