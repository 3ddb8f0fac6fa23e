import { absorb } from '../absorb.ts';
import type { Change, Row } from '../changes.ts';
import { demand } from '../model.ts';
import type { World } from '../world.ts';

const mutations = {
  approve: 'mutation($id: ID!) { approveSignUp(id: $id) { id } }',
  decline: 'mutation($id: ID!) { declineSignUp(id: $id) { id } }',
  update: 'mutation($input: UpdateProjectInput!) { updateProject(input: $input) { id } }',
};

/** An admin lets new users wait for an approval, and decides their requests (decisions/0351). */
export class ApprovalActor {
  private readonly world: World;
  private readonly log: (line: string) => void;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  /** Requires approval at an application that a known address is new to. Returns both, by their index. */
  async require(app: number, pick: number): Promise<{ client: number; person: number } | undefined> {
    const { addresses, model } = this.world;
    const clients = this.world.clients();
    const client = pick % clients.length;
    const project = clients[client]?.project;
    if (!project) return undefined;
    const person = addresses.findIndex((address) => model.named(project.id, address).length === 0);
    if (person < 0) return undefined;
    const input = { id: project.id, signUp: 'APPROVAL' };
    const ask = () => this.world.graphql(this.world.process(app), mutations.update, { input });
    await this.world.exchange(ask, (_, changes) => {
      this.log(`new users of ${project.name} need an approval`);
      absorb(model, changes);
    });
    return { client, person };
  }

  /** Decides one of the requests, which may be decided or expired. */
  async decide({ app, act, pick }: { app: number; act: 'approve' | 'decline'; pick: number }): Promise<void> {
    const { world } = this;
    const requests = [...world.model.signUpRequests.values()];
    const request = requests.at(-1 - (pick % Math.max(1, requests.length)));
    if (!request) return;
    const ask = () => world.graphql(world.process(app), mutations[act], { id: request['id'] });
    await world.exchange(ask, (reply, changes) => {
      const failed = reply.json['errors']?.[0]?.message;
      this.log(`an admin: ${act} ${request['address']}${failed ? `: ${failed}` : ''}`);
      const what = `${act} of ${request['address']}`;
      if (failed) demand(changes.length === 0, `${what} failed and changed rows`);
      else if (act === 'approve') this.checkApproval(what, request, changes);
      else this.checkDecline(what, request, changes);
      absorb(world.model, changes);
    });
  }

  private checkApproval(what: string, request: Row, changes: readonly Change[]): void {
    const { model } = this.world;
    const known = model.signUpRequests.get(request['id']);
    demand(known && Date.parse(known['expires_at']) > model.now, `${what}: the request was decided or expired`);
    const strange = changes.find(
      ({ table }) => !/^(users|user_emails|user_counts|sign_up_requests|messages)$/.test(table),
    );
    demand(!strange, `${what} changed ${strange?.table}`);
    const ended = changes.filter(({ table }) => table === 'sign_up_requests');
    const isOnly = ended.length === 1 && ended[0]?.op === 'DELETE' && ended[0].old?.['id'] === request['id'];
    demand(isOnly, `${what} did not end the request, or ended another`);
    const users = changes.filter(({ table }) => table === 'users');
    const isPresent = model.named(request['project_id'], request['address_key']).length > 0;
    demand(users.length === (isPresent ? 0 : 1), `${what} changed ${users.length} users`);
    for (const { op, new: user } of users) {
      const isTheirs = user?.['project_id'] === request['project_id'] && user?.['email_key'] === request['address_key'];
      demand(op === 'INSERT' && isTheirs, `${what} made another user`);
    }
  }

  private checkDecline(what: string, request: Row, changes: readonly Change[]): void {
    const [change, ...others] = changes;
    const isTheirs = change?.table === 'sign_up_requests' && change.new?.['id'] === request['id'];
    demand(isTheirs && change.new?.['state'] === 'declined' && others.length === 0, `${what} changed other rows`);
    demand(change?.old?.['state'] === 'pending', `${what}: it was decided before`);
  }
}
