import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapToken, buildTestApp } from '../../../test/build-app.ts';
import { adjustableClock } from '../../../test/clock.ts';
import { redirectUri } from '../../../test/factories.ts';
import { fetchHere } from '../../../test/fetch-here.ts';
import { newAddress, otherCode, SigninWorld } from '../../../test/signin-world.ts';
import { randomOn } from '../../adapters/system/random.ts';
import { everything } from '../../domain/admins/permission.ts';
import type { AuditEvent } from '../../domain/audit/audit-event.entity.ts';
import type { EventType } from '../../domain/audit/event-types.ts';
import { system } from '../../domain/kernel/actor.ts';
import { attemptsOf } from '../../domain/support/attempts.ts';
import {
  codeFaults,
  explanationOf,
  grantFaults,
  pageFaults,
  stepFaults,
  suppressions,
} from '../../domain/support/explanations.ts';
import { oauthErrors } from '../../domain/support/oauth-errors.ts';

const world = new SigninWorld();
beforeAll(async () => {
  const clock = adjustableClock();
  // A request id contains the time of its request.
  world.app = await buildTestApp(undefined, { clock, random: randomOn(clock) });
  await world.app.services.seed.create({ demo: false });
});
afterAll(() => world.app.close());
beforeEach(() => world.begin());

const source = `query ($project: ID!, $about: String) { signInHistory(projectId: $project, about: $about) {
  kind about user { id name } explanation { meaning }
  attempts { client { name } startedAt outcome steps {
    isOfRequest explanation { meaning remedy } event { type result detail subject { kind id name } } } } } }`;

