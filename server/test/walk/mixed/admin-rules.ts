import { digest } from '../../../src/domain/kernel/secret.ts';
import type { Change } from '../changes.ts';
import { Restorable } from '../checkpoint.ts';
import { demand, toleranceMs } from '../model.ts';
import type { Done, Site } from './draft.ts';

const linkMs = 15 * 60_000;

/**
 * A setup link works once, before it expires: the user who proves themself in the browser that opened it becomes an owner.
 * Nothing else that users send makes admins.
 */
export class AdminRules extends Restorable {
  /** Times at which links were made. */
  private readonly links = new Map<string, number>();
  private readonly used = new Set<string>();

  constructor(private readonly site: Site) {
    super();
  }

  minted(link: string): void {
    this.links.set(link, this.site.world.now());
  }

  /** @param done accepted */
  check({ changes, name, party, fields }: Done): void {
    if (name === 'setup-open')
      this.open(fields['token'] ?? party.setupLink, `the page of a setup link was shown to ${party.name}`);
    if (name === 'setup-begin') this.open(party.setupLink, `a setup link began a sign-in of ${party.name}`);
    const of = (table: string) => changes.filter((change) => change.table === table);
    const [roles, links, users] = [
      of('memberships'),
      of('setup_links'),
      of('users').filter(({ op }) => op === 'INSERT'),
    ];
    if (roles.length + links.length + users.length === 0) return;
    const what = `${name} of ${party.name}`;
    const link = this.site.values.of('flow', fields['@flow'])?.with['link'];
    this.open(link, `${what} made an account or an admin`);
    for (const { new: row } of users)
      demand(row?.['email'] === party.address, `${what} made an account for another mailbox`);
    if (roles.length + links.length === 0) return;
    this.claimed(roles, party.admins, what);
    const isUsed = links.some(({ new: row }) => row?.['hash'] === digest(link ?? '') && row['used_at'] !== null);
    demand(isUsed && links.length === 1, `${what} made an admin without the use of the setup link`);
    this.used.add(link ?? '');
  }

  private claimed(roles: readonly Change[], admins: ReadonlySet<string>, what: string): void {
    for (const { new: row } of roles) {
      demand(row?.['role'] === 'owner' && row['project_id'] === null, `${what} gave a role other than owner`);
      demand(admins.has(row['user_id']), `${what} made another user an owner`);
    }
  }

  private open(link: string | undefined, what: string): void {
    const at = this.links.get(link ?? '');
    demand(at !== undefined, `${what} without a setup link`);
    demand(!this.used.has(link ?? ''), `${what} by a setup link that was used`);
    demand(this.site.world.model.now - at < linkMs + toleranceMs, `${what} by a setup link after its expiry`);
  }
}
