import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SmtpStandIn, smtpStandIn } from '../../../test/smtp-stand-in.ts';
import type { OutgoingMail } from '../../domain/delivery/sender.ts';
import { type SmtpSender, smtpSender } from './smtp.ts';

let server: SmtpStandIn;
let sender: SmtpSender;
const mail: OutgoingMail = {
  id: 'the-id',
  to: 'ann@example.com',
  subject: '012345 is your code',
  text: 'Your code:\n\n012345',
  html: '<p>012345</p>',
  isUrgent: true,
};

beforeEach(async () => {
  server = await smtpStandIn();
  sender = smtpSender({ url: server.url, from: 'Acme <no-reply@acme.example>' });
});
afterEach(async () => {
  sender.close();
  await server.close();
});

describe('mail by SMTP', () => {
  it('is sent only to its recipient, in text and HTML, marked as automatic', async () => {
    await sender.send(mail);
    const [received] = server.received;
    expect(received).toMatchObject({ from: 'no-reply@acme.example', to: ['ann@example.com'] });
    expect(received?.data).toMatch(/^From: Acme <no-reply@acme\.example>$/m);
    expect(received?.data).toMatch(/^Subject: 012345 is your code$/m);
    expect(received?.data).toMatch(/^Message-ID: <the-id@acme\.example>$/im);
    expect(received?.data).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(received?.data).toMatch(/text\/plain/);
    expect(received?.data).toMatch(/text\/html/);
  });

  it('treats an address with a comma or line break as one address, or refuses it', async () => {
    for (const to of ['ann@example.com, eve@evil.example', 'ann@example.com\r\nRCPT TO:<eve@evil.example>']) {
      await sender.send({ ...mail, to }).catch(() => undefined);
    }
    expect(server.received.flatMap(({ to }) => to)).not.toContain('eve@evil.example');
  });

  it('keeps a name from becoming a header', async () => {
    await sender.send({ ...mail, subject: 'a\r\nBcc: eve@evil.example' });
    expect(server.received[0]?.data).not.toMatch(/^Bcc:/m);
    expect(server.received[0]?.to).toEqual(['ann@example.com']);
  });

  it('fails permanently if the server refuses the address, without repeating it', async () => {
    server.answerRecipients('550 5.1.1 <ann@example.com> unknown');
    const failure = await sender.send(mail).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SendError', permanent: true });
    expect(String(failure)).toContain('550');
    expect(String(failure)).not.toContain('ann@');
  });

  it('is sent past other mails that a slow server has not accepted', async () => {
    await server.close();
    server = await smtpStandIn({ isSlowFor: (data) => data.includes('Subject: Notice') });
    sender.close();
    sender = smtpSender({ url: server.url, from: 'Acme <no-reply@acme.example>' });
    const notice = { ...mail, subject: 'Notice', isUrgent: false };
    const slow = Array.from({ length: 20 }, (_, n) =>
      sender.send({ ...notice, id: `notice-${n}` }).catch(() => 'unsent'),
    );
    await sender.send(mail);
    expect(server.received.map(({ data }) => /Subject: (.*)/.exec(data)?.[1])).toEqual([mail.subject]);
    sender.close();
    await server.close();
    await Promise.all(slow);
  });

  it('fails temporarily if the server is busy or unreachable', async () => {
    server.answerRecipients('451 4.3.0 later');
    await expect(sender.send(mail)).rejects.toMatchObject({ name: 'SendError', permanent: false });
    await server.close();
    const gone = smtpSender({ url: server.url, from: 'a@acme.example' });
    await expect(gone.send(mail)).rejects.toMatchObject({ permanent: false });
    gone.close();
  });
});

