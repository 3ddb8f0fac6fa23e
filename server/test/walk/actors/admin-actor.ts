import { system } from '../../../src/domain/kernel/actor.ts';
import { absorb } from '../absorb.ts';
import type { Change } from '../changes.ts';
import { type ClientModel, demand, fold, type ProjectModel } from '../model.ts';
import type { World } from '../world.ts';

const policyFields: Record<string, unknown[]>[] = [
  { mfaPolicy: ['OFF', 'OPTIONAL', 'REQUIRED', 'REQUIRED'] },
  { offeredFactors: [['TOTP'], ['SMS'], ['TOTP', 'SMS', 'EMAIL'], ['EMAIL', 'TOTP']] },
  { rememberMfaSeconds: [0, 60, 3600, 86_400] },
  { deviceTrustSeconds: [3600, 86_400, 2_592_000, 2_592_000] },
  // Without listed domains.
  { signUp: ['OPEN', 'APPROVAL', 'OPEN', 'DOMAINS'] },
  { emailFactor: [true, false, true, false] },
  { deviceTrustDays: [1, 30, 180, 180] },
  { scimAuthoritative: [true, false, true, false] },
  { passkeyPolicy: ['ALLOWED', 'OFF', 'PREFERRED', 'REQUIRED'] },
  { passkeyPolicy: ['REQUIRED', 'ALLOWED', 'REQUIRED', 'ALLOWED'] },
];

/** The credentials and open work of its user that an action of an admin ends. */
export const endedBy: Record<string, RegExp> = { DEACTIVATE: /device/, RESET_FACTORS: /factor|recovery code/ };

/** Changes of users, policies and clients by admins and directories. */
export class AdminActor {
  private readonly world: World;
  private readonly log: (line: string) => void;
  private disabledStep = 0;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  /** Changes one user, or moves an address from one user to another. */
  async people(command: { app: number; project: number; person: number; action: number; pick: number }): Promise<void> {
    const { world } = this;
    const { model } = world;
    const project = (command.project === 2 ? world.console : world.projects[command.project]) as ProjectModel;
    const people = [...model.users.values()].filter((row) => row['project_id'] === project.id);
    const mine = people.filter(
      (row) => world.addresses.includes(row['email_key']) || row['user_name'].startsWith('carl'),
    );
    const user = mine[command.person % Math.max(1, mine.length)];
    if (!user) return;
    const name = `${user['user_name']} of ${project.name}`;
    if (command.action > 11) return this.revokePasskey(command.app, command.pick);
    const id: string = user['id'];
    if (command.action < 4) {
      const action = ['DEACTIVATE', 'ACTIVATE', 'END_SESSIONS', 'RESET_FACTORS'][command.action] as string;
      return this.userAction(command.app, project, id, action, name);
    }
    if (command.action < 6) return this.revoke(command.app, id, command.pick, name);
    if (project === world.console) return;
    const address = world.addresses[command.pick % 4] as string;
    const holder = people.find((row) => row['user_name_key'] === address);
    if (command.action < 8) return this.patch(command.app, project, id, { userName: address }, name);
    if (command.action === 8 && holder && holder['id'] !== id) {
      // The user name moves from one user to another.
      const former = `former-${holder['id']}`;
      await this.patch(command.app, project, holder['id'], { userName: former }, `${holder['user_name']}`);
      return this.patch(command.app, project, id, { userName: address }, name);
    }
    if (command.action === 9) {
      const phoneNumbers = [{ value: world.phones[command.pick % 4], type: 'mobile', primary: true }];
      return this.patch(command.app, project, id, { phoneNumbers }, name);
    }
    const emails = [{ value: address, type: 'work', primary: true }];
    await this.patch(command.app, project, id, { emails }, name);
  }

  /** The directory deactivates a user, and usually activates them again: as before, or as another person. */
  async leave({ app, project: at, pick: choice }: { app: number; project: number; pick: number }): Promise<void> {
    const { model, projects } = this.world;
    const project = projects[at] as ProjectModel;
    const holders = (some: Iterable<{ user: string }>) =>
      [...new Set([...some].map((one) => one.user))]
        .map((one) => model.user(one))
        .filter((one) => one['project_id'] === project.id);
    const strong = holders([...model.passkeys.values(), ...model.enrolments.values()]);
    const people = choice % 4 > 0 && strong.length > 0 ? strong : holders(model.devices.values());
    const user = people[choice % Math.max(1, people.length)];
    if (!user) return;
    const { id, user_name: userName, active } = user;
    const name = `${userName} of ${project.name}`;
    const patch = (values: object) => this.patch(app, project, id, values, name);
    const pick = (choice * 7) % 32;
    if (pick >= 24) return this.renumber(patch, pick);
    if (pick >= 16) return this.softDelete({ patch, id, userName, isHeld: active, isRestored: pick % 4 > 0 });
    const login =
      pick >= 12
        ? { externalId: `person-${pick % 4}` }
        : { emails: [{ value: this.addressFor(project, choice), type: 'work', primary: true }] };
    if (active) await patch({ active: false, ...(pick % 8 === 7 && login) });
    if (pick % 4 === 0) return;
    if (pick % 4 === 1) await patch(login);
    await patch({ active: true, ...(pick % 4 === 2 && login) });
  }

