/** Invitations to organizations: the mail, the page of its link, and the acceptance (decisions/0383). */
import { beforeEach, describe, expect, it } from 'vitest';
import { peopleOf } from '../../test/account-visit.ts';
import { CookieBrowser, locationOf } from '../../test/browser.ts';
import { rows } from '../../test/rows.ts';
import { expectStatus, newAddress, SigninWorld } from '../../test/signin-world.ts';
import { system } from '../domain/kernel/actor.ts';
import type { OrganizationInvitation } from '../domain/organizations/invitations/organization-invitation.entity.ts';
import type { Organization } from '../domain/organizations/organization.entity.ts';
import { keyIn } from '../domain/projects/tenant.ts';
import type { User } from '../domain/users/user.entity.ts';

const world = SigninWorld.ofTests({ organizationsEnabled: true });
const { visitOf } = peopleOf(world);
const day = 24 * 3600;
let organization: Organization;
let address: string;

const services = () => world.app.services;
const invitations = () => services().organizationInvitations;

beforeEach(async () => {
  await world.app.runJobs();
  await services().organizationRoles.create(world.project.id, { key: 'admin', name: 'Admin' }, system);
  organization = await services().organizations.create(world.project.id, { slug: 'globex', name: 'Globex' }, system);
  address = newAddress();
});

const invite = (email = address, more: object = {}) => invitations().invite(organization, { email, ...more }, system);

/** The last mail to an address, after the jobs. */
async function mailTo(to: string) {
  await world.app.runJobs();
  return world.app.mailbox.findLast((mail) => mail.to === to && mail.text.includes('/account/invitation'));
}
const linkIn = (text = '') => new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? 'http://none');
const linkTo = async (to = address) => linkIn((await mailTo(to))?.text);

async function open(link: URL, browser = new CookieBrowser()) {
  const answer = await browser.get(`${world.app.url}${link.pathname}${link.search}`);
  return { status: answer.status, text: await answer.text(), answer };
}

const members = async () =>
  rows<{ user_id: string; source: string; roles: string[] }>(
    services().db,
    `select m.user_id, m.source, to_json(array(select r.key from organization_membership_roles h join organization_roles r
        on r.project_id = h.project_id and r.id = h.role_id where h.project_id = m.project_id and h.membership_id = m.id)) as roles
      from organization_memberships m where m.project_id = ?`,
    [world.project.id],
  );
const eventsOf = async (type: string) =>
  rows<{ detail: object; subject_name: string }>(
    services().db,
    'select detail, subject_name from audit_log where project_id = ? and type = ?',
    [world.project.id, type],
  );
const existingUser = (email = address): Promise<User> =>
  world.app.make.user(world.project, { userName: email, userNameKey: email, email, emailKey: email });
/** A user with the address, at home in another organization. */
async function userOfOther() {
  const { db, organizations, users } = services();
  const other = await organizations.create(world.project.id, { slug: 'initech', name: 'Initech' }, system);
  const none = { externalId: null, displayName: null, givenName: null, familyName: null };
  const values = { userName: address, ...none, active: true, attributes: {} };
  const home = { projectId: world.project.id, organizationId: other.id };
  const { id } = await db.transaction((em) => users.create(em, home, values, 'local', system));
  return { other, user: (await users.find(db.reader(), world.project.id, id)) as User };
}

const accept = async (user: User, id: string) => (await visitOf(user)).change('accept-invitation', { id });

