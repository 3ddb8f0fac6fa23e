import { absorb } from '../absorb.ts';
import { type Change, describeChange } from '../changes.ts';
import type { Open, Recover } from '../commands.ts';
import { plainCode } from '../evidence.ts';
import { nameOf } from '../finish.ts';
import { demand, fold, mailboxOf, type ProjectModel, type RecoveryModel } from '../model.ts';
import { checkRefusal } from '../signin-rules.ts';
import type { World } from '../world.ts';

const grantQuery =
  'mutation($input: GrantUserRecoveryInput!) { grantUserRecovery(input: $input) { code usableAt expiresAt } }';
const cancelQuery = 'mutation($id: ID!) { cancelUserRecovery(userId: $id) }';

/** Recovery grants: an admin grants and cancels them, their users cancel them by the link of the notice (decisions/0108). */
export class RecoveryActor {
  private readonly world: World;
  private readonly log: (line: string) => void;

  constructor(world: World, log: (line: string) => void) {
    this.world = world;
    this.log = log;
  }

  async act(command: Recover): Promise<void> {
    const { act } = command;
    if (act === 'grant') return void (await this.grant(command));
    if (act === 'cancel') return this.cancel(command);
    await this.follow(command);
  }

  /** Returns the sign-in of its user. */
  async grant({
    app,
    act,
    pick,
    ...who
  }: Pick<Recover, 'act' | 'app' | 'pick' | 'person' | 'project'>): Promise<Pick<
    Open,
    'client' | 'entry' | 'person'
  > | null> {
    const { world } = this;
    const { model } = world;
    const project = this.projectOf(who);
    const [losing, all] = this.peopleOf(project);
    const among = act === 'lose' ? losing : all;
    const user = among[who.person % Math.max(1, among.length)];
    if (user === undefined) return null;
    const hours = act === 'lose' ? 1 : 1 + (pick % 2);
    const input = { userId: user, reason: 'Lost.', waitHours: hours };
    const ask = () => world.graphql(world.process(app), grantQuery, { input });
    return world.exchange(ask, (reply, changes) => {
      const granted = reply.json['data']?.grantUserRecovery;
      this.log(`an admin: recovery of ${nameOf(model, user)}: ${granted ? 'granted' : 'refused'}`);
      if (!granted) {
        checkRefusal(changes, 'a recovery');
        return null;
      }
      const row = model.user(user);
      const others = ((row['attributes']?.emails ?? []) as { value: string }[]).map(({ value }) => fold(value));
      const recovery: RecoveryModel = {
        ...{ id: '', user, code: granted.code, link: null, ended: null, mailboxes: [mailboxOf(row), ...others] },
        ...{ usableAt: model.now + hours * 3_600_000, expiresAt: model.now + (hours + 24) * 3_600_000 },
      };
      this.checkGrant(recovery, changes);
      // Of two at once, the later one ends the earlier one, in whichever order they are read.
      for (const { table, op, new: changed } of changes)
        if (table === 'recovery_grants' && op === 'UPDATE') model.replacedRecoveries.add(changed?.['id']);
      if (model.replacedRecoveries.has(recovery.id)) recovery.ended = 'replaced';
      else model.endRecoveries(user, 'replaced');
      model.recoveries.push(recovery);
      absorb(model, changes);
      const entry = project === world.console ? ('console' as const) : ('hosted' as const);
      const client = Math.max(
        0,
        world.clients().findIndex((one) => one.project === project),
      );
      return { entry, client, person: Math.max(0, world.addresses.indexOf(mailboxOf(row))) };
    });
  }

  private checkGrant(recovery: RecoveryModel, changes: readonly Change[]): void {
    const what = `the recovery of ${nameOf(this.world.model, recovery.user)}`;
    for (const change of changes) {
      const { op, table, new: row } = change;
      const isNotice = table === 'messages' && op === 'INSERT' && row?.['template'] === 'recovery-granted';
      const isOwn = table === 'recovery_grants' && row?.['user_id'] === recovery.user;
      demand(isNotice || isOwn, `${what} made an unexpected ${describeChange(change)}`);
      if (isNotice) this.world.model.notices.set(row['id'], recovery);
      if (isOwn && op === 'INSERT') recovery.id = row?.['id'];
    }
    demand(recovery.id !== '', `${what} wrote no grant`);
    const notified = changes.flatMap(({ new: row }) => (row?.['recipient'] ? [fold(row['recipient'])] : []));
    demand(
      recovery.mailboxes.every((to) => notified.includes(to)),
      `${what} did not notify ${recovery.mailboxes.join(', ')}`,
    );
    const stored = JSON.stringify(changes);
    const isHidden = [recovery.code, plainCode(recovery.code)].every((code) => !stored.includes(code));
    demand(isHidden, `${what} stored its code`);
  }

