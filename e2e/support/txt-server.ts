import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server whose every name has one TXT record. */
export interface TxtServer {
  /** As in `DNS_SERVERS`. */
  address: string;
  value: string;
  /** A name whose own servers do not answer, so that it gets SERVFAIL. */
  failing: string | null;
  close(): void;
}

export async function serveTxt(): Promise<TxtServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const server: TxtServer = {
    address: `127.0.0.1:${socket.address().port}`,
    value: '',
    failing: null,
    close: () => socket.close(),
  };
  socket.on('message', (query, from) => {
    // RFC 1035 section 4: the query's id and question, then a record that refers to its name.
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    if (server.failing && nameOf(question).endsWith(server.failing)) {
      const refusal = Buffer.from([...query.subarray(0, 2), 0x81, 0x82, 0, 1, 0, 0, 0, 0, 0, 0]);
      socket.send(Buffer.concat([refusal, question]), from.port, from.address);
      return;
    }
    const { length } = server.value;
    const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, length + 1, length]);
    socket.send(Buffer.concat([head, question, record, Buffer.from(server.value)]), from.port, from.address);
  });
  return server;
}

function nameOf(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; question[at]; at += 1 + (question[at] ?? 0)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}
