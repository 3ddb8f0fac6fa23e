/** Custom domains: the claim of a host, its loss, and the rows that end with it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildSibling } from '../../../test/build-app.ts';
import { DomainWorld } from '../../../test/custom-domain.ts';
import { rows } from '../../../test/rows.ts';
import { txtReader } from '../../adapters/dns/txt.ts';
import { everything } from '../admins/permission.ts';
import { system } from '../kernel/actor.ts';
import { problemOf } from '../kernel/problem.ts';
import { challengeName } from '../projects/dns-proof.ts';
import type { Project } from '../projects/project.entity.ts';
import { keyIn } from '../projects/tenant.ts';
import type { CustomDomain } from './custom-domain.entity.ts';
import { checkedHost } from './host-name.ts';

const day = 24 * 3600;
let world: DomainWorld;
let project: Project;
let other: Project;
let host: string;
let made = 0;

beforeAll(async () => {
  world = await DomainWorld.open();
});

afterAll(() => world.close());

beforeEach(async () => {
  [project, other] = [await world.app.make.project(), await world.app.make.project()];
  host = `login-${(made += 1)}.example.com`;
});

const servesFor = async (name = host) => {
  const issuer = await world.app.services.issuers.ofHost(name);
  return typeof issuer === 'string' || issuer === null ? issuer : issuer.project?.id;
};
const reload = async ({ id }: { id: string }, of = project) =>
  (await world.app.services.domains.list(world.app.services.db.reader(), of.id)).find((one) => one.id === id);
const eventsOf = async () => {
  const text = `select type from audit_events where project_id = ? and type like 'domain.%' order by id`;
  return (await rows<{ type: string }>(world.app.services.db, text, [project.id])).map(({ type }) => type);
};

describe('a host name', () => {
  const base = 'https://id.example.org';
  it.each([
    ['Login.Example.COM', 'login.example.com'],
    [' login.example.com. ', 'login.example.com'],
    ['anmeldung.bücher.example', 'anmeldung.xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['example.com', 'example.com'],
    ['customer.github.io', 'customer.github.io'],
    ['login.corp.internal', 'login.corp.internal'],
  ])('%s is %s', (typed, expected) => expect(checkedHost(typed, base)).toBe(expected));

  it.each([
    ...[
      '',
      'localhost',
      'login',
      '.',
      'login..example.com',
      '-login.example.com',
      'login_1.example.com',
      '*.example.com',
    ],
    ...['https://login.example.com', 'login.example.com:443', 'login.example.com/x', 'a@login.example.com', 'a b.com'],
    ...[
      '192.0.2.1',
      '0x7f.0.0.1',
      '127.1',
      '[::1]',
      '2001:db8::1',
      '1.2.3',
      'login.example.com%00',
      'login.example.com..',
    ],
    ...[
      'co.uk',
      'github.io',
      'com',
      'id.example.org',
      'ID.example.org.',
      `${'a'.repeat(64)}.com`,
      `${'a.'.repeat(118)}com`,
    ],
  ])('%s is refused', (typed) => {
    expect(() => checkedHost(typed, base)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ code: 'invalid', field: 'host' }) }),
    );
  });
});

describe('a claim', () => {
  it('has no effect until its record is found', async () => {
    const claim = await world.claim(project, host);
    expect(claim.challenge).toMatch(/^[\w-]{43}$/);
    expect(await servesFor()).toBeNull();
    expect(await world.check(claim)).toMatchObject({ state: 'pending', fault: 'missing' });
    world.dns.records.set(`_latchkey-challenge.${host}`, [
      'v=spf1 -all',
      `${claim.challenge} `,
      claim.challenge.slice(1),
    ]);
    expect(await world.check(claim)).toMatchObject({ state: 'pending', fault: 'missing' });
    world.publish(claim);
    expect(await world.check(claim)).toMatchObject({ state: 'verified', fault: null });
    world.app.clock.turn(11);
    expect(await servesFor()).toBe(project.id);
    expect(await servesFor(`${host.toUpperCase()}.:8080`)).toBe(project.id);
    expect(await eventsOf()).toEqual(['domain.added', 'domain.verified']);
  });

  it('is checked automatically for a week', async () => {
    const claim = await world.claim(project, host);
    await world.app.services.domains.checkDue();
    expect((await reload(claim))?.checkedAt).toBeNull();
    world.publish(claim);
    world.app.clock.turn(15 * 60);
    await Promise.all([world.app.services.domains.checkDue(), world.app.services.domains.checkDue()]);
    expect(world.dns.asked.filter((name) => name.endsWith(host))).toHaveLength(1);
    expect(await reload(claim)).toMatchObject({ state: 'verified' });
    const late = await world.claim(project, `late.${host}`);
    world.app.clock.turn(7 * day);
    await world.app.services.domains.checkDue();
    expect(await reload(late)).toMatchObject({ state: 'failed', fault: 'missing' });
    world.publish(late);
    expect(await world.check(late)).toMatchObject({ state: 'verified' });
  });

  it('of one project does not stop another, and the record decides', async () => {
    const [squatter, owner] = [await world.claim(other, host), await world.claim(project, host)];
    expect(squatter.challenge).not.toBe(owner.challenge);
    world.publish(owner);
    expect(await world.check(squatter)).toMatchObject({ state: 'pending', fault: 'missing' });
    expect(await world.check(owner)).toMatchObject({ state: 'verified' });
    expect(await servesFor()).toBe(project.id);
  });

  it('belongs to exactly one of many projects and processes that check concurrently', async () => {
    const projects = await Promise.all(Array.from({ length: 8 }, () => world.app.make.project()));
    const claims = await Promise.all(projects.map((one) => world.claim(one, host)));
    world.publish(...claims);
    const readTxt = txtReader({ servers: [world.dns.address] });
    const sibling = await buildSibling(world.app, world.app.url, { readTxt });
    const checked = await Promise.all(
      claims.flatMap(({ project: { id: owner }, id }) =>
        [world.app, sibling].map(({ services }) => services.domains.check(keyIn(owner, id), system)),
      ),
    );
    await sibling.close();
    const winners = new Set(checked.filter(({ state }) => state === 'verified').map((one) => one.project.id));
    expect([...winners]).toEqual([await servesFor()]);
    const states = await Promise.all(claims.map(async (claim, index) => (await reload(claim, projects[index]))?.state));
    expect(states.filter((state) => state === 'verified')).toHaveLength(1);
    const loser = checked.find((one) => !winners.has(one.project.id));
    expect(loser).toMatchObject({ state: 'pending', fault: 'taken' });
  });

  it('is refused as a duplicate, beyond five per project, and for the project of admins', async () => {
    await world.claim(project, host);
    expect(await problemOf(world.claim(project, host.toUpperCase()))).toMatchObject({ code: 'taken' });
    for (const n of [1, 2, 3, 4]) await world.claim(project, `${n}.${host}`);
    expect(await problemOf(world.claim(project, `5.${host}`))).toMatchObject({ code: 'invalid', field: 'projectId' });
    const { projects, seed, db } = world.app.services;
    await seed.create({ demo: false });
    const [console] = await rows<{ id: string }>(db, `select id from projects where built_in = 'console'`);
    const admins = (await projects.find(db.reader(), console?.id ?? '')) as Project;
    expect(await problemOf(world.claim(admins, host))).toMatchObject({ code: 'invalid', field: 'projectId' });
  });

  it('belongs to its project, and its checks are limited', async () => {
    const claim = await world.claim(project, host);
    const { domains } = world.app.services;
    expect(await problemOf(domains.check(keyIn(other.id, claim.id), system))).toMatchObject({ code: 'not-found' });
    expect(await problemOf(domains.remove(keyIn(other.id, claim.id), system))).toMatchObject({ code: 'not-found' });
    const before = world.dns.asked.length;
    for (let n = 0; n < 30; n += 1) await world.check(claim);
    expect(await problemOf(world.check(claim))).toMatchObject({ code: 'too-many' });
    expect(world.dns.asked.length - before).toBe(30);
  });
});

describe('a verified domain', () => {
  const pass = async (seconds: number) => {
    world.app.clock.turn(seconds);
    await world.app.services.domains.checkDue();
  };

  it('is lost three days after its record has vanished, and then free for others', async () => {
    const { domain } = await world.verified(project, host);
    await pass(6 * 3600);
    expect(await reload(domain)).toMatchObject({ state: 'verified', fault: null });
    world.unpublish(domain);
    await pass(6 * 3600);
    expect(await reload(domain)).toMatchObject({ state: 'verified', fault: 'missing' });
    const rival = await world.claim(other, host);
    world.publish(rival);
    expect(await world.check(rival)).toMatchObject({ state: 'pending', fault: 'taken' });
    await pass(2 * day);
    expect(await servesFor()).toBe(project.id);
    await pass(1 * day);
    expect(await reload(domain)).toMatchObject({ state: 'failed', fault: 'missing' });
    expect(await world.check(rival)).toMatchObject({ state: 'verified' });
    expect(await servesFor()).toBe(other.id);
    expect(await eventsOf()).toEqual(['domain.added', 'domain.verified', 'domain.missing', 'domain.lost']);
  });

  it('is kept if its record returns, or if name servers do not respond', async () => {
    const { domain } = await world.verified(project, host);
    world.unpublish(domain);
    await pass(6 * 3600);
    world.publish(domain);
    await pass(2 * day);
    expect(await reload(domain)).toMatchObject({ missingSince: null, fault: null });
    world.dns.mode = 'refuse';
    await pass(10 * day);
    expect(await reload(domain)).toMatchObject({ state: 'verified', fault: 'unavailable' });
    world.dns.mode = 'answer';
    expect(await servesFor()).toBe(project.id);
  });

  it('is lost after a week in which its name servers do not answer, and then free for others', async () => {
    const { domain } = await world.verified(project, host);
    const { domain: healthy } = await world.verified(other, `healthy-${host}`);
    world.dns.failing.add(challengeName(host));
    await pass(6 * 3600);
    expect(await reload(domain)).toMatchObject({ state: 'verified', fault: 'unavailable' });
    for (let days = 0; days < 6; days += 1) await pass(day);
    expect(await servesFor()).toBe(project.id);
    await pass(day);
    expect(await reload(domain)).toMatchObject({ state: 'failed', fault: 'unavailable' });
    expect(await servesFor()).toBe('released');
    expect(await eventsOf()).toEqual(['domain.added', 'domain.verified', 'domain.missing', 'domain.lost']);
    expect(await reload(healthy, other)).toMatchObject({ state: 'verified', fault: null });
    world.dns.failing.clear();
    const rival = await world.claim(other, host);
    world.publish(rival);
    expect(await world.check(rival)).toMatchObject({ state: 'verified' });
  });

  it('warns its admins by mail a day after its name servers stopped answering, and when it is lost', async () => {
    const { admins, db } = world.app.services;
    const recipient = `admin-of-${host}`.replace(/\.example\.com$/, '@example.com');
    const by = { grants: everything, actor: system };
    await admins.grantRole({ email: recipient, role: 'project_admin', projectId: project.id }, by);
    const mails = () =>
      rows<{ template: string; lane: number }>(
        db,
        `select template, lane from messages where recipient = ? and template like 'domain-%' order by created_at`,
        [recipient],
      );
    const { domain } = await world.verified(project, host);
    world.dns.failing.add(challengeName(host));
    await pass(day);
    const since = world.app.clock.now();
    const releaseAt = new Date(since.getTime() + 7 * day * 1000);
    const failing = (await reload(domain)) as CustomDomain;
    expect(failing).toMatchObject({ state: 'verified', unansweredSince: since });
    expect(world.app.services.domains.releaseAt(failing)).toEqual(releaseAt);
    expect(await mails()).toEqual([]);
    for (let days = 0; days < 6; days += 1) await pass(day);
    const security = 1;
    expect(await mails()).toEqual([{ template: 'domain-failing', lane: security }]);
    await pass(day);
    expect(await mails()).toEqual([
      { template: 'domain-failing', lane: security },
      { template: 'domain-lost', lane: security },
    ]);
    expect(world.app.services.domains.releaseAt((await reload(domain)) as CustomDomain)).toBeNull();
    world.dns.failing.clear();
  });

  it('warns again after its record was back, also if an admin starts the check', async () => {
    const { db } = world.app.services;
    const count = async () => {
      const text = `select count(*)::int as count from messages where template like 'domain-%'`;
      return (await rows<{ count: number }>(db, text))[0]?.count ?? 0;
    };
    const by = { grants: everything, actor: system };
    const role = { email: `twice-${host}`.replace('.example', '@example'), role: 'project_admin' } as const;
    await world.app.services.admins.grantRole({ ...role, projectId: project.id }, by);
    const { domain } = await world.verified(project, host);
    const before = await count();
    for (let times = 1; times <= 2; times += 1) {
      world.unpublish(domain);
      await pass(day);
      world.app.clock.turn(day);
      await world.check(domain);
      await world.check(domain);
      expect((await count()) - before).toBe(times);
      world.publish(domain);
      await world.check(domain);
    }
  });

  it('is checked after a clock that was ahead went back', async () => {
    const { domain } = await world.verified(project, host);
    world.app.clock.turn(400 * day);
    world.unpublish(domain);
    await world.app.services.domains.checkDue();
    expect(await reload(domain)).toMatchObject({ fault: 'missing' });
    world.app.clock.turn(-400 * day);
    await world.app.services.domains.checkDue();
    const { checkedAt, missingSince } = (await reload(domain)) as CustomDomain;
    expect([checkedAt, missingSince]).toEqual([world.app.clock.now(), world.app.clock.now()]);
    await pass(3 * day);
    expect(await reload(domain)).toMatchObject({ state: 'failed' });
  });

  it('restarts the week after an answer, and after an outage of our own resolver', async () => {
    const { domain } = await world.verified(project, host);
    world.dns.failing.add(challengeName(host));
    for (let days = 0; days < 6; days += 1) await pass(day);
    world.dns.failing.clear();
    await pass(day);
    expect(await reload(domain)).toMatchObject({ fault: null, unansweredSince: null });
    world.dns.failing.add(challengeName(host));
    for (let days = 0; days < 6; days += 1) await pass(day);
    world.dns.mode = 'refuse';
    for (let days = 0; days < 3; days += 1) await pass(day);
    world.dns.mode = 'answer';
    for (let days = 0; days < 6; days += 1) await pass(day);
    expect(await servesFor()).toBe(project.id);
    world.dns.failing.clear();
  });

  it('that is removed, or whose project is deleted, never serves the pages of the base host', async () => {
    const { domain } = await world.verified(project, host);
    await world.remove(domain);
    expect(await servesFor()).toBe('released');
    expect(await reload(domain)).toBeUndefined();
    await world.verified(other, host);
    expect(await servesFor()).toBe(other.id);
    await world.app.services.projects.delete(other.id, other.name, system);
    expect(await servesFor()).toBe('released');
    await world.verified(project, host);
    expect(await servesFor()).toBe(project.id);
  });

  it('that is removed leaves the others of its project', async () => {
    const { domain } = await world.verified(project, host);
    const kept = `kept.${host}`;
    await world.verified(project, kept);
    await world.remove(domain);
    expect([await servesFor(), await servesFor(kept)]).toEqual(['released', project.id]);
  });

  it('that another project has verified since cannot be released by the first', async () => {
    const { domain } = await world.verified(project, host);
    world.unpublish(domain);
    await pass(6 * 3600);
    await pass(3 * day);
    await world.verified(other, host);
    await world.remove(domain);
    expect(await servesFor()).toBe(other.id);
  });

  it('gets a certificate from Caddy, and no other name does', async () => {
    await world.verified(project, host);
    const { issuers } = world.app.services;
    expect(await issuers.serves(host.toUpperCase())).toBe(true);
    expect(await issuers.serves('127.0.0.1')).toBe(true);
    await world.claim(project, `pending.${host}`);
    for (const name of [`pending.${host}`, `x.${host}`, 'example.com', '', '10.0.0.1', `${host}:443:443`]) {
      expect(await issuers.serves(name)).toBe(false);
    }
  });
});
