import { system } from '../../src/domain/kernel/actor.ts';
import { Project } from '../../src/domain/projects/project.entity.ts';
import { CookieBrowser, locationOf } from '../browser.ts';
import { bootstrapToken } from '../build-app.ts';
import { newDeviceKey, SigninPage } from '../signin-browser.ts';
import { newAddress, type SigninWorld } from '../signin-world.ts';
import type { Flow } from './fault-lab.ts';
import { run } from './job-flows.ts';
import { answerOf } from './openid-flows.ts';

/** Trials up to the hosted page, setup links, downloads and settings as files. */
export function consoleFlows(world: SigninWorld): Flow[] {
  const begin = async () => {
    await world.begin();
    const { services, url } = world.app;
    const [project] = await services.db.reader().find(Project, { builtIn: 'console' });
    const console = project ?? (await services.seed.create({ demo: false })).console;
    return { console, services, url };
  };
  const admin = async () => {
    const { console, services, url } = await begin();
    const email = newAddress();
    await services.admins.grantRole(
      { email, role: 'owner' },
      { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system },
    );
    const user = await services.users.findByAddress(services.db.reader(), console.id, email);
    const { secret } = await world.app.make.session(console, user as never);
    const cookie = `lk-session-${console.id}=${secret}`;
    const query = 'mutation ($id: ID!) { beginTrial(clientId: $id) { address } }';
    return async () => {
      const response = await fetch(`${url}/admin/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-latchkey-csrf': '1', cookie },
        body: JSON.stringify({ query, variables: { id: world.client.id } }),
      });
      return answerOf(response, (body) => !body.includes('"errors"'));
    };
  };
  /** A browser's page of that flow. */
  const pageOf = async (address: string, cookie: string) => {
    const { clock, url } = world.app;
    const flow = new URL(address, url).searchParams.get('flow') ?? '';
    const credential = { origin: url, flow, cookie };
    return new SigninPage(url, credential, await newDeviceKey(), () => Math.floor(clock.now().getTime() / 1000));
  };
  const setUp = async () => {
    const { services, url } = await begin();
    const link = await services.admins.mintSetupLink(system);
    const browser = new CookieBrowser();
    await browser.get(`${url}/setup?token=${link.token}`);
    const userid = newAddress();
    return { browser, userid, post: () => browser.post(`${url}/setup`, { email: userid }) };
  };
  /** A fault after the first byte ends the connection: a part is not mistaken for the whole. */
  const download = (name: string, path: (projectId: string, userId: string) => string): Flow => ({
    name: `console: ${name}`,
    again: 'succeeds',
    stays: /^\+ audit_log \S+\.exported$/,
    prepare: async () => {
      const { url } = await begin();
      const user = await world.user();
      const headers = { authorization: `Bearer ${bootstrapToken}` };
      return async () => {
        const response = await fetch(`${url}/admin${path(world.project.id, user.id)}`, { headers });
        const cut = { status: 503, headers: new Headers({ 'retry-after': '5' }), body: '', isSuccess: false };
        return answerOf(response).catch(() => cut);
      };
    },
  });

  return [
    {
      name: 'console: begin a trial',
      again: 'succeeds',
      prepare: admin,
    },
    {
      name: 'console: setup link',
      again: 'succeeds',
      prepare: async () => {
        const { post } = await setUp();
        return async () => {
          const response = await post();
          return answerOf(response, () => (response.headers.get('location') ?? '').startsWith('/signin?'));
        };
      },
    },
    {
      name: 'console: sign-in by a setup link',
      prepare: async () => {
        const { browser, post, userid } = await setUp();
        const { href } = locationOf(await post());
        const page = await pageOf(href, [...browser.cookies].map((pair) => pair.join('=')).join('; '));
        await world.verifyAddress(page, userid);
        return async () => {
          const {
            httpStatus: status,
            headers,
            text: body,
          } = await page.step('verify-device', { userid }, 'registration');
          return { status, headers, body, isSuccess: body.includes('"SUCCESS"') };
        };
      },
    },
    download('users as a file', (projectId) => `/export/users?project=${projectId}`),
    download('data of a user', (_, userId) => `/export/users/${userId}`),
    download('events as a file', (projectId) => `/export/events?project=${projectId}`),
    {
      name: 'console: apply a file',
      again: 'succeeds',
      prepare: async () => {
        await begin();
        const { configurations } = world.app.services;
        const document = {
          slug: world.project.slug,
          settings: { name: 'Shop' },
          apis: [{ identifier: 'urn:x', name: 'X', scopes: [{ key: 'read', description: 'Read' }] }],
          applications: [
            { name: 'Web', redirectUris: ['https://web.example.com/cb'], roles: [{ key: 'a', name: 'A' }] },
          ],
          webhooks: [{ url: 'https://hooks.example.com/', types: ['user.*'], description: '' }],
        };
        const wanted = configurations.read(document);
        return () => run(() => configurations.apply(wanted, { prune: false, actor: system }));
      },
    },
  ];
}
