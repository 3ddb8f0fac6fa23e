import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { mailboxMail, mailboxSms } from '../../adapters/senders.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let project: Project;
let admin: Record<string, string>;

beforeAll(async () => {
  harness = await openAdminHarness({ senders: { mail: mailboxMail, sms: mailboxSms } });
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.clock.turn(3600);
  project = await harness.services.projects.create({ name: 'Acme' }, system);
  admin = await harness.tokenOf('project_admin', project.id);
});

const test = (input: object, headers = admin) =>
  harness.call(
    `mutation ($input: TestSenderInput!) { testSender(input: $input) {
       to passed stages { name state milliseconds detail advice } } }`,
    { input: { projectId: project.id, channel: 'MAIL', ...input } },
    headers,
  );
const log = (args = '', headers = admin) =>
  harness.call(
    `query ($p: ID!) { messages(projectId: $p ${args}) {
       edges { cursor node { id channel template recipient state attempts note sentAt } } pageInfo { hasNextPage } } }`,
    { p: project.id },
    headers,
  );
const nodes = (answer: Awaited<ReturnType<typeof log>>) =>
  answer.data.messages.edges.map(({ node }: { node: Record<string, unknown> }) => node);

async function signedInAdmin(email: string) {
  const userId = await harness.person(email);
  const by = { grants: { owner: true, projects: new Map(), organizations: new Map() }, actor: system };
  await harness.services.admins.grantRole({ email, role: 'project_admin', projectId: project.id }, by);
  return harness.sessionOf(userId);
}

describe('a test of a sender', () => {
  it('is sent to the calling admin, and is in the message log and the audit log only', async () => {
    const headers = await signedInAdmin(`${project.id}@example.com`);
    const answer = await test({}, headers);
    expect(answer.data.testSender).toMatchObject({
      to: `${project.id}@example.com`,
      passed: true,
      stages: [{ name: 'send', state: 'passed' }],
    });
    expect(nodes(await log())).toMatchObject([
      {
        template: 'TEST_MESSAGE',
        channel: 'MAIL',
        state: 'SENT',
        attempts: 1,
        recipient: expect.stringMatching(/^.…@example\.com$/),
      },
    ]);
    const events = await query(
      harness.services.db.reader(),
      sql<{ type: string; result: string }>`
        select type, result from audit_log where project_id = ${project.id} and type = 'sender.tested'`,
    );
    expect(events).toEqual([{ type: 'sender.tested', result: 'success' }]);
  });

  it('can be sent to others only by owners', async () => {
    const headers = await signedInAdmin(`own-${project.id}@example.com`);
    expect((await test({ to: 'other@example.com' }, headers)).code).toBe('forbidden');
    expect((await test({ to: 'other@example.com' })).code).toBe('forbidden');
    expect((await test({})).errors[0].extensions).toMatchObject({ code: 'invalid', field: 'to' });
    const owner = await harness.tokenOf('owner');
    expect((await test({ to: 'other@example.com' }, owner)).data.testSender.passed).toBe(true);
    for (const to of ['nobody', 'a@b.example, c@d.example', 'a@b.example\r\nBcc: c@d.example']) {
      expect((await test({ to }, owner)).code).toBe('invalid');
    }
    expect((await test({ to: '0170', channel: 'SMS' }, owner)).code).toBe('invalid');
    expect((await test({ to: '+12025550143', channel: 'SMS' }, owner)).data.testSender.passed).toBe(true);
    expect((await test({ to: '+12025550143', channel: 'SMS', template: 'NEW_DEVICE' }, owner)).code).toBe('invalid');
  });

  it('is rate-limited per admin, also for 40 concurrent requests', async () => {
    const headers = await signedInAdmin(`busy-${project.id}@example.com`);
    const answers = await Promise.all(Array.from({ length: 40 }, () => test({}, headers)));
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(6);
    expect(answers.filter(({ code }) => code === 'too-many')).toHaveLength(34);
    harness.clock.turn(601);
    expect((await test({}, headers)).code).toBeUndefined();
  });

  describe('by SMS', () => {
    const withPhone = async (phone: string) => {
      const email = `${phone.slice(1)}-${project.id}@example.com`;
      const headers = await signedInAdmin(email);
      const set = sql`update users set phone = ${phone} where email = ${email}`;
      await harness.services.db.transaction((em) => execute(em, set));
      return async () => (await test({ channel: 'SMS' }, headers)).code;
    };

    it('counts as an SMS of the project to this number', async () => {
      const send = await withPhone('+491701234567');
      const codes = [];
      for (let at = 0; at < 12; at += 1) {
        harness.clock.turn(1200);
        codes.push(await send());
      }
      expect(codes).toEqual([...Array(10).fill(undefined), 'too-many', 'too-many']);
    });

    it('is refused if the project does not send any', async () => {
      const { projects } = harness.services;
      expect(await (await withPhone('+881623456789'))()).toBe('phone-not-allowed');
      const send = await withPhone('+33612345678');
      await projects.update(project.id, { smsCountries: ['DE'] }, system);
      expect(await send()).toBe('phone-not-allowed');
      await projects.update(project.id, { smsCountries: [], smsPerDay: 0 }, system);
      expect(await send()).toBe('too-many');
    });
  });

  it('is sent with any template, in any language, with the project’s texts', async () => {
    const texts = [{ locale: 'fr', key: 'sign-in-code.subject', text: '{project} : {code}' }];
    await harness.services.experiences.saveDraft({ projectId: project.id }, { displayName: 'Ours', texts }, system);
    await harness.services.experiences.publish({ projectId: project.id }, system);
    const headers = await signedInAdmin(`fr-${project.id}@example.com`);
    await test({ template: 'SIGN_IN_CODE', locale: 'fr' }, headers);
    const { items } = await harness.services.delivery.mailbox({ first: 1, after: null });
    expect(items[0]).toMatchObject({ subject: 'Ours : 123456', to: `fr-${project.id}@example.com` });
    expect((await test({ locale: 'tlh' }, headers)).errors[0].extensions).toMatchObject({ field: 'locale' });
  });
});

