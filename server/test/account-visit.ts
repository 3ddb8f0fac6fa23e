import { randomBytes } from 'node:crypto';
import { Device } from '../src/domain/credentials/device.entity.ts';
import type { Passkey } from '../src/domain/credentials/passkey.entity.ts';
import type { NewPasskey } from '../src/domain/credentials/webauthn.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Enrolment, MfaMethod } from '../src/domain/mfa/enrolment.entity.ts';
import type { User } from '../src/domain/users/user.entity.ts';
import { CookieBrowser, locationOf } from './browser.ts';
import { changed } from './rows.ts';
import { type DeviceKey, SigninPage, type StepAnswer } from './signin-browser.ts';
import { newAddress, type SigninWorld } from './signin-world.ts';

/** A user's browser on the account page. */
export class Visit {
  readonly browser = new CookieBrowser();
  readonly sessionId: string;
  private readonly url: string;
  private readonly projectId: string;

  constructor(url: string, projectId: string, session: { id: string; secret: string }) {
    this.url = url;
    this.projectId = projectId;
    this.sessionId = session.id;
    this.browser.cookies.set(`lk-session-${projectId}`, session.secret);
  }

  async page(query = ''): Promise<string> {
    return (await this.browser.get(`${this.url}/account${query}`)).text();
  }

  /** CSRF token of the page's forms. */
  async csrf(): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec(await this.page())?.[1] ?? '';
  }

  async change(change: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const all = { change, project: this.projectId, csrf: await this.csrf(), ...fields };
    return this.browser.post(`${this.url}/account`, all, headers);
  }

  async isSignedIn(): Promise<boolean> {
    return !(await this.page()).includes('You are not signed in');
  }
}

/** A user with a registered browser: its key, device and session. */
export interface RegisteredUser {
  address: string;
  user: User;
  key: DeviceKey;
  device: Device;
  visit: Visit;
}

/** A passkey that verified its user. Its key cannot sign. */
export function newPasskey(): NewPasskey {
  return {
    ...{
      credentialId: randomBytes(16).toString('base64url'),
      publicKey: 'pQECAyYg',
      alg: -7,
      transports: ['internal'],
    },
    ...{ aaguid: '00000000-0000-0000-0000-000000000000', attestedRoot: null, attestationFormat: 'none', signCount: 0 },
    ...{ backupEligible: true, backedUp: true, userVerified: true },
  };
}

/** Users of the world's current project. */
export function peopleOf(world: SigninWorld) {
  /** A visit with a fresh session, proved by a mail code or factor; `device-key`: by the device key alone. */
  async function visitOf(user: User, amr = ['swk'], deviceId?: string, by?: 'device-key'): Promise<Visit> {
    const { app, project } = world;
    const { clock, services } = app;
    const signIn = {
      project,
      userId: user.id,
      deviceId,
      amr,
      authTime: clock.now(),
      freshAt: by === 'device-key' ? undefined : clock.now(),
      actor: system,
    };
    const { session, secret } = await services.db.transaction((em) => services.sessions.signIn(em, signIn));
    return new Visit(app.url, project.id, { id: session.id, secret });
  }

  async function registeredUser(): Promise<RegisteredUser> {
    const address = newAddress();
    const page = await world.page();
    const user = await world.trusted(page, address);
    const device = await world.app.services.db.reader().findOneOrFail(Device, { user });
    return { address, user, key: page.key, device, visit: await visitOf(user, ['swk'], device.id) };
  }

  function giveFactor(user: User, method: MfaMethod = 'totp'): Promise<Enrolment> {
    const { clock, services } = world.app;
    return services.db.transaction(async (em) => {
      const phone = method === 'sms' ? (user.phone ?? '+41790000000') : null;
      const factor = await services.mfa.begin(em, { user, deviceId: null, method, phone });
      factor.verifiedAt = clock.now();
      return factor;
    });
  }

  /** Adds a passkey that verified its user. */
  function givePasskey(user: User): Promise<Passkey> {
    const { services } = world.app;
    const registration = { user, created: newPasskey(), createdBy: 'mail-code', actor: system } as const;
    return services.db.transaction((em) => services.passkeys.register(em, registration));
  }

  /**
   * The hosted page that a button of the account page opens. It uses this key, even if an application's page registered
   * it.
   */
  async function pageOf(visit: Visit, change: string, key: DeviceKey): Promise<SigninPage> {
    const { url, clock, services } = world.app;
    await changed(services.db, 'update credentials set hosted = true where jkt = ?', [key.jkt]);
    const to = locationOf(await visit.change(change));
    if (to.pathname !== '/signin') throw new Error(`${change} led to ${to.href}`);
    const cookie = [...visit.browser.cookies].map((pair) => pair.join('=')).join('; ');
    const credential = { origin: url, flow: to.searchParams.get('flow') ?? '', cookie };
    return new SigninPage(url, credential, key, () => Math.floor(clock.now().getTime() / 1000));
  }

  /** Follows the redirects after SUCCESS on the hosted page; returns their URLs. */
  async function afterwards(visit: Visit, done: StepAnswer): Promise<URL[]> {
    for (const line of done.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      visit.browser.cookies.set(name, value);
    }
    const confirmed = locationOf(await visit.browser.get(done['redirect_to']));
    return [confirmed, locationOf(await visit.browser.get(confirmed.href))];
  }

  return { visitOf, registeredUser, giveFactor, givePasskey, pageOf, afterwards };
}
