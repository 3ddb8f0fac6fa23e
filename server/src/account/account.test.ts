import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CookieBrowser } from '../../test/browser.ts';
import type { TestApp } from '../../test/build-app.ts';
import { RelyingParty } from '../../test/relying-party.ts';
import type { DeviceKey } from '../../test/signin-browser.ts';
import { newAddress, otherCode, SigninWorld } from '../../test/signin-world.ts';
import { Device } from '../domain/devices/device.entity.ts';
import { system } from '../domain/kernel/actor.ts';
import { Enrolment } from '../domain/mfa/enrolment.entity.ts';
import { Session } from '../domain/sessions/session.entity.ts';
import { User } from '../domain/users/user.entity.ts';

let world: SigninWorld;
let app: TestApp;

beforeAll(async () => {
  world = await SigninWorld.open();
  app = world.app;
});
afterAll(() => app.close());
beforeEach(() => world.begin());

const reader = () => app.services.db.reader();

/** A browser of a user, at the page. */
class Visit {
  readonly browser = new CookieBrowser();
  readonly sessionId: string;
  private readonly projectId: string;

  private constructor(projectId: string, sessionId: string, secret: string) {
    this.projectId = projectId;
    this.sessionId = sessionId;
    this.browser.cookies.set(`lk-session-${projectId}`, secret);
  }

  static async of(user: User, amr = ['swk'], deviceId?: string): Promise<Visit> {
    const { clock, services } = app;
    const { project } = world;
    const signIn = { project, userId: user.id, deviceId, amr, authTime: clock.now(), actor: system };
    const { session, secret } = await services.db.transaction((em) => services.sessions.signIn(em, signIn));
    return new Visit(project.id, session.id, secret);
  }

  async page(query = ''): Promise<string> {
    return (await this.browser.get(`${app.url}/account${query}`)).text();
  }

  /** The token of the page's forms. */
  async csrf(): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec(await this.page())?.[1] ?? '';
  }

  async change(change: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
    const all = { change, project: this.projectId, csrf: await this.csrf(), ...fields };
    return this.browser.post(`${app.url}/account`, all, headers);
  }

  async isSignedIn(): Promise<boolean> {
    return !(await this.page()).includes('You are not signed in');
  }
}

/** Somebody with a registered browser: its key, its device, and a session that rests on it. */
async function somebody(): Promise<{ address: string; user: User; key: DeviceKey; device: Device; visit: Visit }> {
  const address = newAddress();
  const page = await world.page();
  await world.register(page, address);
  const user = (await world.findUser(address)) as User;
  const device = await reader().findOneOrFail(Device, { user: user.id });
  return { address, user, key: page.key, device, visit: await Visit.of(user, ['swk'], device.id) };
}

function giveFactor(user: User): Promise<Enrolment> {
  const { clock, services } = app;
  return services.db.transaction(async (em) => {
    const factor = await services.mfa.begin(em, { userId: user.id, deviceId: null, method: 'email', phone: null });
    factor.verifiedAt = clock.now();
    return factor;
  });
}

const isThere = async (factor: Enrolment) => (await reader().count(Enrolment, { id: factor.id })) === 1;
const locationOf = (response: Response) => response.headers.get('location') ?? '';