  private async cancel({ app, pick, ...who }: Recover): Promise<void> {
    const { world } = this;
    const { model } = world;
    const open = model.recoveries.findLast(({ ended }) => ended === null);
    const [, all] = this.peopleOf(this.projectOf(who));
    const user = pick % 4 > 0 && open ? open.user : all[who.person % Math.max(1, all.length)];
    if (user === undefined) return;
    const ask = () => world.graphql(world.process(app), cancelQuery, { id: user });
    await world.exchange(ask, (reply, changes) => {
      const isDone = reply.json['errors'] === undefined;
      this.log(`an admin: cancels the recovery of ${nameOf(model, user)}: ${isDone ? 'done' : 'refused'}`);
      if (!isDone) return checkRefusal(changes, 'a cancellation');
      for (const change of changes) {
        const isOwn = change.table === 'recovery_grants' && change.new?.['user_id'] === user;
        demand(isOwn, `a cancellation made an unexpected ${describeChange(change)}`);
      }
      absorb(model, changes);
      model.endRecoveries(user, 'cancelled');
    });
  }

  /** Any browser opens the link of a notice; only its form cancels. */
  private async follow({ act, app, browser: index, pick }: Recover): Promise<void> {
    const { world } = this;
    const { model } = world;
    await world.deliver();
    const linked = model.recoveries.filter(({ link }) => link !== null);
    const recovery = linked.at(-1 - (pick % Math.max(1, Math.min(3, linked.length))));
    const browser = world.browsers[index];
    if (!recovery || !browser) return;
    const link = Object.fromEntries(new URLSearchParams(recovery.link ?? ''));
    if (act === 'forged-link') Object.assign(link, this.forged(link, pick));
    const url = `${world.process(app)}/account/recovery`;
    const open = () => (act === 'look' ? browser.get(`${url}?${new URLSearchParams(link)}`) : browser.post(url, link));
    await world.exchange(open, (reply, changes) => {
      this.log(`link of a recovery of ${nameOf(model, recovery.user)}, ${act}: ${reply.status}`);
      demand(reply.status < 500, `/account/recovery failed: ${reply.status}`);
      if (act === 'look' || reply.status !== 200) return checkRefusal(changes, `${act} of a recovery`);
      demand(act === 'link', 'a recovery was cancelled by a link that was not sent');
      demand(recovery.ended === null, `a recovery was cancelled by its link though it was ${recovery.ended}`);
      for (const change of changes) {
        const isOwn = change.table === 'recovery_grants' && change.new?.['id'] === recovery.id;
        demand(isOwn, `the link of a recovery made an unexpected ${describeChange(change)}`);
      }
      absorb(model, changes);
      recovery.ended = 'cancelled';
    });
  }

  private forged({ project = '', cancel = '' }: Record<string, string>, pick: number): Record<string, string> {
    const other = this.world.projects.find(({ id }) => id !== project);
    const altered = (cancel.startsWith('A') ? 'B' : 'A') + cancel.slice(1);
    return pick % 2 === 0 ? { project: other?.id ?? '' } : { cancel: altered };
  }

  private projectOf({ project }: Pick<Recover, 'project'>): ProjectModel {
    return this.world.projects[project] ?? this.world.console;
  }

  /** The users with a passkey or factor, and all users. */
  private peopleOf({ id: projectId }: ProjectModel): [string[], string[]] {
    const { model } = this.world;
    const people = [...model.users.values()].filter((row) => row['project_id'] === projectId);
    const ids = people.map((row): string => row['id']);
    return [ids.filter((id) => model.countsPasskey(id) || model.factorsOf(id).length > 0), ids];
  }
}
