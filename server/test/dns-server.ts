import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** A name server over UDP (RFC 1035) with TXT records. */
export class DnsServer {
  /** Values by name. */
  readonly records = new Map<string, string[]>();
  /** `refuse`: answers SERVFAIL, as a resolver does while the domain's own servers are down. */
  mode: 'answer' | 'refuse' = 'answer';
  /** Names that get SERVFAIL, as those whose own servers are down. */
  readonly failing = new Set<string>();
  /** Names in the order of the questions. */
  readonly asked: string[] = [];
  private readonly socket: Socket = createSocket('udp4');

  static async open(): Promise<DnsServer> {
    const server = new DnsServer();
    server.socket.on('message', (query, from) => server.socket.send(server.answer(query), from.port, from.address));
    server.socket.bind(0, '127.0.0.1');
    await once(server.socket, 'listening');
    return server;
  }

  /** As in `DNS_SERVERS`. */
  get address(): string {
    return `127.0.0.1:${(this.socket.address() as AddressInfo).port}`;
  }

  close(): void {
    this.socket.close();
  }

  private answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(12, at + 5);
    const name = labels.join('.').toLowerCase();
    this.asked.push(name);
    const fails = this.mode === 'refuse' || this.failing.has(name);
    const values = fails ? [] : this.records.get(name);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // A response, recursion desired and available; NXDOMAIN is 3, SERVFAIL 2.
    header.writeUInt16BE(0x8180 | (fails ? 2 : values ? 0 : 3), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(values?.length ?? 0, 6);
    return Buffer.concat([header, question, ...(values ?? []).map(txtRecord)]);
  }
}

/**
 * A TXT record whose name points to the question's; its value is split into strings of 100 characters (at most 255
 * bytes).
 */
function txtRecord(value: string): Buffer {
  const parts = value.match(/.{1,100}/g) ?? [''];
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])));
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