describe('without a sender', () => {
  it('a test reports the missing sender, and is in the log as failed', async () => {
    const mute = await openAdminHarness();
    const { id } = await mute.services.projects.create({ name: 'Mute' }, system);
    const answer = await mute.call(
      'mutation ($input: TestSenderInput!) { testSender(input: $input) { passed stages { name state advice } } }',
      { input: { projectId: id, channel: 'MAIL', to: 'a@example.com' } },
    );
    expect(answer.data.testSender).toMatchObject({
      passed: false,
      stages: [{ name: 'settings', state: 'failed', advice: expect.stringContaining('SMTP_URL') }],
    });
    const senders = await mute.call('{ messageSenders { channel kind variables } }');
    expect(senders.data.messageSenders[0]).toEqual({
      channel: 'MAIL',
      kind: null,
      variables: ['SMTP_URL', 'MAIL_FROM'],
    });
    await mute.close();
  });
});

describe('the log of messages', () => {
  async function send(to: string, template: 'sign-in-code' | 'new-device') {
    const content =
      template === 'sign-in-code'
        ? { template, app: 'App', code: '987654', minutes: 5 }
        : { template, app: 'App', device: 'Secret device', at: harness.clock.now().toISOString() };
    const { db, delivery } = harness.services;
    await db.transaction((em) =>
      delivery.enqueue(em, {
        ...{ projectId: project.id, channel: 'mail', to, locale: 'en', content },
        context: { account: null, mailbox: to },
      }),
    );
  }

  it('shows the result of each message, with a masked recipient and without its text', async () => {
    await send('ann@example.com', 'sign-in-code');
    await send('bob@example.com', 'new-device');
    const answer = await log();
    expect(nodes(answer)).toMatchObject([
      { template: 'NEW_DEVICE', recipient: 'b…@example.com', state: 'PENDING' },
      { template: 'SIGN_IN_CODE', recipient: 'a…@example.com', state: 'PENDING' },
    ]);
    expect(answer.body).not.toMatch(/987654|Secret device|ann@|bob@/);
  });

  it('is filtered by kind, state, channel and whole address, page by page', async () => {
    for (const to of ['ann@example.com', 'bob@example.com', 'ann@example.com']) await send(to, 'sign-in-code');
    await send('ann@example.com', 'new-device');
    expect(nodes(await log(', template: NEW_DEVICE'))).toHaveLength(1);
    expect(nodes(await log(', state: FAILED'))).toEqual([]);
    expect(nodes(await log(', channel: SMS'))).toEqual([]);
    expect(nodes(await log(', recipient: " ANN@example.com "'))).toHaveLength(3);
    expect(nodes(await log(', recipient: "ann"'))).toEqual([]);
    const first = await log(', first: 3');
    expect(first.data.messages.pageInfo.hasNextPage).toBe(true);
    const cursor = first.data.messages.edges[2].cursor;
    expect(nodes(await log(`, first: 3, after: "${cursor}"`))).toHaveLength(1);
    expect((await log(`, after: "${cursor.slice(0, -2)}"`)).code).toBe('invalid');
  });

  it('shows nothing of another project', async () => {
    await send('ann@example.com', 'sign-in-code');
    const other = await harness.services.projects.create({ name: 'Other' }, system);
    const foreign = await harness.tokenOf('project_admin', other.id);
    expect((await log('', foreign)).code).toBe('not-found');
    project = other;
    expect(nodes(await log('', foreign))).toEqual([]);
  });
});

describe('a preview of a message', () => {
  const look = (args: string) =>
    harness.call(
      `query ($p: ID!) { messagePreview(projectId: $p, ${args}) { subject text sms } }`,
      { p: project.id },
      admin,
    );

  it('equals the message that the project sends, or would send with the draft', async () => {
    const texts = [{ locale: 'de', key: 'sign-in-code.intro', text: 'Willkommen bei {project}.' }];
    await harness.services.experiences.saveDraft({ projectId: project.id }, { texts }, system);
    const live = await look('template: SIGN_IN_CODE, locale: "de"');
    expect(live.data.messagePreview.text).toContain('Ihr Code für die Anmeldung');
    const draft = await look('template: SIGN_IN_CODE, locale: "de", draft: true');
    expect(draft.data.messagePreview.text).toContain('Willkommen bei Acme.');
    expect(draft.data.messagePreview.sms).toBeNull();
    expect((await look('template: FACTOR_CODE, locale: "ja"')).data.messagePreview.sms).toContain('123456');
    expect((await look('template: FACTOR_CODE, locale: "xx"')).code).toBe('invalid');
  });
});

it('reports no unexpected error', () => expect(harness.bugs).toEqual([]));
