import type pg from 'pg';
import { expect } from 'vitest';
import { system } from '../../src/domain/kernel/actor.ts';
import { grantTypeNames } from '../../src/domain/kernel/openid.ts';
import { authorizationParameters, locationOf } from '../browser.ts';
import { DeviceBrowser } from '../device-browser.ts';
import { fetchHere } from '../fetch-here.ts';
import { partyAt } from '../project-issuer.ts';
import { RelyingParty } from '../relying-party.ts';
import { changed } from '../rows.ts';
import type { SigninWorld } from '../signin-world.ts';
import type { Answered, Flow } from './fault-lab.ts';

export async function answerOf(response: Response, isSuccess?: (body: string) => boolean): Promise<Answered> {
  const body = await response.text();
  const { status, headers } = response;
  return { status, headers, body, isSuccess: isSuccess ? isSuccess(body) : status < 300 };
}

/** A redirect to the application with a code. */
const redirected = async (response: Response): Promise<Answered> => {
  const location = response.headers.get('location');
  const isSuccess = location !== null && new URL(location, 'http://x').searchParams.has('code');
  return { ...(await answerOf(response)), isSuccess };
};

export function openidFlows(world: SigninWorld, admin: () => pg.Client): Flow[] {
  const start = async (settings: Parameters<typeof world.app.make.client>[1] = {}, base = false) => {
    await world.begin();
    const user = await world.app.make.user(world.project);
    const { client, clientSecret } = await world.app.make.client(world.project, settings);
    const party = base ? new RelyingParty(world.app, client) : partyAt(world.app, world.project, client);
    await party.signIn(user);
    const post = (path: string, fields: Record<string, string>) =>
      fetchHere(`${party.issuer}/oauth2/${path}`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: client.id,
          ...(clientSecret && { client_secret: clientSecret }),
          ...fields,
        }),
      });
    return { user, client, party, clientSecret, post };
  };
  const withRefresh = async () => {
    const all = await start({ grantTypes: ['refresh_token'] });
    const tokens = (await all.party.tokens({ scope: 'openid email offline_access' })) as unknown as {
      refresh_token: string;
      access_token: string;
      id_token: string;
    };
    return { ...all, tokens };
  };

  return [
    {
      name: 'openid: authorize with a session',
      again: 'succeeds',
      prepare: async () => {
        const { party } = await start({}, true);
        return async () => redirected(await party.authorize());
      },
    },
    {
      name: 'openid: authorize with a session, prompt=none',
      again: 'succeeds',
      prepare: async () => {
        const { party } = await start();
        return async () => redirected(await party.authorize({ prompt: 'none' }));
      },
    },
    {
      name: 'openid: authorize without a session',
      again: 'succeeds',
      prepare: async () => {
        const { party } = await start({}, true);
        party.signOut();
        return async () => {
          const response = await party.authorize();
          const location = response.headers.get('location') ?? '';
          return { ...(await answerOf(response)), isSuccess: location.includes('/signin?') };
        };
      },
    },
    {
      name: 'openid: token with a code',
      prepare: async () => {
        const { party } = await start({}, true);
        const code = await party.code();
        return async () => answerOf(await party.exchange(code));
      },
    },
    {
      name: 'openid: token with a code at the project issuer',
      prepare: async () => {
        const { party } = await start({ grantTypes: ['refresh_token'] });
        const code = await party.code({ scope: 'openid offline_access' });
        return async () => answerOf(await party.exchange(code));
      },
    },
    {
      name: 'openid: token with a code, first use of an algorithm',
      stays: /signing-key\.published|\+ signing_keys/,
      prepare: async () => {
        const { party } = await start({ idTokenSignedResponseAlg: 'ES256' });
        const code = await party.code();
        await changed(world.app.services.db, `delete from signing_keys where alg = 'ES256'`);
        // The keys are read again.
        world.app.clock.turn(40);
        return async () => answerOf(await party.exchange(code));
      },
    },
    {
      name: 'openid: token with a refresh token',
      again: 'succeeds',
      prepare: async () => {
        const { post, tokens } = await withRefresh();
        world.app.clock.turn(60);
        return async () =>
          answerOf(await post('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }));
      },
    },
    {
      name: 'openid: token with client credentials',
      again: 'succeeds',
      prepare: async () => {
        const { client, post } = await start({
          tokenEndpointAuthMethod: 'client_secret_post',
          grantTypes: ['client_credentials'],
        });
        const scopes = [{ key: 'read', description: 'Read' }];
        const identifier = `urn:api:${client.id}`;
        const api = await world.app.services.apis.create(
          { projectId: world.project.id, identifier, name: 'A', scopes },
          system,
        );
        await world.app.services.apis.grant(client, api.id, { scopes: ['read'], introspects: false }, system);
        return async () =>
          answerOf(await post('token', { grant_type: 'client_credentials', resource: identifier, scope: 'read' }));
      },
    },
    {
      name: 'openid: pushed authorization request',
      again: 'succeeds',
      prepare: async () => {
        const { post, client, party } = await start();
        return async () => answerOf(await post('par', authorizationParameters(client.id, party.proof.challenge)));
      },
    },
    {
      name: 'openid: authorize with a pushed request',
      prepare: async () => {
        const { post, client, party } = await start();
        const pushed = await post('par', authorizationParameters(client.id, party.proof.challenge));
        const { request_uri } = (await pushed.json()) as { request_uri: string };
        const query = new URLSearchParams({ client_id: client.id, request_uri });
        return async () => redirected(await party.browser.get(`${party.issuer}/authorize?${query}`));
      },
    },
    {
      name: 'openid: device authorization',
      again: 'succeeds',
      prepare: async () => {
        const { post } = await start({ grantTypes: ['device_code'] });
        return async () => answerOf(await post('device_authorization', {}));
      },
    },
    {
      name: 'openid: token with a device code',
      prepare: async () => {
        const { post, user, party } = await start({ grantTypes: ['device_code', 'refresh_token'] });
        const codes = (await (await post('device_authorization', { scope: 'openid offline_access' })).json()) as {
          device_code: string;
          user_code: string;
        };
        const person = new DeviceBrowser(world.app, party.issuer);
        await person.signIn(user);
        await person.allow(codes.user_code);
        return async () => {
          // Simulates a wait of the device.
          await admin().query(`update device_authorizations set polled_at = polled_at - interval '1 hour'`);
          return answerOf(
            await post('token', { grant_type: grantTypeNames.device_code, device_code: codes.device_code }),
          );
        };
      },
    },
    {
      name: 'openid: device poll before the decision',
      again: 'anything',
      prepare: async () => {
        const { post } = await start({ grantTypes: ['device_code'] });
        const codes = (await (await post('device_authorization', {})).json()) as { device_code: string };
        return async () =>
          answerOf(
            await post('token', { grant_type: grantTypeNames.device_code, device_code: codes.device_code }),
            (body) => /authorization_pending|slow_down/.test(body),
          );
      },
    },
    {
      name: 'openid: revocation of a refresh token',
      again: 'succeeds',
      prepare: async () => {
        const { post, tokens } = await withRefresh();
        return async () => answerOf(await post('revoke', { token: tokens.refresh_token }));
      },
    },
    {
      name: 'openid: revocation of an access token',
      again: 'succeeds',
      prepare: async () => {
        const { post, tokens } = await withRefresh();
        return async () => answerOf(await post('revoke', { token: tokens.access_token }));
      },
    },
    {
      name: 'openid: logout with a hint and back-channel logout',
      again: 'succeeds',
      prepare: async () => {
        const { party, user } = await start({ backchannelLogoutUri: 'http://127.0.0.1:1/logout' }, true);
        const { id_token } = await party.tokens();
        const other = new RelyingParty(world.app, party.client);
        await other.signIn(user);
        await other.tokens();
        const cookies = new Map(party.browser.cookies);
        return async () => {
          for (const [name, value] of cookies) party.browser.cookies.set(name, value);
          const response = await party.endSession({ client_id: party.client.id, id_token_hint: id_token });
          return answerOf(response, (body) => response.status < 400 && !body.includes('<form'));
        };
      },
    },
    {
      name: 'openid: logout of one session',
      again: 'succeeds',
      prepare: async () => {
        const { party } = await start({ backchannelLogoutUri: 'http://127.0.0.1:1/logout' });
        const { id_token } = await party.tokens();
        const cookies = new Map(party.browser.cookies);
        return async () => {
          for (const [name, value] of cookies) party.browser.cookies.set(name, value);
          const response = await party.endSession({
            client_id: party.client.id,
            id_token_hint: id_token,
            logout_scope: 'session',
          });
          return answerOf(response, (body) => response.status < 400 && !body.includes('<form'));
        };
      },
    },
    {
      name: 'openid: consent',
      again: 'anything',
      prepare: async () => {
        const { party, client } = await start();
        await world.app.services.clients.update(client, { thirdParty: true }, system);
        const html = await (await party.browser.get(locationOf(await party.authorize()).href)).text();
        const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
        const action = /action="([^"]+)"/.exec(html)?.[1] ?? '';
        expect(action).not.toBe('');
        const form = { flow: field('flow'), csrf: field('csrf'), answer: 'allow' };
        return async () => {
          const noted = await party.browser.post(new URL(action, world.app.url).href, form);
          return answerOf(noted, () => noted.status === 303 && locationOf(noted).pathname.endsWith('/resume'));
        };
      },
    },
    {
      name: 'openid: replay of a code',
      again: 'anything',
      prepare: async () => {
        const { party } = await start({ grantTypes: ['refresh_token'] });
        const code = await party.code({ scope: 'openid offline_access' });
        await party.exchange(code);
        return async () => answerOf(await party.exchange(code), (body) => body.includes('invalid_grant'));
      },
    },
    {
      name: 'openid: replay of a refresh token',
      again: 'anything',
      prepare: async () => {
        const { post, tokens } = await withRefresh();
        const refresh = (token: string) => post('token', { grant_type: 'refresh_token', refresh_token: token });
        await refresh(tokens.refresh_token);
        world.app.clock.turn(60);
        return async () => answerOf(await refresh(tokens.refresh_token), (body) => body.includes('invalid_grant'));
      },
    },
    {
      name: 'openid: userinfo',
      again: 'succeeds',
      prepare: async () => {
        const { party, tokens } = await withRefresh();
        return async () => answerOf(await party.userInfo(tokens.access_token));
      },
    },
  ];
}
