import { system } from '../../src/domain/kernel/actor.ts';
import { authorizationParameters } from '../browser.ts';
import { DeviceBrowser } from '../device-browser.ts';
import { type DpopKey, dpopKey } from '../dpop.ts';
import { fetchHere } from '../fetch-here.ts';
import { partyAt } from '../project-issuer.ts';
import { RelyingParty } from '../relying-party.ts';
import { changed } from '../rows.ts';
import type { SigninWorld } from '../signin-world.ts';
import type { Flow } from './fault-lab.ts';
import { answerOf } from './openid-flows.ts';

/** Devices, DPoP and custom domains at the issuers of projects. */
export function grantFlows(world: SigninWorld): Flow[] {
  const app = () => world.app;
  const start = async (isAtDomain = false) => {
    await world.begin();
    const user = await world.user();
    const grantTypes = ['refresh_token', 'device_code'] as const;
    const { client } = await app().make.client(world.project, { grantTypes: [...grantTypes] });
    const atSlug = partyAt(app(), world.project, client);
    if (!isAtDomain) {
      await atSlug.signIn(user);
      return { user, client, party: atSlug };
    }
    const host = `login.${world.project.id}.example`;
    const { services, clock, url } = app();
    await services.domains.create(world.project.id, host, system);
    await changed(services.db, `update custom_domains set state = 'verified' where host = '${host}'`);
    const held = `insert into verified_hosts (host, project_id, verified_at) values ('${host}', ?, now())`;
    await changed(services.db, held, [world.project.id]);
    const party = new RelyingParty(app(), client, `http://${host}:${new URL(url).port}`);
    const now = clock.now();
    const signIn = { project: world.project, userId: user.id, amr: ['swk'], authTime: now, freshAt: now };
    const { secret } = await services.db.transaction((em) =>
      services.sessions.signIn(em, { ...signIn, domain: host, actor: system }),
    );
    party.browser.cookies.set(`lk-session-${world.project.id}`, secret);
    return { user, client, party };
  };
  type Started = Awaited<ReturnType<typeof start>>;
  const post = async ({ client, party }: Started, path: string, fields: Record<string, string>, key?: DpopKey) => {
    const url = `${party.issuer}/oauth2/${path}`;
    const headers = key ? { dpop: await key.proof({ url }) } : {};
    return fetchHere(url, { method: 'POST', headers, body: new URLSearchParams({ client_id: client.id, ...fields }) });
  };
  const codeOf = async (given: Started, key?: DpopKey) => {
    const code = await given.party.code({ scope: 'openid offline_access', ...(key && { dpop_jkt: key.jkt }) });
    const { redirect_uri } = authorizationParameters(given.client.id, '') as { redirect_uri: string };
    const fields = { grant_type: 'authorization_code', code, code_verifier: given.party.proof.verifier, redirect_uri };
    return () => post(given, 'token', fields, key);
  };
  const tokensOf = async (given: Started, key?: DpopKey) =>
    (await (await (await codeOf(given, key))()).json()) as { refresh_token: string; access_token: string };
  const device = async (given: Started) => {
    const asked = await post(given, 'device_authorization', { scope: 'openid offline_access' });
    const { user_code } = (await asked.json()) as { user_code: string };
    const person = new DeviceBrowser(app(), given.party.issuer);
    await person.signIn(given.user);
    return { person, user_code };
  };
  // A proof is used up even if the request fails.
  const stays = /^\+ used_assertions$/;

  return [
    ...[false, true].flatMap((isAtDomain): Flow[] => {
      const at = isAtDomain ? 'at a custom domain' : 'with a proof';
      const keyOf = async () => (isAtDomain ? undefined : dpopKey(app().clock));
      return [
        {
          name: `grants: token with a code, ${at}`,
          stays,
          prepare: async () => {
            const act = await codeOf(await start(isAtDomain), await keyOf());
            return async () => answerOf(await act());
          },
        },
        {
          name: `grants: token with a refresh token, ${at}`,
          again: 'succeeds',
          stays,
          prepare: async () => {
            const given = await start(isAtDomain);
            const key = await keyOf();
            const { refresh_token } = await tokensOf(given, key);
            app().clock.turn(60);
            const fields = { grant_type: 'refresh_token', refresh_token };
            return async () => answerOf(await post(given, 'token', fields, key));
          },
        },
      ];
    }),
    {
      name: 'grants: pushed authorization request with a proof',
      again: 'succeeds',
      stays,
      prepare: async () => {
        const given = await start();
        const key = await dpopKey(app().clock);
        const fields = authorizationParameters(given.client.id, given.party.proof.challenge);
        return async () => answerOf(await post(given, 'par', fields, key));
      },
    },
    {
      name: 'grants: userinfo with a proof',
      again: 'succeeds',
      stays,
      prepare: async () => {
        const given = await start();
        const key = await dpopKey(app().clock);
        const { access_token: token } = await tokensOf(given, key);
        const url = `${given.party.issuer}/userinfo`;
        return async () => {
          const proof = await key.proof({ method: 'GET', url, token });
          return answerOf(await fetchHere(url, { headers: { authorization: `DPoP ${token}`, dpop: proof } }));
        };
      },
    },
    {
      name: 'grants: code of a device',
      again: 'anything',
      prepare: async () => {
        const { person, user_code } = await device(await start());
        const csrf = /name="csrf" value="([^"]*)"/.exec(await (await person.form()).text())?.[1] ?? '';
        return async () => {
          const response = await person.browser.post(`${person.issuer}/device`, { csrf, user_code });
          return answerOf(response, () => response.status === 303);
        };
      },
    },
    ...['allow', 'deny'].map(
      (decision): Flow => ({
        name: `grants: approval of a device, ${decision}`,
        again: 'anything',
        prepare: async () => {
          const { person, user_code } = await device(await start());
          const flow = await person.flowOf(user_code);
          const html = await (await person.approval(flow)).text();
          const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
          return async () => {
            const response = await person.post(flow, { csrf, decision });
            return answerOf(response, () => response.status < 400);
          };
        },
      }),
    ),
  ];
}
