import { system } from '../../../src/domain/kernel/actor.ts';
import { absorb } from '../absorb.ts';
import { endedBy } from '../actors/admin-actor.ts';
import type { MayEnd } from '../hands.ts';
import { demand } from '../model.ts';
import { checkRefusal } from '../signin-rules.ts';
import type { Reply } from '../wire.ts';
import { type Site } from './draft.ts';
import { claimsOf, type Dice, otherMailbox, type Party } from './party.ts';
import type { Rules } from './rules.ts';

const updateProject = 'mutation($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
const changeUsers = 'mutation($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }';
const grantRole = 'mutation($input: GrantRoleInput!) { grantRole(input: $input) { id } }';
const cancelUserRecovery = 'mutation($id: ID!) { cancelUserRecovery(userId: $id) }';
const grantUserRecovery = 'mutation($input: GrantUserRecoveryInput!) { grantUserRecovery(input: $input) { code } }';
const policies = [
  { mfaPolicy: 'REQUIRED' },
  { mfaPolicy: 'OPTIONAL' },
  { mfaPolicy: 'OPTIONAL' },
  { passkeyPolicy: 'REQUIRED' },
  { passkeyPolicy: 'ALLOWED' },
  { passkeyPolicy: 'PREFERRED' },
];

const actions = [
  ...['END_SESSIONS', 'DEACTIVATE', 'RESET_FACTORS', 'policy', 'address', 'erase', 'erase'],
  ...['setup', 'setup', 'invite', 'recovery', 'successor'],
];

/** A project allows a number of recoveries and of new admins a day. */
const isTooMany = ({ json }: Reply) => json['errors']?.[0]?.extensions?.code === 'too-many';

/** An admin and a directory that end or change the access of a user, or change the policies of the project. */
export class MixedAdmin {
  constructor(
    private readonly site: Site,
    private readonly parties: readonly Party[],
    private readonly rules: Rules,
    private readonly log: (line: string) => void,
  ) {}

  async act(app: number, party: Party, dice: Dice): Promise<void> {
    // Only a user who consented has a consent to leave.
    const isFollowed = party.consents.size > 0 && dice.next() < 0.4;
    const action = isFollowed ? 'successor' : dice.of(actions);
    if (action === 'setup') return this.mint(dice);
    if (action === 'invite') return this.invite(app, party);
    if (action === 'recovery') return this.recover(app, party, dice);
    if (action === 'policy') return this.policy(app, dice);
    if (action === 'address') return this.readdress(app, party);
    if (action === 'erase') return this.erase(app, party);
    if (action === 'successor') return this.succeed(app, party);
    await this.change(app, party, action as string);
    if (action === 'DEACTIVATE') await this.change(app, party, 'ACTIVATE');
  }

  private async change(app: number, party: Party, action: string): Promise<void> {
    const { project, world } = this.site;
    const input = { projectId: project.id, userIds: [party.user], action };
    const reply = await world.graphql(world.process(app), changeUsers, { input });
    const mayEnd: MayEnd = (kind) => endedBy[action]?.test(kind) === true;
    await this.done(`an admin: ${action} ${party.name}`, party.user, reply, mayEnd);
    if (action !== 'END_SESSIONS') this.rules.recoveries.ended(party.user);
    if (action !== 'RESET_FACTORS') party.endedStep = world.model.step;
    party.next = 'authorize';
  }

  private async policy(app: number, dice: Dice): Promise<void> {
    const { project, world } = this.site;
    const policy = dice.of(policies);
    const reply = await world.graphql(world.process(app), updateProject, { input: { id: project.id, ...policy } });
    await this.done(`policy of the third project: ${JSON.stringify(policy)}`, '', reply);
  }

  /** The directory gives a user another address: the next user may get the former one. */
  private async readdress(app: number, party: Party): Promise<void> {
    const { project, world } = this.site;
    const address = otherMailbox(party.address);
    const emails = [{ value: address, type: 'work', primary: true }];
    const Operations = Object.entries({ userName: address, emails }).map(([path, value]) => ({
      ...{ op: 'replace', path, value },
    }));
    const body = { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations };
    const reply = await world.scim(world.process(app), project, 'PATCH', `/Users/${party.user}`, body);
    await this.done(`the directory: ${party.name} gets ${address}`, party.user, reply);
    if (reply.status === 200) this.moved(party, address);
  }