describe('/account', () => {
  it('bears the brand of its project', async () => {
    const { visit } = await somebody();
    const { experiences } = app.services;
    const texts = [{ locale: 'en', key: 'supportUrl', text: 'https://acme.example/help' }];
    const input = { displayName: 'Acme', accent: '#c81e3c', texts };
    await experiences.saveDraft({ projectId: world.project.id }, input, system);
    await experiences.publish({ projectId: world.project.id }, system);
    const html = await visit.page();
    expect(html).toContain('<strong>Acme</strong>');
    expect(html).toContain('/experience/accent/1/c81e3c.css');
    expect(html).toContain('<a href="https://acme.example/help" target="_blank" rel="noopener noreferrer">Help</a>');
  });

  it('shows a person who they are, their devices, sessions and second factors, and nobody else’s', async () => {
    const { address, user, visit } = await somebody();
    await giveFactor(user);
    const other = await somebody();
    const response = await visit.browser.get(`${app.url}/account`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'; frame-ancestors 'none'");
    const html = await response.text();
    for (const text of [address, 'This browser', 'Last used', 'Started', `${address[0]}…@example.com`]) {
      expect(html).toContain(text);
    }
    for (const text of [other.address, other.device.id, other.visit.sessionId]) expect(html).not.toContain(text);
    expect(html).not.toContain('undefined');
  });

  it.each([
    ['de', 'Geräte', 'Sitzungen'],
    ['es', 'Dispositivos', 'Sesiones'],
    ['fr', 'Appareils', 'Dernière activité'],
    ['ja', 'デバイス', 'セッション'],
  ])('speaks %s', async (language, ...texts) => {
    const { visit } = await somebody();
    const html = await (await visit.browser.get(`${app.url}/account`, { 'accept-language': language })).text();
    for (const text of texts) expect(html).toContain(text);
    expect(html).not.toMatch(/account\.\w|\{\w+\}/);
  });

  it('tells a stranger to sign in at an application, whatever the cookie or the address says', async () => {
    const stranger = new CookieBrowser();
    for (const query of ['', '?project=x', `?project=${world.project.id}`, '?project=a&project=b']) {
      expect(await (await stranger.get(`${app.url}/account${query}`)).text()).toContain('You are not signed in');
    }
    stranger.cookies.set(`lk-session-${world.project.id}`, 'x'.repeat(43));
    stranger.cookies.set('lk-session-x', 'x');
    expect(await (await stranger.get(`${app.url}/account`)).text()).toContain('You are not signed in');
    const response = await stranger.post(`${app.url}/account`, {
      change: 'end-other-sessions',
      project: world.project.id,
    });
    expect([response.status, locationOf(response)]).toEqual([303, `/account?project=${world.project.id}`]);
  });

  it('asks which one, where the browser holds sessions of several projects', async () => {
    const policy = { idleTimeoutSeconds: 24 * 3600 };
    world.project = await app.services.projects.updateSessionPolicy(world.project.id, policy, system);
    const { address, visit } = await somebody();
    const first = world.project;
    await world.begin({ name: 'Second' });
    const { browser } = (await somebody()).visit;
    for (const [name, secret] of browser.cookies) visit.browser.cookies.set(name, secret);
    const html = await visit.page();
    expect(html).toContain('Which account?');
    expect(html).toContain(`/account?project=${first.id}`);
    expect(await visit.page(`?project=${first.id}`)).toContain(address);
  });

  it('takes names for text', async () => {
    const { visit, device } = await somebody();
    await visit.change('rename-device', { id: device.id, name: '"><script>alert(1)</script>' });
    const html = await visit.page();
    expect(html).toContain('&lt;script&gt;alert(1)');
    expect(html).not.toContain('<script>alert');
  });
});

describe('a form', () => {
  it('does nothing without the token of its session, from another site, or for a change that there is not', async () => {
    const { user, visit } = await somebody();
    const elsewhere = await Visit.of(user);
    const foreign = await (await somebody()).visit.csrf();
    const bad: [string, Record<string, string>, Record<string, string>][] = [
      ['end-other-sessions', { csrf: '' }, {}],
      ['end-other-sessions', { csrf: 'x' }, {}],
      ['end-other-sessions', { csrf: foreign }, {}],
      ['end-other-sessions', { csrf: await elsewhere.csrf() }, {}],
      ['end-other-sessions', {}, { origin: 'https://evil.example' }],
      ['end-other-sessions', {}, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
      ['end-other-sessions', {}, { 'sec-fetch-site': 'same-site' }],
      ['toString', {}, {}],
      ['', {}, {}],
    ];
    for (const [change, fields, headers] of bad) {
      const response = await visit.change(change, fields, headers);
      expect([change, fields, headers, response.status]).toEqual([change, fields, headers, 403]);
      expect(await response.text()).toContain('Nothing was changed');
    }
    const json = await fetch(`${app.url}/account`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: [...visit.browser.cookies].map((c) => c.join('=')).join(),
      },
      body: JSON.stringify({ change: 'end-other-sessions', project: world.project.id, csrf: await visit.csrf() }),
    });
    expect(json.redirected ? new URL(json.url).pathname : json.status).toBe('/account');
    expect(await elsewhere.isSignedIn()).toBe(true);
    const fine = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect((await visit.change('end-other-sessions', {}, fine)).status).toBe(303);
    expect(await elsewhere.isSignedIn()).toBe(false);
  });
});

