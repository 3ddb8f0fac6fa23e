import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gatewaySms, twilioSms } from './gateways.ts';

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server;
let received: Received[];
let answer: (res: ServerResponse) => void;
let port: number;

beforeEach(async () => {
  received = [];
  answer = (res) => res.writeHead(202).end('{}');
  server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      received.push({ method: req.method, url: req.url, headers: req.headers, body });
      answer(res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const sms = { to: '+491700000000', text: '012345 is your code', id: '1' };

describe('the SMS gateway', () => {
  const send = (path = '/send') => gatewaySms(`http://user:p%40ss@127.0.0.1:${port}${path}`).send(sms);

  it('receives number and text as JSON, with the credentials of its URL', async () => {
    await send();
    expect(received[0]).toMatchObject({ method: 'POST', url: '/send' });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({ to: sms.to, text: sms.text });
    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  it.each([
    [400, true],
    [401, true],
    [408, false],
    [429, false],
    [500, false],
    [503, false],
    [302, false],
  ])('that responds with %i has failed; permanently: %s', async (status, permanent) => {
    answer = (res) => res.writeHead(status, { location: `http://127.0.0.1:${port}/elsewhere` }).end('+491700000000');
    const failure = await send().catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SendError', permanent });
    expect(String(failure)).not.toContain('+49');
    expect(received).toHaveLength(1);
  });

  it('may send an endless response', async () => {
    answer = (res) => {
      res.writeHead(200);
      const writeChunk = () => void (res.destroyed || res.write('x'.repeat(65_536), writeChunk));
      writeChunk();
    };
    await send();
  });

  it('fails temporarily if unreachable', async () => {
    await expect(gatewaySms('http://127.0.0.1:1/').send(sms)).rejects.toMatchObject({ permanent: false });
  });
});

describe('Twilio', () => {
  const options = { accountSid: 'AC1', authToken: 'token' };

  it('receives a form at its Messages resource', async () => {
    await twilioSms({ ...options, from: '+15005550006', baseUrl: `http://127.0.0.1:${port}` }).send(sms);
    expect(received[0]).toMatchObject({ method: 'POST', url: '/2010-04-01/Accounts/AC1/Messages.json' });
    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('AC1:token').toString('base64')}`);
    expect(Object.fromEntries(new URLSearchParams(received[0]?.body))).toEqual({
      From: '+15005550006',
      To: sms.to,
      Body: sms.text,
    });
  });

  it('receives the id of a messaging service', async () => {
    await twilioSms({ ...options, from: 'MG1', baseUrl: `http://127.0.0.1:${port}` }).send(sms);
    expect(new URLSearchParams(received[0]?.body).get('MessagingServiceSid')).toBe('MG1');
  });
});

describe('a test of the SMS gateway', () => {
  const diagnose = () => gatewaySms(`http://user:secret-word@127.0.0.1:${port}/send`).diagnose?.(sms);
  const stages = async () => (await diagnose())?.map(({ name, state }) => `${name} ${state}`);

  it('distinguishes an unreachable gateway from one that refuses the sender, the message, or fails', async () => {
    expect(await stages()).toEqual(['reach passed', 'authorise passed', 'accept passed']);
    answer = (res) => res.writeHead(401).end();
    expect(await stages()).toEqual(['reach passed', 'authorise failed', 'accept not-reached']);
    answer = (res) => res.writeHead(422).end('+491700000000');
    const refused = await diagnose();
    expect(refused?.[2]).toMatchObject({
      state: 'failed',
      detail: 'HTTP 422',
      advice: expect.stringContaining('rejected the message'),
    });
    answer = (res) => res.writeHead(503).end();
    expect((await diagnose())?.[2]?.advice).toContain('The gateway failed');
    const away = await gatewaySms('http://127.0.0.1:1/').diagnose?.(sms);
    expect(away?.map(({ state }) => state)).toEqual(['failed', 'not-reached', 'not-reached']);
    expect(JSON.stringify([refused, away])).not.toMatch(/secret-word|\+49/);
  });
});