  /** The directory erases a user, and adds them again: as another user. */
  private async erase(app: number, party: Party): Promise<void> {
    const { project, world } = this.site;
    const { address } = party;
    const gone = await world.scim(world.process(app), project, 'DELETE', `/Users/${party.user}`, {});
    await this.done(`the directory erases ${party.name}`, party.user, gone);
    const emails = [{ value: address, type: 'work', primary: true }];
    const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: address, emails, active: true };
    const reply = await world.scim(world.process(app), project, 'POST', '/Users', user);
    await this.done(`the directory adds ${party.name}`, reply.json['id'], reply);
    party.user = reply.json['id'];
    party.consents.clear();
    this.moved(party, address);
    party.endedStep = world.model.step;
  }

  /** The account passes to another person, who proves and consents anew. */
  private async succeed(app: number, party: Party): Promise<void> {
    await this.change(app, party, 'DEACTIVATE');
    await this.readdress(app, party);
    await this.change(app, party, 'ACTIVATE');
    party.consents.clear();
  }

  private moved(party: Party, address: string): void {
    this.rules.recoveries.ended(party.user);
    Object.assign(party, { address, userName: address });
    this.site.keep(party, { address, user: party.user });
    party.next = 'authorize';
  }

  private async done(what: string, user: string, reply: Reply, mayEnd?: MayEnd): Promise<void> {
    const { world } = this.site;
    const changes = await world.processes.log.read();
    this.log(`${what}: ${reply.status} ${reply.json['errors']?.[0]?.message ?? ''}`);
    demand(reply.status < 300 && reply.json['errors'] === undefined, `${what} failed: ${reply.text.slice(0, 300)}`);
    this.rules.checkAdmin(what, user, changes);
    this.rules.checkAudit(what, await world.processes.log.endedSessions(this.site.project.id));
    absorb(world.model, changes, { mayEnd });
  }

  /** The operator makes a setup link, which both users get: only one of them becomes an owner. */
  async mint(dice: Dice): Promise<void> {
    const { keep, world } = this.site;
    const { token } = await world.services.admins.mintSetupLink(system);
    this.rules.admins.minted(token);
    this.log('the operator makes a setup link');
    this.rules.checkAdmin('the operator', '', await world.processes.log.read());
    for (const party of this.parties) {
      keep(party, { 'setup-link': token });
      party.next = 'setup-open';
    }
    if (dice.next() < 0.4) world.processes.clock.turn(600);
  }

  /** The role goes to the user with the invited address, and so does the mail. */
  private async invite(app: number, party: Party): Promise<void> {
    const { project, world } = this.site;
    const input = { email: party.address, role: 'PROJECT_VIEWER', projectId: project.id, invite: true };
    const reply = await world.graphql(world.process(app), grantRole, { input });
    const changes = await world.processes.log.read();
    const what = `an admin: invites ${party.name}`;
    const { errors } = reply.json;
    if (isTooMany(reply)) return checkRefusal(changes, 'an invitation');
    this.log(`${what}: ${reply.status} ${errors?.[0]?.message ?? ''}`);
    demand(reply.status === 200 && errors === undefined, `${what} failed: ${reply.text.slice(0, 300)}`);
    for (const { table, new: row } of changes) {
      if (table === 'users') demand(row?.['email'] === party.address, `${what} made an account for another address`);
      if (table === 'users') party.admins.add(row?.['id']);
      if (table === 'messages') demand(row?.['recipient'] === party.address, `${what} by a mail to another address`);
      if (table === 'memberships') demand(party.admins.has(row?.['user_id']), `${what} gave a role to another user`);
    }
    absorb(world.model, changes);
  }

  /**
   * An admin lets a user who lost the key and the browser replace a factor or passkey. Usually the waiting time passes.
   * Sometimes the recovery ends before its use.
   */
  async recover(app: number, party: Party, dice: Dice): Promise<void> {
    const { keep, world } = this.site;
    const input = { userId: party.user, reason: 'Lost.', waitHours: 1 };
    const reply = await world.graphql(world.process(app), grantUserRecovery, { input });
    if (isTooMany(reply)) return checkRefusal(await world.processes.log.read(), 'a recovery');
    await this.done(`an admin: recovery of ${party.name}`, party.user, reply);
    const { code } = reply.json['data'].grantUserRecovery;
    this.rules.recoveries.granted(party.user, code, world.now() + 3_600_000);
    keep(party, { recovery: code });
    await this.lose(party);
    const chance = dice.next();
    if (chance < 0.15) return;
    world.processes.clock.turn(chance < 0.2 ? 3_600 + 86_410 : 3_610);
    if (chance < 0.3) return this.cancel(app, party);
    if (chance < 0.4) await this.change(app, party, 'DEACTIVATE');
    if (chance < 0.4) await this.change(app, party, 'ACTIVATE');
  }

  private async cancel(app: number, party: Party): Promise<void> {
    const { world } = this.site;
    const reply = await world.graphql(world.process(app), cancelUserRecovery, { id: party.user });
    await this.done(`an admin: cancels the recovery of ${party.name}`, party.user, reply);
    this.rules.recoveries.ended(party.user);
  }

  /** The user continues in another browser, with another key. */
  async lose(party: Party): Promise<void> {
    party.renewBrowser();
    await party.renewKey();
    party.next = 'authorize';
  }

  /** Logout tokens go to the application that they are for, about a session of their user that has ended. */
  checkLogouts(): void {
    const { clients, project, world } = this.site;
    for (const { logoutTokens } of world.processes.apps) {
      for (const { uri, token } of logoutTokens.splice(0)) {
        const { aud, iss, sid, sub } = claimsOf(token);
        // Tokens of other issuers are from an earlier world.
        if (iss !== `${world.issuer}/p/${project.slug}`) continue;
        demand(clients.find(({ id }) => id === aud)?.logoutUri === uri, `a logout token for ${aud} was sent to ${uri}`);
        this.rules.checkLogout(sid, sub);
      }
    }
  }
}
