import { Agent, request } from 'node:http';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Parsed body of a JSON response; an empty object for others. */
  json: Record<string, any>;
  /** Target of a redirect. */
  location: URL | null;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** Sends a request over a persistent connection; does not follow redirects. */
export function send(method: string, url: string, headers: Record<string, string>, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } });
    asked.on('error', reject);
    asked.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        const { location } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson && text !== '' ? JSON.parse(text) : {},
          location: location === undefined ? null : new URL(location, url),
        });
      });
    });
    asked.end(body);
  });
}

/** The value of a cookie that a response sets. */
export function cookieIn({ headers }: Reply, name: string): string | undefined {
  const lines = [headers['set-cookie'] ?? []].flat();
  const line = lines.findLast((one) => one.startsWith(`${name}=`) && !/max-age=0/i.test(one));
  return line?.slice(name.length + 1).split(';')[0];
}

/** The cookies of one browser. */
export class Jar {
  readonly cookies = new Map<string, string>();

  get header(): Record<string, string> {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? { Cookie: pairs.join('; ') } : {};
  }

  /** Stores the cookies of a response. */
  keep(reply: Reply): void {
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(line)) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}
