/** Mail domains of organizations (decisions/0396): the proof, its loss, and refused names. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling, buildTestApp, type TestApp } from '../../../../test/build-app.ts';
import { DnsServer } from '../../../../test/dns-server.ts';
import { type Place, Places } from '../../../../test/organizations.ts';
import { rows } from '../../../../test/rows.ts';
import { txtReader } from '../../../adapters/dns/txt.ts';
import { system } from '../../kernel/actor.ts';
import { problemOf } from '../../kernel/problem.ts';
import { challengeName } from '../../projects/dns-proof.ts';
import type { Project } from '../../projects/project.entity.ts';
import { keyIn } from '../../projects/tenant.ts';
import { domainOfAddress } from '../../users/login.ts';
import type { OrganizationDomain } from '../organization-domain.entity.ts';
import { checkedOrganizationDomain } from './mail-domain.ts';
import { domainsOf } from './organization-domains.ts';

const day = 24 * 3600;
let dns: DnsServer;
let app: TestApp;
let project: Project;
let [acme, globex]: Place[] = [];
let name: string;
let made = 0;

beforeAll(async () => {
  dns = await DnsServer.open();
  app = await buildTestApp(undefined, { readTxt: txtReader({ servers: [dns.address] }) });
});
afterAll(async () => {
  await app.close();
  dns.close();
});

beforeEach(async () => {
  project = await app.make.project();
  const places = new Places(app, project);
  [acme, globex] = [await places.organization('acme'), await places.organization('globex')];
  name = `mail-${(made += 1)}.example.com`;
});

const domains = () => app.services.organizationDomains;
const keyOf = (place: Place | undefined, of = project) => keyIn(of.id, place?.id ?? '');
const add = (place: Place | undefined, domain = name) => domains().add(keyOf(place), domain, system);
const check = (domain: OrganizationDomain) => domains().check(domain, system);
const publish = (...all: OrganizationDomain[]) => {
  for (const { domain } of all) {
    const same = all.filter((one) => one.domain === domain);
    dns.records.set(
      challengeName(domain),
      same.map(({ challenge }) => challenge),
    );
  }
};
const proved = async (place: Place | undefined, domain = name) => {
  const added = await add(place, domain);
  publish(added);
  return check(added);
};
const stateOf = async ({ id }: OrganizationDomain) => {
  const all = await domainsOf(app.services.db.reader(), [keyOf(acme), keyOf(globex)]);
  return all.find((one) => one.id === id);
};
const events = async () => {
  const text = `select type, detail ->> 'organizationId' as o from audit_log
    where project_id = ? and type like 'organization-domain.%' order by id`;
  return (await rows<{ type: string }>(app.services.db, text, [project.id])).map(({ type }) => type.split('.')[1]);
};
const pass = async (seconds: number) => {
  app.clock.turn(seconds);
  await domains().checkDue();
};

describe('a mail domain', () => {
  it.each([
    ['Example.COM', 'example.com'],
    [' example.com. ', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['eu.corp.internal', 'eu.corp.internal'],
  ])('%s is %s', (typed, expected) => expect(checkedOrganizationDomain(typed)).toBe(expected));

  it.each([
    ...[
      '',
      'localhost',
      'example',
      '@example.com',
      'ada@example.com',
      'https://example.com',
      '192.0.2.1',
      '*.example.com',
    ],
    ...['com', 'co.uk', 'github.io'],
    ...['gmail.com', 'GMX.de', 'mail.gmail.com', 'yahoo.co.jp', 'icloud.com', 'qq.com', 'mailinator.com'],
  ])('%s is refused', (typed) => {
    expect(() => checkedOrganizationDomain(typed)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ code: 'invalid', field: 'domain' }) }),
    );
  });

  it.each([
    ['Ada@Example.com', 'example.com'],
    ['ada@bücher.example', 'xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['ada', 'ada'],
  ])('of %s is %s', (address, expected) => expect(domainOfAddress(address)).toBe(expected));
});

describe('the proof', () => {
  it('is the TXT record, also in the periodic check; each change is an event of the organization', async () => {
    const added = await add(acme);
    expect(added).toMatchObject({ domain: name, state: 'pending', provedBy: undefined });
    expect(await check(added)).toMatchObject({ state: 'pending', fault: 'missing' });
    dns.records.set(challengeName(name), [added.challenge.slice(1), `${added.challenge} `]);
    expect(await check(added)).toMatchObject({ state: 'pending', fault: 'missing' });
    publish(added);
    await pass(15 * 60);
    expect(await stateOf(added)).toMatchObject({ state: 'verified', provedBy: 'dns', fault: null });
    await domains().remove(added, system);
    expect(await stateOf(added)).toBeUndefined();
    expect(await events()).toEqual(['added', 'verified', 'removed']);
  });

  it('is looked for automatically for a week', async () => {
    const added = await add(acme);
    app.clock.turn(7 * day);
    const before = dns.asked.length;
    await domains().checkDue();
    expect(dns.asked.slice(before)).not.toContain(challengeName(name));
    publish(added);
    expect(await check(added)).toMatchObject({ state: 'verified' });
  });

  it('can be the word of an admin, with a reason; the domain is not checked again', async () => {
    const added = await add(acme);
    for (const reason of ['', '  ', 'a\nb', 'x'.repeat(501)]) {
      expect(await problemOf(domains().verify(added, reason, system))).toMatchObject({
        code: 'invalid',
        field: 'reason',
      });
    }
    const verified = await domains().verify(added, ' Contract 17 ', system);
    expect(verified).toMatchObject({ state: 'verified', provedBy: 'admin', reason: 'Contract 17' });
    for (const days of [1, 4, 8]) await pass(days * day);
    expect(await stateOf(added)).toMatchObject({ state: 'verified', checkedAt: null });
    expect(await check(added)).toMatchObject({ state: 'verified', fault: 'missing', failingSince: null });
    publish(added);
    expect(await check(added)).toMatchObject({ state: 'verified', provedBy: 'dns', reason: null, fault: null });
    expect(await events()).toEqual(['added', 'verified']);
  });

  it('is limited to 30 checks of an organization in ten minutes', async () => {
    const added = await add(acme);
    for (let count = 0; count < 30; count += 1) await check(added);
    expect(await problemOf(check(added))).toMatchObject({ code: 'too-many' });
    expect(await check(await add(globex))).toMatchObject({ fault: 'missing' });
  });

  it('of another project and of an unknown domain is not found', async () => {
    const added = await add(acme);
    const other = await app.make.project();
    for (const call of [
      () => domains().check(keyIn(other.id, added.id), system),
      () => domains().verify(keyIn(other.id, added.id), 'X', system),
      () => domains().remove(keyIn(other.id, added.id), system),
      () => domains().check(keyIn(project.id, 'x'), system),
      () => domains().add(keyIn(other.id, acme?.id ?? ''), name, system),
    ]) {
      expect(await problemOf(call())).toMatchObject({ code: 'not-found' });
    }
  });
});

describe('a verified domain', () => {
  it('belongs to one organization of the project, of two that prove it at once in two processes', async () => {
    const [ours, theirs] = [await add(acme), await add(globex)];
    publish(ours, theirs);
    const sibling = await buildSibling(app, app.url, { readTxt: txtReader({ servers: [dns.address] }) });
    await Promise.all([check(ours), sibling.services.organizationDomains.check(theirs, system)]);
    await sibling.close();
    const states = [await stateOf(ours), await stateOf(theirs)];
    expect(states.map((one) => one?.state).toSorted()).toEqual(['pending', 'verified']);
    const loser = states.find((one) => one?.state === 'pending') as OrganizationDomain;
    expect(loser).toMatchObject({ fault: 'taken', verifiedAt: null });
    expect(await problemOf(domains().verify(loser, 'We are theirs', system))).toMatchObject({ code: 'taken' });
    expect((await events()).filter((type) => type === 'verified')).toHaveLength(1);
    // Another project has its own.
    const other = await app.make.project();
    const place = await new Places(app, other).organization('acme');
    const elsewhere = await domains().add(keyOf(place, other), name, system);
    publish(ours, theirs, elsewhere);
    expect(await check(elsewhere)).toMatchObject({ state: 'verified' });
  });

  it('cannot be added by another organization, nor a domain below it', async () => {
    await proved(acme);
    for (const domain of [name, `eu.${name}`, `a.b.${name}`]) {
      expect(await problemOf(add(globex, domain))).toMatchObject({ code: 'taken', field: 'domain' });
    }
    expect(await proved(acme, `eu.${name}`)).toMatchObject({ state: 'verified' });
    expect(await problemOf(add(acme))).toMatchObject({ code: 'taken', field: 'domain' });
    expect(await proved(globex, `x${name}`)).toMatchObject({ state: 'verified' });
  });

  it('refuses one below it that was added before', async () => {
    const below = await add(globex, `eu.${name}`);
    await proved(acme);
    publish(below);
    expect(await check(below)).toMatchObject({ state: 'pending', fault: 'taken' });
  });

  it('that is lost takes the login addresses that no person has used', async () => {
    const domain = await proved(acme);
    const home = { projectId: project.id, organizationId: acme?.id ?? null };
    const values = {
      externalId: null,
      displayName: null,
      givenName: null,
      familyName: null,
      active: true,
      attributes: {},
    };
    const user = { userName: `ada@${name}`, ...values };
    const { id } = await app.services.admissions.provision(home, user, { kind: 'scim' });
    const email = async () => (await app.services.accounts.find(project.id, id))?.email;
    expect(await email()).toBe(user.userName);
    dns.records.delete(challengeName(name));
    await pass(day);
    await pass(2 * day);
    expect(await email()).toBe(user.userName);
    await pass(day);
    expect([(await stateOf(domain))?.state, await email()]).toEqual(['pending', null]);
    publish(domain);
    await check(domain);
    expect(await email()).toBe(user.userName);
  });

  it('is lost after three days without its record, and then free', async () => {
    const domain = await proved(acme);
    dns.records.delete(challengeName(name));
    await pass(6 * 3600);
    expect(await stateOf(domain)).toMatchObject({ state: 'verified', fault: 'missing' });
    await pass(2 * day);
    expect(await stateOf(domain)).toMatchObject({ state: 'verified' });
    await pass(day);
    expect(await stateOf(domain)).toMatchObject({
      state: 'pending',
      provedBy: null,
      verifiedAt: null,
      failingSince: null,
    });
    expect(await events()).toEqual(['added', 'verified', 'missing', 'lost']);
    expect(await proved(globex)).toMatchObject({ state: 'verified' });
  });

  it('is kept if its record comes back, and for a week without an answer', async () => {
    const domain = await proved(acme);
    dns.records.delete(challengeName(name));
    await pass(6 * 3600);
    publish(domain);
    await pass(2 * day);
    expect(await stateOf(domain)).toMatchObject({ state: 'verified', fault: null, failingSince: null });
    dns.failing.add(challengeName(name));
    await pass(6 * 3600);
    await pass(6 * day);
    expect(await stateOf(domain)).toMatchObject({ state: 'verified', fault: 'unavailable' });
    await pass(day);
    expect(await stateOf(domain)).toMatchObject({ state: 'pending' });
    dns.failing.delete(challengeName(name));
  });

  it('is kept while no name server answers at all', async () => {
    const domain = await proved(acme);
    for (const one of [challengeName(name), 'example.com']) dns.failing.add(one);
    for (let days = 0; days < 9; days += 1) await pass(day);
    expect(await stateOf(domain)).toMatchObject({ state: 'verified', fault: 'unavailable', failingSince: null });
    for (const one of [challengeName(name), 'example.com']) dns.failing.delete(one);
  });

  it('is one of at most 50 of its organization', async () => {
    for (let count = 0; count < 50; count += 1) await add(acme, `n${count}.${name}`);
    expect(await problemOf(add(acme))).toMatchObject({ code: 'invalid', field: 'organizationId' });
    expect(await domainsOf(app.services.db.reader(), [keyOf(acme)])).toHaveLength(50);
  });
});
