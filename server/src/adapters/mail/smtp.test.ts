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