describe('an invitation', () => {
  it('of a new address explains itself, lets the address sign up where sign-up is closed, and is accepted with its roles', async () => {
    await world.set({ signUp: 'provisioned_only' });
    const { id } = await invite(address, { roleKeys: ['admin'] });
    const link = await linkTo();
    const page = await open(link);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Invitation to Globex');
    expect(page.text).toContain(`name="login_hint" value="${address}"`);
    // A scanner that opens the link accepts nothing.
    expect(await members()).toEqual([]);
    const signin = await world.page();
    await signin.challenge();
    expectStatus(await signin.step('authenticate', { userid: address }), 'OTP_NEEDED');
    const otp = await world.codeFor(address);
    expectStatus(await signin.step('verify-email-otp', { userid: address, otp }), 'SUCCESS');
    const user = (await world.findUser(address)) as User;
    const visit = await visitOf(user);
    expect(await visit.page()).toContain('Join Globex');
    expect((await visit.change('accept-invitation', { id })).status).toBe(303);
    expect(await members()).toEqual([{ user_id: user.id, source: 'invitation', roles: ['admin'] }]);
    expect(await visit.page()).not.toContain('Join Globex');
    expect((await open(link)).status).toBe(404);
    const [accepted] = await eventsOf('organization-invitation.accepted');
    expect(accepted).toMatchObject({ detail: { organizationId: organization.id, organization: 'Globex' } });
    expect(accepted?.subject_name).not.toContain(address.split('@')[0] as string);
  });

  it('does not open sign-up to another address', async () => {
    await world.set({ signUp: 'provisioned_only' });
    await invite();
    const other = newAddress();
    const signin = await world.page();
    await signin.challenge();
    expectStatus(await signin.step('authenticate', { userid: other }), 'OTP_NEEDED');
    await world.app.runJobs();
    expect(world.app.mailbox.some(({ to }) => to === other)).toBe(false);
  });

  it('opens no sign-up once it is revoked, expired, or its organization is suspended', async () => {
    await world.set({ signUp: 'provisioned_only' });
    const verdict = () =>
      services().db.transaction((em) => services().recipients.signUpOf(em, world.project.id, address));
    const { id } = await invite();
    expect(await verdict()).toBe('open');
    await services().organizations.update(organization, { state: 'suspended' }, system);
    expect(await verdict()).toBe('closed');
    await services().organizations.update(organization, { state: 'active' }, system);
    world.app.clock.turn(14 * day);
    expect(await verdict()).toBe('closed');
    await invitations().resend(keyIn(world.project.id, id), undefined, system);
    expect(await verdict()).toBe('open');
    await invitations().revoke(keyIn(world.project.id, id), system);
    expect(await verdict()).toBe('closed');
  });

  it('of an existing user is accepted after a sign-in; a signed-in browser is led to its account page', async () => {
    const user = await existingUser();
    const { id } = await invite(address.toUpperCase());
    const link = await linkTo(address.toUpperCase());
    const visit = await visitOf(user);
    const page = await open(link, visit.browser);
    expect(locationOf(page.answer).pathname).toBe('/account');
    await accept(user, id);
    expect(await members()).toMatchObject([{ user_id: user.id, roles: [] }]);
  });

  it('of another address is refused, and the page says whom it is for', async () => {
    const { id } = await invite();
    const link = await linkTo();
    const eve = await existingUser(newAddress());
    const visit = await visitOf(eve);
    const page = await open(link, visit.browser);
    expect(page.text).toContain(`This invitation is for ${address}`);
    expect(page.text).toContain(`You are signed in as ${eve.email}.`);
    expect((await open(link)).text).not.toContain('You are signed in as');
    expect(await visit.page()).not.toContain('Join Globex');
    await accept(eve, id);
    expect(await members()).toEqual([]);
    const user = await existingUser();
    await accept(user, id);
    expect(await members()).toHaveLength(1);
  });

  it('of an address that another organization gave to its user is refused, unless it has verified the domain', async () => {
    const { organizationDomains } = services();
    const { other, user } = await userOfOther();
    const { id } = await invite();
    const visit = await visitOf(user);
    expect(await visit.page()).not.toContain('Join Globex');
    await visit.change('accept-invitation', { id });
    expect(await members()).toMatchObject([{ source: 'admin' }]);
    const domain = await organizationDomains.add(other, address.split('@')[1] ?? '', system);
    await organizationDomains.verify(domain, 'Test', system);
    expect(await visit.page()).toContain('Join Globex');
    await visit.change('accept-invitation', { id });
    expect((await members()).map(({ source }) => source).sort()).toEqual(['admin', 'invitation']);
  });

  it('stays when a user with its address at home in another organization is erased', async () => {
    const { user } = await userOfOther();
    await invite();
    const link = await linkTo();
    await services().accounts.remove(world.project.id, user.id, system);
    expect((await open(link)).status).toBe(200);
  });

  it('creates one membership, however often it is accepted at once', async () => {
    const user = await existingUser();
    const { id } = await invite();
    const visit = await visitOf(user);
    const csrf = await visit.csrf();
    const fields = { change: 'accept-invitation', project: world.project.id, csrf, id };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => visit.browser.post(`${world.app.url}/account`, fields)),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await members()).toHaveLength(1);
    expect(await eventsOf('organization-invitation.accepted')).toHaveLength(1);
    expect(await eventsOf('organization-membership.created')).toHaveLength(1);
  });

  it.each<[string, (key: OrganizationInvitation) => Promise<unknown>]>([
    ['revoked', (key) => invitations().revoke(key, system)],
    ['expired', async () => world.app.clock.turn(14 * day)],
    ['replaced', () => invite()],
    ['resent', (key) => invitations().resend(key, undefined, system)],
    [
      'of a suspended organization',
      () => services().organizations.update(organization, { state: 'suspended' }, system),
    ],
    ['of a deleted organization', () => services().organizationEnds.delete(organization, null, system)],
    ['of a project without organizations', () => world.set({ organizationsEnabled: false })],
  ])('that is %s has a link that shows nothing', async (how, end) => {
    const user = await existingUser();
    const invitation = await invite();
    const link = await linkTo();
    await end(invitation);
    const page = await open(link);
    expect([page.status, page.text.includes('Globex')]).toEqual([404, false]);
    expect(page.text).toContain('This invitation is not valid');
    expect(page.text).toContain(`href="/account?project=${world.project.id}"`);
    if (how === 'replaced' || how === 'resent') return expect((await open(await linkTo())).status).toBe(200);
    await accept(user, invitation.id);
    expect(await members()).toEqual([]);
  });

  it('has a link of its own project only, whose secret is not stored', async () => {
    const invitation = await invite();
    const link = await linkTo();
    const secret = link.searchParams.get('invitation') ?? '';
    const stored = await rows(services().db, 'select to_jsonb(i) as row from organization_invitations i');
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(JSON.stringify(invitation)).not.toContain(secret);
    const other = await world.app.make.project({ name: 'Other', organizationsEnabled: true });
    link.searchParams.set('project', other.id);
    expect((await open(link)).status).toBe(404);
    link.searchParams.set('project', 'none');
    expect((await open(link)).status).toBe(404);
  });

  it('is in the language of the user, or else the one that the admin chose', async () => {
    await invite(address, { locale: 'de' });
    expect((await mailTo(address))?.text).toContain('eingeladen');
    const french = newAddress();
    const names = { userName: french, userNameKey: french, email: french, emailKey: french };
    await world.app.make.user(world.project, { ...names, attributes: { locale: 'fr' } });
    await invite(french, { locale: 'de' });
    expect((await mailTo(french))?.text).toContain('invite à rejoindre');
  });

  it('is refused for a member, a malformed address, and without organizations or an active one', async () => {
    const user = await existingUser();
    await services().memberships.add(organization, { userId: user.id }, system);
    await expect(invite()).rejects.toMatchObject({ problem: { code: 'taken', field: 'email' } });
    await expect(invite('no address')).rejects.toMatchObject({ problem: { code: 'invalid', field: 'email' } });
    await expect(invite(newAddress(), { roleKeys: ['none'] })).rejects.toMatchObject({
      problem: { code: 'not-found', what: 'organization-role' },
    });
    await services().organizations.update(organization, { state: 'suspended' }, system);
    await expect(invite(newAddress())).rejects.toMatchObject({ problem: { code: 'invalid', field: 'organizationId' } });
    await services().organizations.update(organization, { state: 'active' }, system);
    await world.set({ organizationsEnabled: false });
    await expect(invite(newAddress())).rejects.toMatchObject({ problem: { code: 'invalid', field: 'organizationId' } });
  });

  it('is limited to five mails a day for an address, and swept 90 days after its end', async () => {
    for (let n = 0; n < 5; n += 1) await invite();
    await expect(invite()).rejects.toMatchObject({ problem: { code: 'too-many' } });
    expect(await eventsOf('organization-invitation.sent')).toHaveLength(5);
    const count = async () =>
      (await rows(services().db, 'select 1 from organization_invitations where project_id = ?', [world.project.id]))
        .length;
    expect(await count()).toBe(1);
    world.app.clock.turn(103 * day);
    await invitations().sweep();
    expect(await count()).toBe(1);
    world.app.clock.turn(2 * day);
    await invitations().sweep();
    expect(await count()).toBe(0);
  });
});
