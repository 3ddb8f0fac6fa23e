import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type SmtpStandIn, type StandInOptions, smtpStandIn } from '../../../test/smtp-stand-in.ts';
import type { Stage } from '../../domain/delivery/diagnosis.ts';
import { diagnoseSmtp } from './smtp-diagnosis.ts';

const mail = {
  isUrgent: true,
  id: 'the-id',
  to: 'ann@example.com',
  subject: 'Test message',
  text: 'It arrives.',
  html: '<p>It arrives.</p>',
};
const from = 'Acme <no-reply@acme.example>';
const short = { dns: 2_000, connect: 1_000, answer: 700, send: 3_000 };
let server: SmtpStandIn | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const summary = (stages: Stage[]) => stages.map(({ name, state }) => `${name} ${state}`);
const stageOf = (stages: Stage[], name: string) => stages.find((stage) => stage.name === name);

async function diagnose(options: StandInOptions, url = (at: SmtpStandIn) => at.url): Promise<Stage[]> {
  server = await smtpStandIn(options);
  return diagnoseSmtp(url(server), from, mail, short as never);
}

describe('a test of the mail server', () => {
  it('passes each stage and delivers, and reports an unencrypted connection', async () => {
    const stages = await diagnose({}, ({ port }) => `smtp://localhost:${port}`);
    expect(summary(stages)).toEqual(['dns passed', 'connect passed', 'tls skipped', 'sign-in skipped', 'send passed']);
    expect(stageOf(stages, 'dns')?.detail).toContain('127.0.0.1');
    expect(stageOf(stages, 'send')?.detail).toBe('250 queued');
    expect(server?.received).toMatchObject([{ from: 'no-reply@acme.example', to: ['ann@example.com'] }]);
    expect(server?.received[0]?.data).toContain('Subject: Test message');
  });

  it('stops at an unknown name', async () => {
    const stages = await diagnoseSmtp('smtp://nobody.invalid', from, mail, short as never);
    expect(summary(stages)).toEqual([
      'dns failed',
      'connect not-reached',
      'tls not-reached',
      'sign-in not-reached',
      'send not-reached',
    ]);
    expect(stageOf(stages, 'dns')?.advice).toBeTruthy();
  });

  it('stops at a closed port', async () => {
    const gone = await smtpStandIn();
    await gone.close();
    const stages = await diagnoseSmtp(gone.url, from, mail, short as never);
    expect(summary(stages).slice(0, 3)).toEqual(['dns skipped', 'connect failed', 'tls not-reached']);
    expect(stageOf(stages, 'connect')).toMatchObject({
      detail: expect.stringContaining('ECONNREFUSED'),
      advice: expect.stringContaining('Connection refused'),
    });
  });

  it('distinguishes a silent server from one that hangs up', async () => {
    const silent = await diagnose({ greeting: null });
    expect(summary(silent).slice(1, 3)).toEqual(['connect failed', 'tls not-reached']);
    expect(stageOf(silent, 'connect')?.advice).toContain('smtps://');
    const server: Server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const stages = await diagnoseSmtp(`smtp://127.0.0.1:${port}`, from, mail, short as never);
    await new Promise((resolve) => server.close(resolve));
    expect(stageOf(stages, 'connect')).toMatchObject({
      state: 'failed',
      advice: expect.stringContaining('closed the connection'),
    });
  });

  it('shows the response of a server that refuses', async () => {
    const stages = await diagnose({ greeting: '554 5.7.1 your address is on a list' });
    expect(stageOf(stages, 'connect')).toMatchObject({ state: 'failed', detail: expect.stringContaining('on a list') });
  });

  it.each(['start', 'first'] as const)('stops at a self-signed certificate (TLS %s)', async (tls) => {
    const stages = await diagnose({ tls });
    expect(summary(stages).slice(1)).toEqual([
      'connect passed',
      'tls failed',
      'sign-in not-reached',
      'send not-reached',
    ]);
    expect(stageOf(stages, 'tls')?.advice).toContain('authority');
    expect(server?.received).toEqual([]);
  });

  it('distinguishes plain-text ports from TLS ports', async () => {
    const stages = await diagnose({}, ({ port }) => `smtps://127.0.0.1:${port}`);
    expect(stageOf(stages, 'tls')).toMatchObject({ state: 'failed', advice: expect.stringContaining('smtp://') });
  });

  it('continues over TLS, and names the protocol', async () => {
    const stages = await diagnose({ tls: 'start' }, ({ url }) => `${url}/?tls.rejectUnauthorized=false`);
    expect(stageOf(stages, 'tls')).toMatchObject({ state: 'passed', detail: expect.stringMatching(/^TLSv1\.[23]$/) });
    expect(stageOf(stages, 'send')?.state).toBe('passed');
  });

  it('stops at a wrong password, and does not show it', async () => {
    const user = { name: 'acme', password: 'right-password' };
    const stages = await diagnose({ user }, ({ port }) => `smtp://acme:wrong-password@127.0.0.1:${port}`);
    expect(summary(stages).slice(3)).toEqual(['sign-in failed', 'send not-reached']);
    expect(stageOf(stages, 'sign-in')?.detail).toContain('535 5.7.8');
    expect(JSON.stringify(stages)).not.toContain('wrong-password');
    await server?.close();
    const well = await diagnose({ user }, ({ port }) => `smtp://acme:right-password@127.0.0.1:${port}`);
    expect(stageOf(well, 'sign-in')).toMatchObject({ state: 'passed', detail: 'as acme' });
  });

  it.each([
    ['MAIL', '553 5.7.1 not your address', 'MAIL_FROM'],
    ['RCPT', '550 5.1.1 no such user', 'rejected the recipient'],
    ['RCPT', '451 4.7.1 greylisted', 'retry later'],
    ['DATA', '554 5.6.0 no', 'rejected the message'],
    ['END', '554 5.7.1 looks like spam', 'rejected the message'],
  ] as const)('explains a refusal of %s (%s)', async (command, reply, advice) => {
    const stages = await diagnose({ replies: { [command]: reply } });
    expect(stageOf(stages, 'send')).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining(reply.slice(4)),
      advice: expect.stringContaining(advice),
    });
  });

  it('reports missing credentials if the server requires them', async () => {
    const stages = await diagnose({ user: { name: 'a', password: 'b' } });
    expect(stageOf(stages, 'send')?.advice).toContain('Add user name and password to SMTP_URL');
  });
});
