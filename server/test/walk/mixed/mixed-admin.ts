import { absorb } from '../absorb.ts';
import { demand } from '../model.ts';
import type { Reply } from '../wire.ts';
import { type Site } from './draft.ts';
import { claimsOf, type Dice, type Party } from './party.ts';
import type { Rules } from './rules.ts';

const updateProject = 'mutation($input: UpdateProjectInput!) { updateProject(input: $input) { id } }';
const changeUsers = 'mutation($input: ChangeUsersInput!) { changeUsers(input: $input) { done code } }';
const policies = [
  { mfaPolicy: 'REQUIRED' },
  { mfaPolicy: 'OPTIONAL' },
  { mfaPolicy: 'OPTIONAL' },
  { passkeyPolicy: 'REQUIRED' },
  { passkeyPolicy: 'ALLOWED' },
  { passkeyPolicy: 'PREFERRED' },
];

/** An admin and a directory that end or change the access of a user, or change the policies of the project. */
export class MixedAdmin {
  constructor(
    private readonly site: Site,
    private readonly rules: Rules,
    private readonly log: (line: string) => void,
  ) {}

  async act(app: number, party: Party, dice: Dice): Promise<void> {
    const action = dice.of(['END_SESSIONS', 'DEACTIVATE', 'RESET_FACTORS', 'policy', 'address', 'erase', 'erase']);
    if (action === 'policy') return this.policy(app, dice);
    if (action === 'address') return this.readdress(app, party);
    if (action === 'erase') return this.erase(app, party);
    await this.change(app, party, action as string);
    if (action === 'DEACTIVATE') await this.change(app, party, 'ACTIVATE');
  }

  private async change(app: number, party: Party, action: string): Promise<void> {
    const { project, world } = this.site;
    const input = { projectId: project.id, userIds: [party.user], action };
    const reply = await world.graphql(world.process(app), changeUsers, { input });
    await this.done(`an admin: ${action} ${party.name}`, party.user, reply);
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
    const address = party.address.replace(/^(\w+?)(x?)@/, (_all, name, mark) => `${name}${mark ? '' : 'x'}@`);
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

  private moved(party: Party, address: string): void {
    party.address = address;
    this.site.keep(party, { address, user: party.user });
    party.next = 'authorize';
  }

  private async done(what: string, user: string, reply: Reply): Promise<void> {
    const { world } = this.site;
    const changes = await world.processes.log.read();
    this.log(`${what}: ${reply.status} ${reply.json['errors']?.[0]?.message ?? ''}`);
    demand(reply.status < 300 && reply.json['errors'] === undefined, `${what} failed: ${reply.text.slice(0, 300)}`);
    this.rules.checkAdmin(what, user, changes);
    this.rules.checkAudit(what, await world.processes.log.endedSessions(this.site.project.id));
    absorb(world.model, changes);
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
