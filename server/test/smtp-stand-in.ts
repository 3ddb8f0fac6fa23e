import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A mail server of a few words (RFC 5321), for tests of the one that speaks to it. */
export interface SmtpStandIn {
  url: string;
  /** Envelopes and messages as they came. */
  received: { from: string; to: string[]; data: string }[];
  /** The reply to RCPT TO from now on, e.g. `550 5.1.1 No such user`. */
  answerRecipients(reply: string): void;
  close(): Promise<void>;
}

export async function smtpStandIn(): Promise<SmtpStandIn> {
  const received: SmtpStandIn['received'] = [];
  let recipientReply = '250 ok';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let envelope = { from: '', to: [] as string[], data: '' };
    let inData = false;
    let pending = '';
    const say = (line: string) => void socket.write(`${line}\r\n`);
    say('220 stand-in');
    socket.on('data', (chunk) => {
      pending += chunk.toString();
      for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 2);
        if (inData) {
          if (line === '.') {
            inData = false;
            received.push(envelope);
            envelope = { from: '', to: [], data: '' };
            say('250 queued');
          } else envelope.data += `${line.replace(/^\.\./, '.')}\n`;
          continue;
        }
        const [verb = ''] = line.split(/[ :]/, 1);
        const address = /<(.*?)>/.exec(line)?.[1] ?? '';
        if (/^EHLO|HELO$/i.test(verb)) say('250 stand-in');
        else if (/^MAIL$/i.test(verb)) {
          envelope.from = address;
          say('250 ok');
        } else if (/^RCPT$/i.test(verb)) {
          if (recipientReply.startsWith('250')) envelope.to.push(address);
          say(recipientReply);
        } else if (/^DATA$/i.test(verb)) {
          inData = true;
          say('354 go on');
        } else if (/^QUIT$/i.test(verb)) {
          say('221 bye');
          socket.end();
        } else say('250 ok');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerRecipients: (reply) => {
      recipientReply = reply;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