describe('a device', () => {
  it('is renamed by its user alone, to a name of 1 to 100 characters', async () => {
    const { visit, device } = await somebody();
    const other = await somebody();
    const nameOf = async () => (await reader().findOneOrFail(Device, device.id)).name;
    expect(locationOf(await visit.change('rename-device', { id: device.id, name: ' Kitchen ' }))).toContain('saved');
    expect(await nameOf()).toBe('Kitchen');
    for (const name of ['', '   ', 'x'.repeat(101)]) {
      expect(locationOf(await visit.change('rename-device', { id: device.id, name }))).toContain('notice=name');
    }
    await other.visit.change('rename-device', { id: device.id, name: 'Mine' });
    expect(await nameOf()).toBe('Kitchen');
    expect(await visit.page('?notice=name')).toContain('Enter a name');
    expect(await world.events()).toContain('device.renamed');
  });

  it('that is revoked cannot sign in by its proof any more, and its session ends', async () => {
    const { address, device, key, user, visit } = await somebody();
    const elsewhere = await Visit.of(user);
    expect(locationOf(await elsewhere.change('revoke-device', { id: device.id }))).toContain('saved');
    app.clock.turn(60);
    const page = await world.page(key);
    await page.challenge();
    expect((await page.step('authenticate', { userid: address }, 'use')).status).toBe('OTP_NEEDED');
    expect(await visit.isSignedIn()).toBe(false);
    expect((await reader().findOneOrFail(Session, visit.sessionId)).endReason).toBe('revoked');
    expect(await elsewhere.isSignedIn()).toBe(true);
    expect(await elsewhere.page()).not.toContain(device.id);
    // A second click on the same button finds it done.
    expect((await elsewhere.change('revoke-device', { id: device.id })).status).toBe(303);
    expect((await world.events()).filter((type) => type === 'device.revoked')).toHaveLength(1);
  });

  it('of this browser takes this browser’s session and its cookie with it', async () => {
    const { device, visit } = await somebody();
    await visit.change('revoke-device', { id: device.id });
    expect([...visit.browser.cookies.keys()]).toEqual([]);
    expect(await visit.isSignedIn()).toBe(false);
  });

  it('of somebody else, or of another project, stays as it is', async () => {
    const victim = await somebody();
    const attackers = [(await somebody()).visit];
    await world.begin();
    attackers.push((await somebody()).visit);
    for (const attacker of attackers) {
      for (const id of [victim.device.id, 'x', '']) {
        expect((await attacker.change('revoke-device', { id })).status).toBe(303);
      }
    }
    expect((await reader().findOneOrFail(Device, victim.device.id)).revokedAt).toBeNull();
  });
});

