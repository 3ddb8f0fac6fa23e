import type { MikroORM } from '@mikro-orm/postgresql';
import { txtReader } from './adapters/dns/txt.ts';
import { EventFolder } from './adapters/files/event-archive.ts';
import {
  exchange,
  fetchDocument,
  fetchJson,
  fetchMetadata,
  postForm,
  postJson,
  soapHeaders,
} from './adapters/http/outbound.ts';
import { upstreamClient } from './adapters/oidc/upstream-client.ts';
import { chooseSenders, counted } from './adapters/senders.ts';
import { sendBatches } from './adapters/streams/send-batch.ts';
import { randomOn } from './adapters/system/random.ts';
import type { Tracing } from './adapters/telemetry/trace-port.ts';
import { type Config } from './config.ts';
import type { SendError } from './domain/delivery/sender.ts';
import type { OpenedDatabase } from './instance.ts';
import { buildServices, type Ports, type Services } from './services.ts';

/** The services of this instance, with the adapters chosen by its settings. */
export function compose(
  config: Config,
  database: OpenedDatabase,
  orm: MikroORM,
  {
    onMessage = () => undefined,
    tracing,
    ...ports
  }: Pick<
    Ports,
    | 'queue'
    | 'clock'
    | 'follow'
    | 'gauge'
    | 'runtime'
    | 'onEvent'
    | 'onWebhook'
    | 'onBatch'
    | 'onKeyRepair'
    | 'untrustedProxy'
  > & {
    onMessage?: (channel: string, result: 'sent' | 'failed' | 'expired', count: number, failure?: SendError) => void;
    tracing?: Tracing | undefined;
  },
): Services {
  const allowPrivate = config.DANGER_ALLOW_PRIVATE_TARGETS;
  return buildServices(
    {
      orm,
      ...ports,
      random: randomOn(ports.clock),
      eventArchive: config.AUDIT_ARCHIVE_DIR ? new EventFolder(config.AUDIT_ARCHIVE_DIR) : undefined,
      onExpired: (channel, count) => onMessage(channel, 'expired', count),
      senders: counted(chooseSenders(config, database.embedded !== undefined), (channel, result, failure) =>
        onMessage(channel, result, 1, failure),
      ),
      readTxt: txtReader({ servers: config.DNS_SERVERS }),
      fetchDocument: (url) => fetchDocument(url, { allowPrivate, timeoutMs: 5000 }),
      upstream: upstreamClient({ allowPrivate, timeoutMs: 5000 }),
      fetchMetadata: (url) => fetchMetadata(url, { allowPrivate, timeoutMs: 5000 }),
      fetchJson: (uri) => fetchJson(uri, { allowPrivate, timeoutMs: 5000 }),
      postLogoutToken: (uri, token) => {
        const post = (headers: Record<string, string>) =>
          postForm(uri, new URLSearchParams({ logout_token: token }), { allowPrivate, timeoutMs: 5000, headers });
        return tracing ? tracing.outgoing(uri, post) : post({});
      },
      postSoap: (uri, envelope) => {
        const post = (headers: Record<string, string>) =>
          exchange('POST', uri, { allowPrivate, timeoutMs: 5000, headers: { ...headers, ...soapHeaders } }, envelope);
        return tracing ? tracing.outgoing(uri, post) : post({});
      },
      postWebhook: (url, body, signed) => {
        const post = (headers: Record<string, string>) =>
          postJson(url, body, { allowPrivate, timeoutMs: 10_000, headers: { ...headers, ...signed } });
        return tracing ? tracing.outgoing(url, post) : post({});
      },
      sendBatch: sendBatches({ allowPrivate, folder: config.LOG_STREAM_DIR }),
      hasStreamFolder: config.LOG_STREAM_DIR !== undefined,
    },
    {
      issuer: config.BASE_URL,
      masterKey: database.masterKeys.first,
      secondMasterKey: database.masterKeys.second,
      allowPrivateTargets: allowPrivate,
      auditRetentionDays: config.AUDIT_RETENTION_DAYS,
      challengesPerMinute: config.SIGNIN_CHALLENGES_PER_MINUTE,
      authorizationsPerMinute: config.AUTHORIZE_REQUESTS_PER_MINUTE,
    },
  );
}
