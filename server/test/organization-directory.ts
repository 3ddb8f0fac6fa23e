import { system } from '../src/domain/kernel/actor.ts';
import { keyIn } from '../src/domain/projects/tenant.ts';
import { Places } from './organizations.ts';
import { changed, rows } from './rows.ts';
import type { SigninWorld } from './signin-world.ts';

interface Reply {
  status: number;
  text: string;
  body: any;
}

/** An organization of the current project, from the perspective of its directory. */
export class OrganizationDirectory {
  readonly id: string;
  private readonly world: SigninWorld;
  private readonly token: string;

  private constructor(world: SigninWorld, id: string, token: string) {
    this.world = world;
    this.id = id;
    this.token = token;
  }

  static async of(world: SigninWorld, slug: string): Promise<OrganizationDirectory> {
    const { id } = await new Places(world.app, world.project).organization(slug);
    const wanted = { projectId: world.project.id, organizationId: id, name: slug };
    const { token } = await world.app.services.directories.issueScimToken(wanted, system);
    return new OrganizationDirectory(world, id, token);
  }

  get key() {
    return keyIn(this.world.project.id, this.id);
  }

  async send(method: string, path: string, body?: object): Promise<Reply> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/scim+json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${this.world.app.url}/v1/scim/${this.id}${path}`, init);
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Creates a user with this address. @returns the id */
  async names(address: string, values: object = {}): Promise<string> {
    const emails = [{ value: address, type: 'work', primary: true }];
    const { status, body, text } = await this.send('POST', '/Users', { userName: address, emails, ...values });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return body.id;
  }

  async patch(id: string, value: object): Promise<void> {
    const { status, text } = await this.send('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value }] });
    if (status !== 200) throw new Error(`${status} ${text}`);
  }

  async verify(domain: string) {
    const { organizationDomains } = this.world.app.services;
    const added = await organizationDomains.add(this.key, domain, system);
    return organizationDomains.verify(added, 'Test', system);
  }

  /** The row of a user or guest record: the login email, the withheld one, and the account of the guest. */
  async row(
    id: string,
  ): Promise<{ email: string | null; withheld: string | null; account: string | null } | undefined> {
    const text = `select email, withheld_email_key as withheld, account_id as account from users
      where project_id = ? and organization_id = ? and id = ?`;
    const [row] = await rows<{ email: string | null; withheld: string | null; account: string | null }>(
      this.world.app.services.db,
      text,
      [this.world.project.id, this.id, id],
    );
    return row;
  }

  /** The membership of a user, with the keys of its roles. */
  async member(userId: string) {
    const [row] = await rows<{ id: string; state: string; source: string; roles: string[] }>(
      this.world.app.services.db,
      `select m.id, m.state, m.source, array(select r.key from organization_membership_roles h
          join organization_roles r on r.project_id = h.project_id and r.id = h.role_id
          where h.project_id = m.project_id and h.membership_id = m.id order by 1) as roles
        from organization_memberships m where m.project_id = ? and m.organization_id = ? and m.user_id = ?`,
      [this.world.project.id, this.id, userId],
    );
    return row;
  }

  /** As if a person had signed in to the user. */
  use(id: string) {
    const text = 'update users set last_sign_in_at = ? where project_id = ? and id = ?';
    return changed(this.world.app.services.db, text, [this.world.app.clock.now(), this.world.project.id, id]);
  }
}
