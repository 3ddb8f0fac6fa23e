import type pg from 'pg';
import { system } from '../../src/domain/kernel/actor.ts';
import { Refusal } from '../../src/domain/kernel/problem.ts';
import type { Relay } from '../../src/domain/relay/relay.ts';
import { failureOf } from '../../src/http/failure.ts';
import { jobs } from '../../src/jobs/jobs.ts';
import { peopleOf } from '../account-visit.ts';
import { RelyingParty } from '../relying-party.ts';
import { changed } from '../rows.ts';
import { newAddress, type SigninWorld } from '../signin-world.ts';
import type { Answered, Flow } from './fault-lab.ts';

type Work = (onError: (error: unknown) => void) => Promise<unknown>;

/** One run of a job as if it were a request: a throw is its refusal, after which the queue runs it again. */
export async function run(work: Work): Promise<Answered> {
  const errors: unknown[] = [];
  await work((error) => errors.push(error)).catch((error: unknown) => errors.push(error));
  const [error] = errors;
  if (error === undefined) return { status: 204, headers: new Headers(), body: '', isSuccess: true };
  const failure = failureOf(error);
  const isAway = failure instanceof Refusal && failure.problem.code === 'unavailable';
  const headers = new Headers({ 'retry-after': '5' });
  return { status: isAway ? 503 : 500, headers, body: isAway ? '' : `throws ${String(error)}`, isSuccess: false };
}