async function ask(about: string | null, token = bootstrapToken, projectId = world.project.id): Promise<any> {
  const response = await fetchHere(`${world.app.url}/admin/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: source, variables: { project: projectId, about } }),
  });
  const { data, errors } = (await response.json()) as { data: any; errors?: any[] };
  return errors ? errors[0].extensions.code : data.signInHistory;
}

const typesOf = (history: any): string[][] =>
  history.attempts.map(({ steps }: any) => steps.map(({ event }: any) => event.type));

async function viewerOf(projectId: string): Promise<string> {
  const by = { grants: everything, actor: system };
  const token = { name: 'A viewer', role: 'project_viewer', projectId } as const;
  return (await world.app.services.admins.createToken(token, by)).token;
}

describe('Query.signInHistory', () => {
  it('shows requests, messages, entries and refusals, and the sign-in', async () => {
    const ada = newAddress();
    const page = await world.page();
    await page.challenge();
    await page.step('authenticate', { userid: ada });
    const otp = await world.codeFor(ada);
    await page.step('verify-email-otp', { userid: ada, otp: otherCode(otp) });
    // No account has the address yet: the refusal contains it masked, like the request.
    await page.step('verify-email-otp', { userid: ada, otp });
    await page.step('verify-device', { userid: ada }, 'registration');
    await page.challenge();
    await page.step('authenticate', { userid: ada }, 'use');
    const found = await ask(ada);
    const user = await world.findUser(ada);
    expect(found).toMatchObject({ kind: 'ADDRESS', user: { id: user?.id } });
    expect(found.attempts.map(({ outcome }: any) => outcome)).toEqual(['SIGNED_IN', 'SIGNED_IN']);
    expect(typesOf(found)).toEqual([['user.signed_in'], ['otp.verified', 'user.signed_in']]);
  });

  it('explains a refused code of a user, and finds each request that was counted', async () => {
    const { email } = await world.user();
    const page = await world.page();
    await page.challenge();
    await page.step('authenticate', { userid: email });
    const otp = await world.codeFor(email ?? '');
    const wrong: string[] = [];
    for (const plus of [1, 2, 3]) {
      const { headers } = await page.step('verify-email-otp', { userid: email, otp: otherCode(otp, plus) });
      wrong.push(headers.get('x-request-id') ?? '');
    }
    const found = await ask(` ${email?.toUpperCase()} `);
    expect(typesOf(found)).toEqual([['otp.requested', 'otp.sent', 'otp.rejected']]);
    expect(found.attempts[0]).toMatchObject({ outcome: 'REFUSED', client: { name: world.client.name } });
    expect(found.attempts[0].steps.at(-1)).toMatchObject({
      explanation: codeFaults.wrong,
      event: { detail: { count: 3, requestIds: wrong } },
    });
    for (const id of wrong) {
      const about = await ask(`Support code: ${id}`);
      expect(about).toMatchObject({ kind: 'REQUEST', about: id, user: { id: found.user.id } });
      expect(about.attempts[0].steps.map(({ isOfRequest }: any) => isOfRequest)).toEqual([false, false, true]);
    }
    expect(JSON.stringify(found)).not.toContain(otp);
  });

  it('keeps the refusals of two users behind one address apart', async () => {
    const [ada, grace] = [await world.user(), await world.user()];
    for (const { email } of [ada, grace]) {
      const page = await world.page();
      await page.challenge();
      await page.step('authenticate', { userid: email });
      const otp = await world.codeFor(email ?? '');
      await page.step('verify-email-otp', { userid: email, otp: otherCode(otp) });
    }
    for (const { id, email } of [ada, grace]) {
      const found = await ask(email ?? '');
      expect(found.user.id).toBe(id);
      expect(found.attempts[0].steps.at(-1).event).toMatchObject({ type: 'otp.rejected', detail: { count: 1 } });
    }
  });

  it('shows the latest refusals without a search: the last one of each sign-in, of this project alone', async () => {
    expect(await ask(null)).toMatchObject({ kind: 'LATEST', about: '', user: null, attempts: [] });
    const people = await Promise.all(Array.from({ length: 11 }, () => world.user()));
    for (const { email } of people) {
      const page = await world.page();
      await page.challenge();
      await page.step('authenticate', { userid: email });
      const otp = await world.codeFor(email ?? '');
      await page.step('verify-email-otp', { userid: email, otp: otherCode(otp) });
      await page.step('verify-device', { userid: email }, 'registration');
    }
    const found = await ask(null);
    expect(found.attempts).toHaveLength(10);
    const ids = found.attempts.map(({ steps }: any) => steps.at(-1).event.subject.id);
    expect(ids).toEqual(
      people
        .slice(1)
        .reverse()
        .map(({ id }) => id),
    );
    expect(typesOf(found)).toEqual(ids.map(() => ['signin.refused']));
    expect(found.attempts[0]).toMatchObject({ outcome: 'REFUSED', client: { name: world.client.name } });
    const other = await world.app.make.project({ name: 'Other' });
    expect(await ask(null, await viewerOf(other.id), other.id)).toMatchObject({ attempts: [] });
    expect(await ask(null, await viewerOf(other.id))).toBe('not-found');
  });

  it('shows a refusal of any step, and its reason', async () => {
    await world.set({ passkeyPolicy: 'required' });
    const { email, id } = await world.user();
    const page = await world.page();
    await page.challenge();
    const { error } = await page.step('authenticate', { userid: email });
    const found = await ask(error.request_id);
    expect(found).toMatchObject({ kind: 'REQUEST', user: { id } });
    expect(found.attempts[0].steps).toMatchObject([
      {
        explanation: stepFaults['passkey-required'],
        event: { type: 'signin.refused', detail: { step: 'authenticate' } },
      },
    ]);
  });

  it('reports a code that was not sent, and the reason', async () => {
    const { email } = await world.user({ active: false });
    const page = await world.page();
    await page.challenge();
    await page.step('authenticate', { userid: email });
    await world.app.runJobs();
    const found = await ask(email ?? '');
    expect(typesOf(found)).toEqual([['otp.requested', 'otp.suppressed']]);
    expect(found.attempts[0].steps[1].explanation).toEqual(suppressions['the user is not active']);
  });

  it('counts refusals in one event, even if one sign-in names many addresses', async () => {
    const page = await world.page();
    await page.challenge();
    const refused: string[] = [];
    for (let tries = 0; tries < 60; tries += 1) {
      const { error } = await page.step('authenticate', { userid: `ada@${tries}.example` });
      if (error) refused.push(error.request_id);
    }
    expect(refused.length).toBeGreaterThan(20);
    const { attempts } = await ask(refused.at(-1) as string);
    const [last] = attempts[0].steps.filter(({ isOfRequest }: any) => isOfRequest);
    expect(last.event).toMatchObject({ type: 'signin.refused', subject: null, detail: { count: refused.length } });
  });

  it('names no user for an ended sign-in: anyone can send any address', async () => {
    const { email } = await world.user();
    const page = await world.page();
    await page.challenge();
    page.txn = 'another';
    const { error } = await page.step('verify-email-otp', { userid: email, otp: '000000' });
    expect(await ask(email ?? '')).toMatchObject({ attempts: [] });
    const found = await ask(error.request_id);
    expect(found).toMatchObject({ user: null, attempts: [{ outcome: 'REFUSED' }] });
    expect(found.attempts[0].steps[0].event.subject).toBeNull();
  });

  it('finds refused requests of applications by request id and by OAuth error', async () => {
    const wrong = new URLSearchParams({ client_id: world.client.id, redirect_uri: `${redirectUri}/x` });
    const page = await fetchHere(`${world.app.url}/authorize?${wrong}`, { redirect: 'manual' });
    expect(await ask(page.headers.get('x-request-id') ?? '')).toMatchObject({
      attempts: [{ steps: [{ explanation: pageFaults['redirect-uri'] }] }],
    });
    const bare = new URLSearchParams({ client_id: world.client.id, redirect_uri: redirectUri, scope: 'openid' });
    await fetchHere(`${world.app.url}/authorize?${bare}`, { redirect: 'manual' });
    await world.exchange('unknown');
    const ofError = async (text: string) => {
      const found = await ask(text);
      return [found.about, found.attempts.map(({ steps }: any) => steps[0].explanation?.meaning)];
    };
    const shown = 'https://app.example.com/?error=invalid_request&error_description=x';
    expect(await ofError(shown)).toEqual(['invalid_request', ['response_type is missing.']]);
    expect(await ofError('{"error":"invalid_grant"}')).toEqual(['invalid_grant', [grantFaults.unknown.meaning]]);
  });

  it('answers for its own project only, to viewers too', async () => {
    const { email } = await world.user();
    const page = await world.page();
    await page.challenge();
    const { headers } = await page.step('authenticate', { userid: email });
    const requestId = headers.get('x-request-id') ?? '';
    const viewer = await viewerOf(world.project.id);
    expect((await ask(email ?? '', viewer)).attempts).toHaveLength(1);
    const other = await world.app.make.project();
    const stranger = await viewerOf(other.id);
    expect(await ask(email ?? '', stranger)).toBe('not-found');
    for (const about of [email ?? '', requestId]) {
      expect(await ask(about, stranger, other.id)).toMatchObject({ user: null, attempts: [] });
    }
    for (const about of ['', 'a'.repeat(2001), '\0']) expect(await ask(about, viewer)).toBe('invalid');
  });
});

describe('explanations', () => {
  const at = (type: string, detail: object) => explanationOf({ type, result: 'failure', detail: { ...detail } });

  it('exist for every refusal reason', () => {
    const texts = [
      ...Object.keys(codeFaults).map((fault) => at('otp.rejected', { fault })),
      ...Object.entries(stepFaults).flatMap(([fault, text]) => (text ? [at('signin.refused', { fault })] : [])),
      ...Object.keys(grantFaults).map((fault) => at('token.refused', { fault })),
      ...Object.keys(pageFaults).map((fault) => at('authorization.refused', { fault })),
      ...Object.keys(suppressions).map((reason) => at('otp.suppressed', { reason })),
      ...Object.values(oauthErrors),
      ...['mfa.rejected', 'passkey.rejected', 'device.proof_rejected', 'otp.failed', 'client.rejected'].map((type) =>
        at(type, { fault: 'new' }),
      ),
    ];
    for (const text of texts) {
      expect(text?.meaning).toMatch(/^[A-Z].*\.$/);
      expect(text?.remedy).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('attempts', () => {
  const minute = 60_000;
  const event = (n: number, type: EventType, minutes: number, values: Partial<AuditEvent> = {}): AuditEvent =>
    ({ id: String(n), type, at: new Date(minutes * minute), result: 'success', ...values }) as AuditEvent;

  it('are separated by application, time and sign-in', () => {
    const [one, two] = [{ clientId: 'one' }, { clientId: 'two' }];
    const found = attemptsOf([
      event(1, 'otp.requested', 0, one),
      event(2, 'otp.sent', 0),
      event(3, 'otp.requested', 1, two),
      event(4, 'user.signed_in', 2, one),
      event(5, 'token.issued', 2, one),
      event(6, 'otp.requested', 3, one),
      event(7, 'otp.rejected', 4, { ...one, result: 'failure' }),
      event(8, 'otp.requested', 40, one),
    ]);
    expect(found.map(({ outcome, steps }) => [outcome, steps.map(({ id }) => id).join()])).toEqual([
      ['unfinished', '8'],
      ['refused', '6,7'],
      ['unfinished', '3'],
      ['signed-in', '1,2,4,5'],
    ]);
  });

  it('are separated by the id of the sign-in; events without one join the attempt in progress', () => {
    const of = (signInId: string) => ({ clientId: 'one', detail: { signInId } });
    const found = attemptsOf([
      event(1, 'otp.requested', 0, of('a')),
      event(2, 'otp.requested', 1, of('b')),
      event(3, 'otp.sent', 1, { detail: { signInId: 'a' } }),
      event(4, 'otp.rejected', 2, { clientId: 'one', result: 'failure', detail: { count: 2 } }),
      event(5, 'user.signed_in', 3, of('a')),
      event(6, 'token.issued', 3, { clientId: 'one' }),
    ]);
    expect(found.map(({ outcome, steps }) => [outcome, steps.map(({ id }) => id).join()])).toEqual([
      ['refused', '2,4'],
      ['signed-in', '1,3,5,6'],
    ]);
  });
});