  /** Usually one that no user of the project has. */
  private addressFor({ id }: ProjectModel, choice: number): string {
    const { addresses, model, spare } = this.world;
    const all = [...addresses, spare];
    const free = choice % 8 > 0 ? all.filter((one) => model.named(id, one).length === 0) : [];
    const some = free.length > 0 ? free : all;
    return some[choice % some.length] ?? spare;
  }

  /** Removes the number, or replaces it in two steps, active or not. */
  private async renumber(patch: (values: object) => Promise<void>, pick: number): Promise<void> {
    const isInactive = pick % 2 === 1;
    if (isInactive) await patch({ active: false });
    await patch({ phoneNumbers: [] });
    const value = this.world.phones[(pick + 1) % 4];
    if (pick % 4 > 1) await patch({ phoneNumbers: [{ value, type: 'mobile', primary: true }] });
    if (isInactive) await patch({ active: true });
  }

  /** As Entra ID: the deleted user gets another userName, and their own again at the restore, which ends nothing. */
  private async softDelete(of: {
    patch(values: object): Promise<void>;
    id: string;
    userName: string;
    isHeld: boolean;
    isRestored: boolean;
  }): Promise<void> {
    const { model } = this.world;
    const { patch, id, userName, isHeld, isRestored } = of;
    await patch({ active: false });
    await patch({ userName: `${'0123456789abcdef'.repeat(2)}${userName}` });
    if (!isRestored) return;
    await patch({ userName });
    await patch({ active: true });
    if (isHeld && model.user(id)['active'] && model.user(id)['user_name'] === userName) model.restores += 1;
  }

  async userAction(app: number, project: ProjectModel, id: string, action: string, name: string): Promise<void> {
    const { world } = this;
    const { model } = world;
    const query = 'mutation($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }';
    const input = { projectId: project.id, userIds: [id], action };
    const ask = () => world.graphql(world.process(app), query, { input });
    await world.exchange(ask, (reply, changes) => {
      const failed = reply.json['errors']?.[0]?.message ?? reply.json['data']?.changeUsers?.[0]?.code;
      this.log(`an admin: ${action} ${name}: ${reply.status}${failed ? ` ${failed}` : ''}`);
      absorb(model, changes, { mayEnd: (kind) => !failed && endedBy[action]?.test(kind) === true });
      if (failed) return;
      if (action === 'ACTIVATE') return;
      model.kill(id, action);
      if (action === 'RESET_FACTORS') {
        model.endRecoveries(id, 'ended by a reset');
        demand(model.factorsOf(id).length === 0, `RESET_FACTORS left ${name} a factor`);
        return;
      }
      demand(model.sessionsOf(id).length === 0, `${action} left ${name} a session`);
    });
  }

  private async revokePasskey(app: number, pick: number): Promise<void> {
    const { model } = this.world;
    const held = [...model.passkeys.values()].filter(({ isRevoked }) => !isRevoked);
    const one = held[pick % Math.max(1, held.length)];
    if (one) await this.revoke(app, one.user, 1, String(model.user(one.user)['user_name']));
  }

  private async revoke(app: number, id: string, pick: number, name: string): Promise<void> {
    const { world } = this;
    const { model } = world;
    const keys = [...model.devices.values()].filter(({ user }) => user === id);
    const passkeys = model.passkeysOf(id);
    const devices = pick % 3 === 1 && passkeys.length > 0 ? passkeys : keys;
    const sessions = model.sessionsOf(id);
    const isDevice = pick % 3 > 0;
    const held = isDevice ? devices : sessions;
    const one = held[pick % Math.max(1, held.length)];
    if (!one) return;
    const field = !isDevice ? 'endUserSession' : devices === passkeys ? 'revokeUserPasskey' : 'revokeUserDevice';
    const query = `mutation($id: ID!) { ${field}(id: $id) }`;
    const ask = () => world.graphql(world.process(app), query, { id: one.id });
    await world.exchange(ask, (reply, changes) => {
      const failed = reply.json['errors']?.[0]?.message;
      this.log(`an admin: ${field} of ${name}: ${reply.status}${failed ? ` ${failed}` : ''}`);
      absorb(model, changes, { mayEnd: (_kind, row) => !failed && row['id'] === one.id });
      if (failed) return;
      model.kill(id, field);
      const rests = model
        .sessionsOf(id)
        .some((session) => (isDevice ? [session.device, session.passkey] : [session.id]).includes(one.id));
      demand(!rests, `${field} left ${name} the session`);
      demand(!isDevice || model.passkeys.get(one.id)?.isRevoked !== false, `${field} left ${name} the passkey`);
    });
  }

