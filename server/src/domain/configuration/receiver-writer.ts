import type { Domains } from '../domains/domains.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import { keyIn } from '../projects/tenant.ts';
import type { LogStreams, StreamKey } from '../streams/log-streams.ts';
import type { StreamSettings } from '../streams/stream-settings.ts';
import type { IssuedWebhook, Webhooks } from '../webhooks/webhooks.ts';
import type { Difference } from './differences.ts';
import type { WantedProject } from './document.ts';
import { kindOf } from './receivers.ts';
import type { Values } from './values.ts';

interface Target {
  projectId: string;
  wanted: WantedProject;
  actor: Actor;
}

/** Writes differences of domains, webhooks and log streams. */
export class ReceiverWriter {
  constructor(
    private readonly deps: { db: Database; domains: Domains; webhooks: Webhooks; logStreams: LogStreams },
    private readonly target: Target,
  ) {}

  async domain({ action, keys: [host = ''] }: Difference): Promise<void> {
    if (action === 'remove') {
      refuse({ code: 'invalid', field: 'host', reason: 'is removed in the console, since its passkeys end with it' });
    }
    await this.deps.domains.create(this.target.projectId, host, this.target.actor);
  }

  /** @returns a new webhook whose secret is not from the document */
  async webhook({ action, keys: [url = ''], after }: Difference): Promise<IssuedWebhook | null> {
    const { db, webhooks } = this.deps;
    const { actor, projectId } = this.target;
    const { enabled, secret, ...settings } = after as Values & { enabled?: boolean };
    const given = this.textOf(secret);
    if (action === 'create') {
      const made = await webhooks.create(projectId, { ...settings, url }, actor, given);
      if (enabled === false) await webhooks.update(made.webhook, { enabled }, actor);
      return given === undefined ? made : null;
    }
    const list = await webhooks.list(db.reader(), projectId);
    const key = keyIn(projectId, found(list.find((one) => one.url === url) ?? null, 'webhook').id);
    if (action === 'remove') {
      await webhooks.remove(key, actor);
      return null;
    }
    if (given !== undefined) await webhooks.rotateSecret(key, actor, given);
    await webhooks.update(key, { ...settings, ...(enabled !== undefined && { enabled }) }, actor);
    return null;
  }

  async logStream({ action, keys: [target = ''], after }: Difference): Promise<void> {
    const { db, logStreams } = this.deps;
    const { actor, projectId } = this.target;
    const { header, secret, paused, ...settings } = after as Values & Partial<StreamSettings> & { paused?: boolean };
    if (action === 'create') {
      const given = { header: header ?? null, secret: this.headerValue(header ?? null, secret) };
      const all = { description: '', types: [], format: 'json-lines' as const, gzip: false, ...settings, ...given };
      const made = await logStreams.create(projectId, kindOf(target), { ...all, target }, actor);
      if (paused) await logStreams.update({ projectId, id: made.id }, { paused }, actor);
      return;
    }
    const list = await logStreams.list(db.reader(), projectId);
    const stream = found(list.find((one) => one.target === target) ?? null, 'log-stream');
    const key: StreamKey = { projectId, id: stream.id };
    if (action === 'remove') return logStreams.remove(key, actor);
    const name = header === undefined ? (stream.header ?? null) : header;
    const isSecret = header !== undefined || secret !== undefined;
    const value = isSecret && { header: name, secret: this.headerValue(name, this.wantedSecret(target)) };
    await logStreams.update(key, { ...settings, ...value, ...(paused !== undefined && { paused }) }, actor);
  }

  /** Refuses `invalid` for a header without a secret: the stored one is never sent under another name. */
  private headerValue(header: string | null, secret: unknown): string | null {
    const value = this.textOf(secret) ?? null;
    if (header !== null && value === null) {
      refuse({ code: 'invalid', field: 'secret', reason: 'is required with a header: refer to it by !env or !file' });
    }
    return value;
  }

  private wantedSecret(target: string): unknown {
    const { parts } = this.target.wanted;
    return parts.find(({ kind, keys }) => kind === 'logStreams' && keys[0] === target)?.values['secret'];
  }

  private textOf(secret: unknown): string | undefined {
    return typeof secret === 'string' ? this.target.wanted.secrets.get(secret) : undefined;
  }
}