export function jobFlows(world: SigninWorld, admin: () => pg.Client): Flow[] {
  const { registeredUser } = peopleOf(world);
  const table = () => jobs(world.app.services);

  /** @param make creates the rows that the job processes */
  const periodic = (name: string, make: () => Promise<unknown>, stays?: RegExp): Flow => ({
    name: `job: ${name}`,
    again: 'succeeds',
    ...(stays && { stays }),
    prepare: async () => {
      const work: Work = () => {
        const job = table().periodic.find((one) => one.name === name);
        if (!job) throw new Error(`no job ${name}`);
        return job.run();
      };
      await work(() => undefined);
      await world.begin();
      await make();
      return () => run(work);
    },
  });

  /** @param make queues the job last */
  const queued = (name: string, make: () => Promise<unknown>, stays?: RegExp): Flow => ({
    name: `job: ${name}`,
    again: 'succeeds',
    ...(stays && { stays }),
    prepare: async () => {
      await world.app.runJobs();
      await world.begin();
      await make();
      const { rows } = await admin().query(`delete from faults.queue where job = $1 returning data`, [name]);
      await admin().query('delete from faults.queue');
      const [job] = rows as { data: Record<string, unknown> }[];
      if (!job) throw new Error(`${name} is not queued`);
      return async () => {
        // Lets claims of the previous run expire.
        world.app.clock.turn(61);
        return run(async () => {
          await table()
            .queued.find((one) => one.name === name)
            ?.run(job.data);
        });
      };
    },
  });
  const sql = (text: string) => changed(world.app.services.db, text);
  const services = () => world.app.services;

  const relay = (name: string, make: () => Promise<unknown>, start: () => Work, stays: RegExp): Flow => ({
    name: `job: ${name}`,
    again: 'succeeds',
    stays,
    prepare: async () => {
      await world.begin();
      await make();
      return async () => {
        world.app.clock.turn(61);
        return run(start());
      };
    },
  });
  const recordEvents = () =>
    services().db.transaction(async (em) => {
      for (const id of ['ada', 'ada', 'bob']) {
        const subject = { kind: 'user', id, name: id };
        services().audit.record(em, { type: 'user.updated', actor: system, projectId: world.project.id, subject });
      }
    });
  const receiver = { types: ['user.*'], description: '' };

  /** Starts what is due once, and waits for its end. */
  const once = (of: () => Relay) => () => async (onError: (error: unknown) => void) => {
    await of().start(onError);
    await of().settled();
  };

  /** Ends a sign-in of an application that gets logout tokens. */
  const endSignIn = async () => {
    const { user } = await registeredUser();
    const { client } = await world.app.make.client(world.project, { backchannelLogoutUri: 'http://127.0.0.1:1/' });
    const party = new RelyingParty(world.app, client);
    await party.signIn(user);
    await party.tokens();
    await services().logout.endAllOfUser(user, system);
  };
  return [
    relay(
      'messages',
      async () => {
        await world.app.runJobs();
        const address = newAddress();
        const user = await world.user({ userName: address, userNameKey: address, email: address, emailKey: address });
        await services().invitations.invite(world.project.id, user.id, system);
      },
      once(() => services().delivery.relay),
      /^~ messages attempts next_attempt_at$/,
    ),
    relay(
      'logout tokens',
      async () => {
        await sql('delete from logout_deliveries');
        await endSignIn();
      },
      once(() => services().logout.relay),
      /^~ logout_deliveries next_attempt_at$/,
    ),
    queued(
      'domains.end',
      async () => {
        const { id: projectId } = world.project;
        const host = `${projectId}.example.org`;
        const domain = await services().domains.create(projectId, host, system);
        const { user } = await registeredUser();
        const party = new RelyingParty(world.app, world.client);
        await party.signIn(user);
        await sql(`update custom_domains set state = 'verified'`);
        await sql(
          `insert into verified_hosts (host, project_id, verified_at) values ('${host}', '${projectId}', now())`,
        );
        await sql(`update sessions set domain = '${host}' where project_id = '${projectId}'`);
        await sql(`update credentials set domain = '${host}' where project_id = '${projectId}'`);
        await services().domains.remove({ project: world.project, id: domain.id }, system);
      },
      /^~ (sessions|refresh_grants|credentials)|^\+ audit_log session/,
    ),
    queued('access.end', async () => {
      const { user } = await registeredUser();
      const { client } = await world.app.make.client(world.project, {
        ...{ backchannelLogoutUri: 'http://127.0.0.1:1/', grantTypes: ['refresh_token'] },
      });
      const party = new RelyingParty(world.app, client);
      await party.signIn(user);
      await party.exchange(await party.code({ scope: 'openid offline_access' }));
      world.app.clock.turn(1);
      await services().clients.update(client, { access: 'assigned' }, system);
    }),
    queued('organizations.end', async () => {
      const { user } = await registeredUser();
      const logout = { backchannelLogoutUri: 'http://127.0.0.1:1/', grantTypes: ['refresh_token' as const] };
      const { client } = await world.app.make.client(world.project, logout);
      const party = new RelyingParty(world.app, client);
      await party.signIn(user);
      await party.exchange(await party.code({ scope: 'openid offline_access' }));
      const organization = await services().organizations.create(
        world.project.id,
        { slug: 'acme', name: 'Acme' },
        system,
      );
      const membership = await services().memberships.add(organization, { userId: user.id }, system);
      await sql(`update refresh_grants set organization_id = '${organization.id}' where client_id = '${client.id}'`);
      world.app.clock.turn(1);
      await services().memberships.remove(membership, system);
    }),
    periodic('keys.tend', async () => world.app.clock.turn(60 * 24 * 3600), /signing_keys|signing-key.published/),
    periodic('projects.test-mode', async () => {
      await sql(`update projects set test_mode = true where id = '${world.project.id}'`);
      await sql(`insert into users (id, project_id, user_name, user_name_key, created_at, updated_at)
        select gen_random_uuid(), '${world.project.id}', n, n, now(), now() from generate_series(1, 200) n`);
      await sql(`update user_counts set users = users + 200 where project_id = '${world.project.id}'
        and ctid = (select min(ctid) from user_counts where project_id = '${world.project.id}')`);
    }),
    periodic('sweep.messages', async () => {
      await (await world.page()).challenge();
      const page = await world.page();
      await page.challenge();
      await page.step('authenticate', { userid: newAddress() });
      world.app.clock.turn(3600);
    }),
    periodic('activity.count', async () => world.app.clock.turn(3 * 24 * 3600), /^[+~] activity_(days|progress)/),
    periodic(
      'domains.check',
      async () => {
        await sql('delete from custom_domains');
        for (const name of ['a', 'b']) {
          await services().domains.create(world.project.id, `${name}.${world.project.id}.example.org`, system);
        }
        world.app.clock.turn(3 * 3600);
      },
      /^~ custom_domains (checked_at|checked_at fault)$/,
    ),
    periodic('recoveries.expire', async () => {
      const { user } = await registeredUser();
      await services().recoveries.grant(world.project.id, user.id, { reason: 'Lost', hours: 1 }, system);
      world.app.clock.turn(30 * 24 * 3600);
    }),
    periodic('accounts.delete', async () => {
      const { visit } = await registeredUser();
      await world.set({ accountDeletion: true, accountDeletionDays: 1 });
      await visit.change('delete-account');
      world.app.clock.turn(2 * 24 * 3600);
    }),
    periodic('directories.warn', async () => {
      await world.set({ scimEnabled: true });
      await services().directories.issueScimToken({ projectId: world.project.id, name: 'Directory' }, system);
      await sql(`update scim_tokens set expires_at = '${new Date(world.app.clock.now().getTime() + 3600_000).toISOString()}'
        where project_id = '${world.project.id}'`);
    }),
    periodic('sign-ups.announce', async () => {
      const { id: clientId, project } = world.client;
      const asked = {
        projectId: project.id,
        days: 30,
        clientId,
        address: newAddress(),
        locale: 'en',
        actor: system,
      } as const;
      await services().db.transaction((em) => services().signUpRequests.ask(em, asked));
    }),
    periodic(
      'sweep.custom-attributes',
      async () => {
        const { id } = world.project;
        await services().customAttributes.create(id, { name: 'team', type: 'string' } as never, system);
        await services().newUsers.add(
          id,
          { userName: 'ada', custom: { team: 'A' } } as never,
          { invite: false },
          system,
        );
        await services().customAttributes.delete(id, 'team', system);
      },
      /^~ users|^- custom_values/,
    ),
    periodic('sweep.rest', async () => world.app.clock.turn(40 * 24 * 3600), /^- /),
    periodic('sweep.events', async () => world.app.clock.turn(40 * 24 * 3600), /./),
    relay(
      'webhooks',
      async () => {
        await services().webhooks.create(world.project.id, { url: 'https://hooks.example.com/', ...receiver }, system);
        await recordEvents();
      },
      once(() => services().webhookRelay),
      /^~ webhook(s|_deliveries) /,
    ),
    relay(
      'log streams',
      async () => {
        const settings = {
          target: 'https://logs.example.com/',
          ...receiver,
          format: 'json-lines',
          gzip: false,
        } as const;
        await services().logStreams.create(
          world.project.id,
          'http',
          { ...settings, header: null, secret: null },
          system,
        );
        await recordEvents();
      },
      once(() => services().streamRelay),
      /^~ (log_streams|stream_events) /,
    ),
  ];
}