  async patch(app: number, project: ProjectModel, id: string, values: object, name: string): Promise<void> {
    const { world } = this;
    const Operations = Object.entries(values).map(([path, value]) => ({ op: 'replace', path, value }));
    const body = { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations };
    const ask = () => world.scim(world.process(app), project, 'PATCH', `/Users/${id}`, body);
    await world.exchange(ask, (reply, changes) => {
      this.log(`the directory: ${name} gets ${JSON.stringify(values)}: ${reply.status}`);
      demand(reply.status < 500, `the directory got ${reply.status}: ${reply.text.slice(0, 200)}`);
      if (reply.status !== 200) demand(!changes.some(isPerson), 'a refused SCIM request changed a person');
      absorb(world.model, changes);
    });
  }

  async policy(command: { app: number; project: number; field: number; value: number }): Promise<void> {
    const { world } = this;
    const project = (command.project === 2 ? world.console : world.projects[command.project]) as ProjectModel;
    const field = policyFields[command.field] ?? {};
    const [[name, values] = ['', []]] = Object.entries(field);
    if (project === world.console && /^(signUp|scim)/.test(name)) return;
    const input = { id: project.id, [name]: values[command.value] };
    const query = 'mutation($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
    const ask = () => world.graphql(world.process(command.app), query, { input });
    await world.exchange(ask, (reply, changes) => {
      const failed = reply.json['errors']?.[0]?.message;
      this.log(`policy of ${project.name}: ${name} = ${String(values[command.value])}${failed ? ` (${failed})` : ''}`);
      absorb(world.model, changes);
    });
  }

  /** Disables or re-enables a client in the database, without the admin API. */
  async client(command: { client: number; isRule: boolean }): Promise<void> {
    const client = this.world.clients()[command.client] as ClientModel;
    await (command.isRule ? this.requirePasskey(client) : this.toggle(client));
  }

  /** Re-enables a client soon: a walk in which every step is rejected tests nothing. */
  async enableAgain(): Promise<void> {
    const late = this.world.clients().find((one) => one.isDisabled && this.world.model.step - this.disabledStep > 8);
    if (late) await this.toggle(late);
  }

  private async requirePasskey(client: ClientModel): Promise<void> {
    const { world } = this;
    client.isPasskeyRequired = !client.isPasskeyRequired;
    const input = { id: client.id, passkeyRequired: client.isPasskeyRequired };
    const query = 'mutation($input: UpdateClientInput!) { updateClient(input: $input) { id } }';
    const reply = await world.graphql(world.process(0), query, { input });
    demand(reply.json['errors'] === undefined, 'the rule of a client was not changed');
    this.log(`client ${client.name} ${client.isPasskeyRequired ? 'requires' : 'no longer requires'} a passkey`);
    absorb(world.model, await world.processes.log.read());
  }

  private async toggle(client: ClientModel): Promise<void> {
    const { world } = this;
    client.isDisabled = !client.isDisabled;
    this.disabledStep = world.model.step;
    await world.services.db.transaction(async (em) => {
      const at = client.isDisabled ? world.processes.clock.now() : null;
      await em.execute('update clients set disabled_at = ?, version = version + 1 where id = ?', [at, client.id]);
    });
    this.log(`client ${client.name} is ${client.isDisabled ? 'disabled' : 'enabled'}`);
    absorb(world.model, await world.processes.log.read());
  }

  /** Provisions a user from the directory. */
  async provision(app: number, project: ProjectModel, userName: string, email: string): Promise<string> {
    const { world } = this;
    const emails = [{ value: email, type: 'work', primary: true }];
    const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, emails, active: true };
    const reply = await world.scim(world.process(app), project, 'POST', '/Users', body);
    absorb(world.model, await world.processes.log.read());
    this.log(`the directory: provisions ${userName} (${fold(email)}): ${reply.status}`);
    return String(reply.json['id']);
  }

  async settings(project: ProjectModel, values: Parameters<World['services']['projects']['update']>[1]): Promise<void> {
    await this.world.services.projects.update(project.id, values, system);
    absorb(this.world.model, await this.world.processes.log.read());
  }
}

function isPerson({ table }: Change): boolean {
  return /^(users|credentials|enrolments|sessions|authorization_codes)$/.test(table);
}
