import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';

const folder = join(import.meta.dirname, '../../server/src/scim/exchanges/directories');

interface Exchange {
  request: string;
  headers?: Record<string, string>;
  body?: unknown;
  status: number;
  keep?: Record<string, string>;
}

/** The recorded requests of a directory, sent to one SCIM service. `{{name}}` in them is a value of an earlier answer. */
export class DirectoryCycle {
  private readonly exchanges: readonly Exchange[];
  private readonly kept = new Map<string, string>();

  /** @param renamed texts of the recording, and those in their place */
  constructor(
    file: string,
    private readonly service: { address: string; token: string },
    renamed: Readonly<Record<string, string>>,
  ) {
    let text = readFileSync(join(folder, file), 'utf8');
    for (const [one, other] of Object.entries(renamed)) text = text.replaceAll(one, other);
    this.exchanges = JSON.parse(text).scenarios[0].exchanges;
  }

  /** Sends the requests before the first that has this text. */
  async until(text: string): Promise<void> {
    const end = this.exchanges.findIndex((exchange) => JSON.stringify(exchange).includes(text));
    expect(end).toBeGreaterThan(0);
    for (const exchange of this.exchanges.slice(0, end)) await this.send(exchange);
  }

  /** Sends the first request that has this text. */
  async only(text: string): Promise<void> {
    const exchange = this.exchanges.find((one) => JSON.stringify(one).includes(text));
    if (!exchange) throw new Error(`no request has ${text}`);
    await this.send(exchange);
  }

  /** A value that an answer had. */
  valueOf(name: string): string {
    return this.kept.get(name) ?? '';
  }

  private async send({ request, headers, body, status, keep = {} }: Exchange): Promise<void> {
    const [method = '', path = ''] = this.filled(request).split(' ');
    const answer = await fetch(`${this.service.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.service.token}`,
        'content-type': 'application/scim+json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: this.filled(JSON.stringify(body)) }),
    });
    const text = await answer.text();
    expect(answer.status, `${request}\n${text}`).toBe(status);
    for (const [name, path] of Object.entries(keep)) this.kept.set(name, JSON.parse(text)[path]);
  }

  private filled(text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => this.valueOf(name));
  }
}
