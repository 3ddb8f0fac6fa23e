import { absorb } from '../absorb.ts';
import type { ChangeAccess } from '../commands.ts';
import { type ClientModel, demand } from '../model.ts';
import type { World } from '../world.ts';

const mutations = {
  update: 'mutation($input: UpdateClientInput!) { updateClient(input: $input) { id } }',
  grant: 'mutation($input: GrantAccessInput!) { grantAccess(input: $input) { id } }',
  revoke: 'mutation($id: ID!) { revokeAccess(id: $id) }',
};

/** Steps after which everyone has access again: a walk in which every sign-in is refused tests nothing. */
const maxSteps = 25;

/** An admin decides who may use an application. */
export class AccessActor {
  private readonly world: World;
  private readonly log: (line: string) => void;
  private restrictedStep = 0;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  async change({ app, client: at, act, pick }: ChangeAccess): Promise<void> {
    const { model } = this.world;
    const client = this.world.clients()[at] as ClientModel;
    if (act === 'open') return this.open(app, client);
    const users = [...model.users.values()].filter((row) => row['project_id'] === client.project.id);
    const user = users[pick % Math.max(1, users.length)];
    if (!user) return;
    if (act === 'grant') return this.grant(app, client, user['id']);
    const rules = [...model.accessRules.values()].filter((rule) => rule['client_id'] === client.id);
    const rule = rules[pick % Math.max(1, rules.length)];
    if (act === 'revoke' && rule)
      return this.mutate(app, 'revoke', { id: rule['id'] }, `revokes access to ${client.name}`);
    await this.restrict(app, client);
    // Usually one user keeps it.
    if (pick % 4 > 0) await this.grant(app, client, user['id']);
  }

  /** Ends the access of the last user who got a code. Returns the application. */
  async shutOut(app: number): Promise<ClientModel | undefined> {
    const { model } = this.world;
    const code = model.codes.at(-1);
    if (!code || code.client.project === this.world.console) return undefined;
    const { client, user } = code;
    for (const [id, rule] of model.accessRules) {
      const isTheirs = rule['client_id'] === client.id && rule['user_id'] === user;
      if (isTheirs) await this.mutate(app, 'revoke', { id }, `revokes access to ${client.name}`);
    }
    await this.restrict(app, client);
    return client;
  }

  async openAgain(): Promise<void> {
    const { model } = this.world;
    if (model.step - this.restrictedStep < maxSteps) return;
    for (const client of this.world.clients()) if (model.isAssigned(client)) await this.open(0, client);
  }

  private async restrict(app: number, client: ClientModel): Promise<void> {
    if (!this.world.model.isAssigned(client)) this.restrictedStep = this.world.model.step;
    await this.mutate(app, 'update', { input: { id: client.id, access: 'ASSIGNED' } }, `restricts ${client.name}`);
  }

  private open(app: number, client: ClientModel): Promise<void> {
    return this.mutate(app, 'update', { input: { id: client.id, access: 'EVERYONE' } }, `opens ${client.name}`);
  }

  private grant(app: number, client: ClientModel, userId: string): Promise<void> {
    const name = this.world.model.user(userId)['user_name'];
    const input = { clientId: client.id, userId };
    return this.mutate(app, 'grant', { input }, `gives ${name} access to ${client.name}`);
  }

  private async mutate(app: number, name: keyof typeof mutations, variables: object, what: string): Promise<void> {
    const { world } = this;
    const ask = () => world.graphql(world.process(app), mutations[name], variables);
    await world.exchange(ask, (reply, changes) => {
      const failed = reply.json['errors']?.[0]?.message;
      this.log(`an admin ${what}${failed ? `: ${failed}` : ''}`);
      const strange = changes.find(({ table }) => !/^(clients|access_rules)$/.test(table));
      demand(!strange, `a change of access changed ${strange?.table}`);
      demand(!failed || changes.length === 0, 'a refused change of access changed rows');
      absorb(world.model, changes);
    });
  }
}
