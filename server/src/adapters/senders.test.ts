import { expect, it } from 'vitest';
import { smtpStandIn } from '../../test/smtp-stand-in.ts';
import { smtpSender } from './mail/smtp.ts';
import { counted } from './senders.ts';

const mail = { to: 'ada@example.com', subject: 'Code', text: '123456', html: '', id: 'id', isUrgent: true };

it('a counted sender keeps its target and its staged test', async () => {
  const server = await smtpStandIn();
  const plain = smtpSender({ url: server.url, from: 'Acme <signin@example.com>' });
  const results: string[] = [];
  const { mail: sender } = counted({ mail: plain, sms: null }, (channel, result) => results.push(channel, result));
  expect(sender).toMatchObject({ kind: 'smtp', target: `127.0.0.1:${server.port}`, from: 'Acme <signin@example.com>' });
  const stages = (await sender?.diagnose?.(mail)) ?? [];
  expect(stages.map(({ name, state }) => `${name} ${state}`)).toContain('send passed');
  expect(results).toEqual([]);
  await sender?.send(mail);
  expect(results).toEqual(['mail', 'sent']);
  plain.close();
  await server.close();
});