describe('a session', () => {
  it('is ended by its user alone; its relying parties are told', async () => {
    const { client } = await app.make.client(world.project, { backchannelLogoutUri: 'http://127.0.0.1:1/logout' });
    const { user, visit } = await somebody();
    const rp = new RelyingParty(app, client);
    const sid = await rp.signIn(user);
    await rp.tokens();
    const attacker = (await somebody()).visit;
    await attacker.change('end-session', { id: sid });
    expect(await rp.isSignedIn()).toBe(true);
    app.logoutTokens.length = 0;
    expect((await visit.change('end-session', { id: sid })).status).toBe(303);
    expect(await rp.isSignedIn()).toBe(false);
    expect((await visit.change('end-session', { id: sid })).status).toBe(303);
    for (const id of await app.services.logout.due()) await app.services.logout.deliver(id);
    const told = app.logoutTokens.map(({ token }) =>
      JSON.parse(atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/'))),
    );
    expect(told).toEqual([expect.objectContaining({ sub: user.id, sid, aud: client.id })]);
    expect((await world.events()).filter((type) => type === 'session.ended')).toHaveLength(1);
    expect(await visit.isSignedIn()).toBe(true);
  });

  it('of this browser ends by the button that signs out, and with it what its forms were good for', async () => {
    const { visit } = await somebody();
    const csrf = await visit.csrf();
    const cookies = [...visit.browser.cookies];
    await visit.change('end-session', { id: visit.sessionId });
    expect(visit.browser.cookies.size).toBe(0);
    for (const [name, value] of cookies) visit.browser.cookies.set(name, value);
    expect(await visit.isSignedIn()).toBe(false);
    const response = await visit.change('end-other-sessions', { csrf });
    expect(locationOf(response)).toBe(`/account?project=${world.project.id}`);
  });

  it('stays alone when all others are ended', async () => {
    const { user, visit } = await somebody();
    const others = [await Visit.of(user), await Visit.of(user)];
    const stranger = (await somebody()).visit;
    await visit.change('end-other-sessions');
    expect(await Promise.all(others.map((other) => other.isSignedIn()))).toEqual([false, false]);
    expect(await visit.isSignedIn()).toBe(true);
    expect(await stranger.isSignedIn()).toBe(true);
    expect(await visit.page()).not.toContain('Sign out everywhere else');
  });

  it('that was idle too long is neither shown nor let in', async () => {
    const { visit } = await somebody();
    app.clock.turn(world.project.idleTimeoutSeconds + 1);
    expect(await visit.isSignedIn()).toBe(false);
  });
});

describe('a second factor', () => {
  it('is removed after a fresh sign-in that has met one; the user is told by mail', async () => {
    const { address, user } = await somebody();
    const factor = await giveFactor(user);
    const visit = await Visit.of(user, ['swk', 'otp', 'mfa']);
    expect(await visit.page()).toContain('Remove this second step');
    expect(locationOf(await visit.change('remove-factor', { id: factor.id }))).toContain('saved');
    expect(await isThere(factor)).toBe(false);
    expect(await world.subjectsFor(address)).toContain('Second step changed for Example');
    expect(await world.events()).toContain('mfa.removed');
    expect((await visit.change('remove-factor', { id: factor.id })).status).toBe(303);
    expect((await world.events()).filter((type) => type === 'mfa.removed')).toHaveLength(1);
  });

  it('stays where the sign-in is older than five minutes, or has met none', async () => {
    const { user } = await somebody();
    const factor = await giveFactor(user);
    const old = await Visit.of(user, ['swk', 'otp', 'mfa']);
    app.clock.turn(5 * 60 + 1);
    for (const visit of [old, await Visit.of(user, ['swk', 'otp'])]) {
      expect(await visit.page()).toContain('prove once more that it is you');
      for (const change of ['remove-factor', 'renew-recovery-codes']) {
        const response = await visit.change(change, { id: factor.id });
        expect(response.status).toBe(403);
        expect(await response.text()).toContain('prove once more that it is you');
      }
    }
    expect(await isThere(factor)).toBe(true);
    expect(await app.services.mfa.recoveryCodes.left(reader(), user.id)).toBe(0);
  });

  it('of somebody else stays', async () => {
    const victim = await somebody();
    const factor = await giveFactor(victim.user);
    await (await somebody()).visit.change('remove-factor', { id: factor.id });
    expect(await isThere(factor)).toBe(true);
  });
});

describe('the phone number', () => {
  let serial = 0;
  const phone = () => `+4917066${String(++serial).padStart(5, '0')}`;
  const phoneOf = async (user: User) => (await reader().findOneOrFail(User, user.id)).phone ?? null;

  it('is changed once the new one has proved itself; the user hears of it by mail and at the old one', async () => {
    const { address, user, visit } = await somebody();
    expect(await visit.page()).toContain('Add a number');
    const [old, number] = [phone(), phone()];
    for (const to of [old, number]) {
      const before = await phoneOf(user);
      app.clock.turn(31);
      const asked = await visit.change('change-phone', { phone: ` ${to.slice(0, 6)} ${to.slice(6)} ` });
      expect([asked.status, locationOf(asked)]).toEqual([303, `/account?project=${world.project.id}`]);
      expect(await visit.page()).toContain(`…${to.slice(-4)}`);
      const code = await world.codeFor(to);
      const wrong = await visit.change('verify-phone', { code: otherCode(code) });
      expect(wrong.status).toBe(400);
      expect(await wrong.text()).toContain('This code is wrong');
      expect(await phoneOf(user)).toBe(before);
      expect(locationOf(await visit.change('verify-phone', { code: ` ${code}` }))).toContain('saved');
      expect(await phoneOf(user)).toBe(to);
    }
    expect((await visit.change('verify-phone', { code: '000000' })).status).toBe(400);
    expect(await world.subjectsFor(address)).toContain('Phone number changed for Example');
    expect(app.mailbox.filter(({ to, text }) => to === old && text.includes('was changed'))).toHaveLength(1);
    expect((await world.events()).filter((type) => type === 'user.phone_changed')).toHaveLength(2);
    expect(await visit.page()).not.toContain(number);
  });

  it('is changed by nobody whose sign-in is not fresh, or has met no factor where there is one', async () => {
    const { user, visit } = await somebody();
    const number = phone();
    await visit.change('change-phone', { phone: number });
    const code = await world.codeFor(number);
    await giveFactor(user);
    for (const change of ['change-phone', 'verify-phone']) {
      const response = await visit.change(change, { phone: number, code });
      expect([change, response.status]).toEqual([change, 403]);
      expect(await response.text()).toContain('prove once more that it is you');
    }
    expect(await phoneOf(user)).toBeNull();
  });

  it('is given up by the button, and its code is good in no other session', async () => {
    const { user, visit } = await somebody();
    const elsewhere = await Visit.of(user);
    const number = phone();
    await visit.change('change-phone', { phone: number });
    const code = await world.codeFor(number);
    expect((await elsewhere.change('verify-phone', { code })).status).toBe(400);
    expect((await visit.change('drop-phone')).status).toBe(303);
    expect((await visit.change('verify-phone', { code })).status).toBe(400);
    expect(await phoneOf(user)).toBeNull();
  });

  it('says what is wrong: no number, too soon, somebody else’s, the directory’s', async () => {
    const { user, visit } = await somebody();
    const tell = async (change: string, fields: Record<string, string>) => {
      const response = await visit.change(change, fields);
      return [response.status, await response.text()] as const;
    };
    expect(await tell('change-phone', { phone: '0170 1' })).toEqual([400, expect.stringContaining('country code')]);
    const taken = phone();
    await app.make.user(world.project, { phone: taken });
    await visit.change('change-phone', { phone: taken });
    expect(await tell('change-phone', { phone: phone() })).toEqual([429, expect.stringContaining('one too many')]);
    const code = await world.codeFor(taken);
    expect(await tell('verify-phone', { code })).toEqual([409, expect.stringContaining('Somebody else here')]);
    app.clock.turn(31);
    await app.services.db.transaction((em) =>
      em.execute("update users set provenance = 'scim' where id = ?", [user.id]),
    );
    const locked = expect.stringContaining('Your organization manages it');
    expect(await tell('change-phone', { phone: phone() })).toEqual([403, locked]);
    expect(await phoneOf(user)).toBeNull();
  });

  it('shows the code in test mode, and no way to change it where no text message can be sent', async () => {
    await world.begin({ testMode: true });
    const { senders } = app.services;
    const sms = senders.sms;
    senders.sms = null;
    try {
      const user = await app.make.user(world.project);
      const visit = await Visit.of(user);
      const page = await (await visit.change('change-phone', { phone: phone() })).text();
      const code = /the code is (\d{6})/.exec(page)?.[1] ?? '';
      expect((await visit.change('verify-phone', { code })).status).toBe(303);
      await world.set({ testMode: false });
      expect(await visit.page()).not.toContain('Change the number');
      expect((await visit.change('change-phone', { phone: phone() })).status).toBe(503);
    } finally {
      senders.sms = sms;
    }
  });
});

describe('recovery codes', () => {
  it('are ten new ones, shown once; those before are gone, and the user is told by mail', async () => {
    const { address, user } = await somebody();
    await giveFactor(user);
    const visit = await Visit.of(user, ['swk', 'otp', 'mfa']);
    const codesOf = async (response: Response) =>
      [...(await response.text()).matchAll(/<li>([\w-]{19})<\/li>/g)].map(([, code]) => code as string);
    const first = await codesOf(await visit.change('renew-recovery-codes'));
    const second = await codesOf(await visit.change('renew-recovery-codes'));
    expect(new Set([...first, ...second]).size).toBe(20);
    const page = await visit.page();
    expect(page).toContain('Left: 10');
    for (const code of second) expect(page).not.toContain(code);
    const { db, mfa } = app.services;
    const use = (code: string | undefined) => db.transaction((em) => mfa.recoveryCodes.use(em, user.id, code ?? ''));
    expect([await use(first[0]), await use(second[0])]).toEqual([false, true]);
    expect(await visit.page()).toContain('Left: 9');
    expect(await world.subjectsFor(address)).toContain('New recovery codes for Example');
    expect((await world.events()).filter((type) => type === 'mfa.recovery_codes_renewed')).toHaveLength(2);
    for (const code of [...first, ...second]) expect(app.logLines.join()).not.toContain(code);
  });
});
