import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { selfSigned } from './self-signed.ts';

/** A minimal SMTP server (RFC 5321) for tests of the client. */
export interface SmtpStandIn {
  url: string;
  port: number;
  /** Received envelopes and messages. */
  received: { from: string; to: string[]; data: string }[];
  /** Sets the reply to RCPT TO, e.g. `550 5.1.1 No such user`. */
  answerRecipients(reply: string): void;
  /** From now on, open connections get no answer, as after a firewall has dropped them; new ones do. */
  dropSilently(): void;
  /** Connections that were opened so far. */
  opened(): number;
  /** Connections that are open. */
  live(): number;
  close(): Promise<void>;
}

export interface StandInOptions {
  /** The greeting; null: none is sent. */
  greeting?: string | null;
  /** `start`: offers STARTTLS; `first`: implicit TLS. The certificate is self-signed. */
  tls?: 'start' | 'first';
  /** The accepted user; undefined: no authentication. */
  user?: { name: string; password: string };
  /** Replies instead of `250 ok`, by command. */
  replies?: Partial<Record<'MAIL' | 'RCPT' | 'DATA' | 'END', string>>;
  /** Never accepts such messages. */
  isSlowFor?(data: string): boolean;
}

export async function smtpStandIn(options: StandInOptions = {}): Promise<SmtpStandIn> {
  const received: SmtpStandIn['received'] = [];
  const { greeting = '220 stand-in', tls, user, replies = {} } = options;
  let recipientReply = replies.RCPT ?? '250 ok';
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  let opened = 0;

  const serve = (socket: Socket, isGreeted: boolean): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let envelope = { from: '', to: [] as string[], data: '' };
    let inData = false;
    let isKnown = user === undefined;
    let pending = '';
    const send = (line: string) => void socket.write(`${line}\r\n`);
    if (!isGreeted && greeting !== null) send(greeting);
    const answer = (line: string): void => {
      const [verb = ''] = line.toUpperCase().split(/[ :]/, 1);
      const address = /<(.*?)>/.exec(line)?.[1] ?? '';
      if (verb === 'EHLO' || verb === 'HELO') {
        const offers = [...(tls === 'start' && !(socket instanceof TLSSocket) ? ['STARTTLS'] : [])];
        if (user) offers.push('AUTH PLAIN');
        send(`250${offers.length > 0 ? '-' : ' '}stand-in`);
        for (const [index, offer] of offers.entries()) send(`250${index < offers.length - 1 ? '-' : ' '}${offer}`);
      } else if (verb === 'STARTTLS') {
        send('220 go on');
        socket.removeAllListeners('data');
        serve(new TLSSocket(socket, { isServer: true, ...selfSigned }), true);
      } else if (verb === 'AUTH') {
        const [, , name, password] = /^AUTH PLAIN (.*)$/i.exec(line)
          ? ['', ...Buffer.from(line.slice(11), 'base64').toString().split('\0')]
          : [];
        isKnown = name === user?.name && password === user?.password;
        send(isKnown ? '235 welcome' : '535 5.7.8 Authentication credentials invalid');
      } else if (verb === 'MAIL') {
        envelope.from = address;
        send(isKnown ? (replies.MAIL ?? '250 ok') : '530 5.7.0 Authentication required');
      } else if (verb === 'RCPT') {
        if (recipientReply.startsWith('250')) envelope.to.push(address);
        send(recipientReply);
      } else if (verb === 'DATA') {
        inData = replies.DATA === undefined;
        send(replies.DATA ?? '354 go on');
      } else if (verb === 'QUIT') {
        send('221 bye');
        socket.end();
      } else send('250 ok');
    };
    socket.on('data', (chunk) => {
      if (silent.has(socket)) return;
      pending += chunk.toString();
      for (let end = pending.indexOf('\r\n'); end >= 0; end = pending.indexOf('\r\n')) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 2);
        if (!inData) {
          answer(line);
        } else if (line === '.') {
          inData = false;
          if (options.isSlowFor?.(envelope.data)) continue;
          received.push(envelope);
          envelope = { from: '', to: [], data: '' };
          send(replies.END ?? '250 queued');
        } else envelope.data += `${line.replace(/^\.\./, '.')}\n`;
      }
    });
  };

  const server: Server =
    tls === 'first'
      ? createTlsServer(selfSigned, (socket) => serve(socket, false))
      : createServer((socket) => serve(socket, false));
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === 'first' ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    port,
    received,
    answerRecipients: (reply) => {
      recipientReply = reply;
    },
    dropSilently: () => {
      for (const socket of sockets) silent.add(socket);
    },
    opened: () => opened,
    live: () => [...sockets].filter(({ closed }) => !closed).length,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