describe('a connection to the mail server', () => {
  const times = { check: 3_000, envelope: 60_000, idle: 60_000 };

  /** Ages the idle connections, so that they are checked before use. */
  const rest = () => new Promise((resolve) => setTimeout(resolve, 1_100));

  beforeEach(() => {
    sender.close();
    sender = smtpSender({ url: server.url, from: 'Acme <no-reply@acme.example>', times });
  });

  it('is used for several mails', async () => {
    for (const id of ['one', 'two', 'three']) await sender.send({ ...mail, id });
    expect(server.received).toHaveLength(3);
    expect(server.opened()).toBe(1);
  });

  it('that was dropped silently while idle costs no mail: it is sent over a new one at once', async () => {
    await Promise.all(['one', 'two', 'three', 'four'].map((id) => sender.send({ ...mail, id })));
    expect(server.opened()).toBe(4);
    await rest();
    server.dropSilently();
    const began = performance.now();
    await sender.send({ ...mail, id: 'five' });
    expect(server.received.at(-1)?.data).toContain('five@acme.example');
    // One check, not one for each of the dead connections.
    await sender.send({ ...mail, id: 'six' });
    expect(server.opened()).toBe(5);
    expect(performance.now() - began).toBeGreaterThan(2_900);
  });

  it('that goes silent in a mail ends the attempt in time, with the reason, and the next attempt arrives', async () => {
    sender.close();
    sender = smtpSender({ url: server.url, from: 'a@acme.example', times: { ...times, envelope: 3_000 } });
    await sender.send(mail);
    server.dropSilently();
    const failure = await sender.send({ ...mail, id: 'second' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SendError', permanent: false, reason: 'silent' });
    expect(String(failure)).toContain('mail server: it did not answer (ETIMEDOUT)');
    await sender.send({ ...mail, id: 'second' });
    expect(server.received.at(-1)?.data).toContain('second@acme.example');
  });

  it('gets more time to accept a message than to accept its addresses, and a code less than a notice', async () => {
    await server.close();
    server = await smtpStandIn({ isSlowFor: () => true });
    sender.close();
    sender = smtpSender({ url: server.url, from: 'a@acme.example', times: { envelope: 3_000, accept: 5_000 } });
    const began = performance.now();
    await expect(sender.send(mail)).rejects.toMatchObject({ reason: 'silent' });
    expect(performance.now() - began).toBeGreaterThan(4_900);
  });

  it('is released when the attempt of a mail has taken its maximum time', async () => {
    await server.close();
    server = await smtpStandIn({ isSlowFor: (data) => data.includes('Subject: Slow') });
    sender.close();
    sender = smtpSender({ url: server.url, from: 'a@acme.example', times: { attempt: 5_000, accept: 60_000 } });
    const slow = Array.from({ length: 4 }, () =>
      sender.send({ ...mail, subject: 'Slow' }).catch((error: unknown) => error),
    );
    // Waits for one of the four connections.
    const behind = sender.send({ ...mail, id: 'behind' }).catch((error: unknown) => error);
    for (const failure of await Promise.all(slow))
      expect(failure).toMatchObject({ reason: 'silent', permanent: false });
    await behind;
    await sender.send({ ...mail, id: 'next' });
    expect(server.received.at(-1)?.data).toContain('next@acme.example');
  });

  it('is closed when it has been idle; no mail is lost if the server closes it', async () => {
    sender.close();
    sender = smtpSender({ url: server.url, from: 'a@acme.example', times: { ...times, idle: 50 } });
    await sender.send(mail);
    await expect.poll(() => server.live()).toBe(0);
    await sender.send({ ...mail, id: 'second' });
    expect(server.received).toHaveLength(2);
  });
});

describe('a mail server that cannot be used is described in words', () => {
  it.each([
    [{ tls: 'first' }, 'its certificate is not from a trusted authority', 'certificate-untrusted'],
    [{ tls: 'start' }, 'its certificate is not from a trusted authority', 'certificate-untrusted'],
    [{ greeting: '554 go away' }, 'it rejected the message', 'message-rejected'],
    [{ greeting: '421 too many connections' }, 'it asks to try again later', 'busy'],
    [{ user: { name: 'a', password: 'b' } }, 'it requires user name and password', 'no-credentials'],
    [{ replies: { MAIL: '553 5.7.1 not your address' } }, 'it rejected the sender', 'sender-rejected'],
  ] as const)('%o: %s', async (options, words, reason) => {
    await server.close();
    server = await smtpStandIn(options);
    sender.close();
    sender = smtpSender({ url: server.url, from: 'a@acme.example' });
    const failure = await sender.send(mail).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SendError', reason });
    expect(String(failure)).toContain(`mail server: ${words} (`);
  });

  it('if nothing listens at its address', async () => {
    await server.close();
    const failure = await sender.send(mail).catch((error: unknown) => error);
    expect(String(failure)).toContain('mail server: it refused the connection (');
  });
});
