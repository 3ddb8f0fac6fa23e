import type { EntityManager } from '@mikro-orm/postgresql';
import type { Domains } from '../domains/domains.ts';
import { refuse } from '../kernel/problem.ts';
import { exportedNamesOf, storedIn } from '../kernel/resource.ts';
import { digest } from '../kernel/secret.ts';
import { batchFormats, type StreamKind } from '../streams/log-stream.entity.ts';
import type { LogStreams } from '../streams/log-streams.ts';
import { checkedHeader } from '../streams/stream-settings.ts';
import { webhookFields } from '../webhooks/webhook.resource.ts';
import { checkedSecret } from '../webhooks/webhook-settings.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { flagIn, listIn, textIn, type Values } from './values.ts';

/** Domains, webhooks and log streams: their addresses identify them, and nothing in a document is secret. */
export const receiverNames = {
  domains: ['host'],
  webhooks: exportedNamesOf(webhookFields),
  logStreams: ['target', 'description', 'types', 'format', 'gzip', 'header', 'secret', 'paused'],
} as const;

/** The validators of the admin API. */
export interface ReceiverChecks {
  domains: Pick<Domains, 'checkHost'>;
  webhooks: Pick<Webhooks, 'check'>;
  logStreams: Pick<LogStreams, 'check'>;
}

type Secrets = Pick<{ secrets: Map<string, string> }, 'secrets'>;

export function checkedDomain(values: Values, { domains }: ReceiverChecks): Values {
  const host = domains.checkHost(textIn(values, 'host') ?? '');
  if (host !== values['host']) refuse({ code: 'invalid', field: 'host', reason: `must be written as ${host}` });
  return { host };
}

export function checkedWebhook(
  { secret, ...settings }: Values,
  { webhooks }: ReceiverChecks,
  { secrets }: Secrets,
): Values {
  const given = textIn({ secret }, 'secret');
  return {
    // In YAML, a name without a value is null: as if it were absent.
    ...webhooks.check(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))),
    enabled: flagIn(settings, 'enabled', true),
    // The signing secret cannot be removed.
    ...(given !== null && { secret: kept(secrets, checkedSecret(given)) }),
  };
}

export function checkedStream(values: Values, { logStreams }: ReceiverChecks, { secrets }: Secrets): Values {
  const target = textIn(values, 'target') ?? '';
  const kind = kindOf(target);
  const format = textIn(values, 'format') ?? batchFormats[0];
  if (!(batchFormats as readonly string[]).includes(format)) {
    refuse({ code: 'invalid', field: 'format', reason: `must be one of ${batchFormats.join(', ')}` });
  }
  const [header, secret] = [textIn(values, 'header'), textIn(values, 'secret')];
  // Without a secret in the document, only the name can be checked.
  const named = checkedHeader(kind, { header, secret: header !== null && secret === null ? 'x' : secret });
  return {
    ...logStreams.check(kind, {
      target,
      description: textIn(values, 'description') ?? '',
      types: listIn(values, 'types'),
    }),
    ...{ format, gzip: flagIn(values, 'gzip', false), paused: flagIn(values, 'paused', false) },
    header: named?.header ?? null,
    secret: secret === null || !named ? null : kept(secrets, named.secret),
  };
}

/** A malformed target is treated as HTTP, and refused. Files are for streams of the instance. */
export const kindOf = (target: string): StreamKind => (/^(tls|tcp):/i.test(target) ? 'syslog' : 'http');

/** Stores a secret of a document. @returns its digest */
export function kept(secrets: Map<string, string>, secret: string): string {
  const id = digest(secret);
  secrets.set(id, secret);
  return id;
}

/** The domains, webhooks and log streams of a project, each as its kind and values. */
export async function receiversOf(
  em: EntityManager,
  projectId: string,
  { domains, webhooks, logStreams }: { domains: Domains; webhooks: Webhooks; logStreams: LogStreams },
): Promise<{ kind: keyof typeof receiverNames; id: string; values: Values }[]> {
  const hosts = await domains.list(em, projectId);
  const hooks = await webhooks.list(em, projectId);
  const streams = await logStreams.list(em, projectId);
  mustDiffer(
    'webhooks',
    hooks.map(({ url }) => url),
  );
  mustDiffer(
    'logStreams',
    streams.map(({ target }) => target),
  );
  return [
    ...hosts.map(({ host }) => ({ kind: 'domains' as const, id: host, values: { host } })),
    ...hooks.map((hook) => {
      // A webhook that was disabled after failures counts as enabled.
      const enabled = hook.disabledReason !== 'admin';
      const values = { ...storedIn(webhookFields, hook), enabled, secret: webhooks.secretDigest(hook) };
      return { kind: 'webhooks' as const, id: hook.url, values };
    }),
    ...streams.map((stream) => {
      const { target, description, types, format, gzip, paused } = stream;
      const header = stream.header ?? null;
      const values = {
        target,
        description,
        types,
        format,
        gzip,
        header,
        secret: logStreams.secretDigest(stream),
        paused,
      };
      return { kind: 'logStreams' as const, id: target, values };
    }),
  ];
}

function mustDiffer(field: string, addresses: readonly string[]): void {
  const twice = addresses.findIndex((address, at) => addresses.indexOf(address) < at);
  if (twice < 0) return;
  const { host } = new URL(addresses[twice] as string);
  refuse({
    code: 'invalid',
    field,
    reason: `must have different addresses to be configured by files: two have an address at ${host}`,
  });
}
