import { z } from 'zod';
import { type KnownName, type UnknownNames, unknownNames } from './config-names.ts';
import {
  addressWith,
  checkedBaseUrl,
  flag,
  isLoopback,
  isNameServer,
  isNetwork,
  isPlainAddress,
  masterKey,
  port,
  whole,
} from './config-values.ts';
import { Secret } from './domain/kernel/secret.ts';

/** One setting. `config.md` is generated from the table below. */
interface Setting {
  schema: z.ZodType;
  description: string;
  /** Unit or format of the value. */
  form: string;
  /** Can also be read from the file named by `NAME_FILE`; never printed. */
  secret?: boolean;
  /** As written in the environment. */
  default?: string;
  /** An earlier name, which still works. */
  alias?: string;
}

const share = 'must be a number from 0 to 1';
const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const settings = {
  BASE_URL: {
    schema: z.string().transform(checkedBaseUrl),
    form: 'URL',
    default: 'http://localhost:3000',
    description:
      'Public URL of this instance, and the OIDC issuer. Must be https, except on a loopback host. Without `DATABASE_URL`, the default uses `PORT`. Passkeys belong to its host name: if that changes, all of them become unusable (docs/passkeys.md).',
  },
  HOST: { schema: z.string().min(1), form: 'IP or host', default: '127.0.0.1', description: 'Address to listen on.' },
  PORT: { schema: port, form: 'port', default: '3000', description: 'Port for everything except health and metrics.' },
  MANAGEMENT_PORT: {
    schema: port,
    form: 'port',
    default: '9000',
    description:
      'Port for `/health/live`, `/health/started`, `/health/ready`, `/metrics` and `/internal/domains/check`.',
  },
  MANAGEMENT_HOST: {
    schema: z.string().min(1),
    form: 'IP or host',
    default: '127.0.0.1',
    description:
      'Address the management port listens on. It has no authentication: change this only inside a private network, for example to let Prometheus scrape it.',
  },
  DATABASE_URL: {
    schema: addressWith('postgres', 'postgresql'),
    form: 'URL',
    secret: true,
    description: 'PostgreSQL 14 or newer. If unset, Latchkey runs an embedded PostgreSQL in `DATA_DIR`.',
  },
  DATABASE_POOL_SIZE: {
    schema: whole(2, 1000),
    form: 'connections',
    default: '10',
    description: 'Maximum connections per process, in addition to four for jobs.',
  },
  DATABASE_PREPARED_STATEMENTS: {
    schema: flag,
    form: 'true or false',
    default: 'true',
    description:
      'Uses prepared statements. Set to `false` behind a transaction-mode pooler that does not support them (PgBouncer before 1.21).',
  },
  DATABASE_ROW_SECURITY: {
    schema: flag,
    form: 'true or false',
    default: 'false',
    description:
      'Lets PostgreSQL check that each request reads and writes only the rows of its own project (row-level security). Costs some speed; see docs/database.md. Not possible behind a transaction-mode pooler.',
  },
  DATA_DIR: {
    schema: z.string().min(1),
    form: 'folder',
    default: './data',
    description: 'Folder of the embedded database, its master key and backups.',
  },
  MASTER_KEY: {
    schema: masterKey,
    form: '32 bytes, base64',
    secret: true,
    description:
      'Encrypts signing keys, TOTP secrets and delegation keys at rest. Required with `DATABASE_URL`; otherwise generated in `DATA_DIR`. Backups cannot be restored without it: keep a copy elsewhere.',
  },
  MASTER_KEY_SECOND: {
    schema: masterKey,
    form: '32 bytes, base64',
    secret: true,
    description:
      'Second master key, used only to decrypt, while the master key is being rotated (`master-key:rotate`).',
  },
  SMTP_URL: {
    schema: addressWith('smtp', 'smtps'),
    form: 'URL',
    secret: true,
    description: 'SMTP server, e.g. `smtps://user:password@mail.example.com`.',
  },
  MAIL_FROM: {
    schema: z.string().regex(/^(?:[^\s<>@]+@[^\s<>@]+|[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>)$/u, {
      error: 'must be an email address, with or without a name: Example <signin@example.com>',
    }),
    form: 'email address',
    description: 'Sender of emails, e.g. `Example <signin@example.com>`. Required with `SMTP_URL`.',
  },
  SMS_URL: {
    schema: addressWith('http', 'https'),
    form: 'URL',
    secret: true,
    description: 'HTTP gateway for SMS. Receives `POST {"to": "+…", "text": "…"}` as JSON.',
  },
  TWILIO_ACCOUNT_SID: {
    schema: z.string().min(1),
    form: 'text',
    description: 'Twilio account SID, to send SMS with Twilio.',
  },
  TWILIO_AUTH_TOKEN: {
    schema: z.string().min(1),
    form: 'text',
    secret: true,
    description: 'Twilio auth token.',
  },
  TWILIO_FROM: { schema: z.string().min(1), form: 'phone or service', description: 'Twilio sender.' },
  TRUST_PROXY: {
    schema: z
      .string()
      .transform((text) => (text === 'false' ? false : /^\d+$/.test(text) ? Number(text) : text))
      .refine((value) => typeof value !== 'string' || value.split(',').every(isNetwork), {
        message: 'must be false, a number of hops, or a list of networks (10.0.0.0/8, loopback)',
      }),
    form: 'hops or networks',
    default: 'false',
    description:
      'Proxies whose `X-Forwarded-For` is trusted: how many are in front, or their networks, comma-separated (`10.0.0.0/8`, `loopback`).',
  },
  SIGNIN_CHALLENGES_PER_MINUTE: {
    schema: whole(1, 1_000_000),
    form: 'number',
    default: '1000',
    description:
      'Sign-in challenges per minute from one IP address (IPv6: one /64). A sign-in takes one or two: raise it if hundreds of people a minute share one address.',
  },
  AUTHORIZE_REQUESTS_PER_MINUTE: {
    schema: whole(1, 1_000_000),
    form: 'number',
    default: '300',
    description:
      'Requests to `/authorize` per minute from one IP address (IPv6: one /64) that need a sign-in. Requests answered from a session do not count.',
  },
  LOG_LEVEL: {
    schema: z.enum(levels, { error: `must be one of ${levels.join(', ')}` }),
    form: 'level',
    default: 'info',
    description: 'Minimum level of log lines.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: addressWith('http', 'https'),
    form: 'URL',
    description: 'OTLP/HTTP endpoint for traces, e.g. `http://collector:4318`. If unset, tracing is off.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z.coerce.number({ error: share }).min(0, { error: share }).max(1, { error: share }),
    form: 'ratio',
    default: '0.1',
    description: 'Share of requests to trace, from 0 to 1, unless the caller has already decided.',
  },
  AUDIT_RETENTION_DAYS: {
    schema: whole(0, 36_500),
    form: 'days',
    default: '0',
    description:
      'How long audit events are kept; `0` keeps them forever. A month is deleted when its last event is older. Each deletion is itself recorded.',
  },
  AUDIT_ARCHIVE_DIR: {
    schema: z.string().min(1),
    form: 'folder',
    description:
      'Each month of audit events is written to a file in this folder before it is deleted. All processes need the same folder. If unset, there is no archive.',
  },
  LOG_STREAM_DIR: {
    schema: z.string().min(1),
    form: 'folder',
    description:
      'Owners can create log streams that append audit events to files in this folder. All processes need the same folder. If unset, there are none.',
  },
  BACKUP_S3_ENDPOINT: {
    schema: addressWith('http', 'https').refine(isPlainAddress, {
      message: 'must not contain a user name, a password, a query or a fragment',
    }),
    form: 'URL',
    description:
      'S3-compatible storage for backups to `s3://bucket/prefix/`, e.g. `https://minio.example.com`. Must be https, except on a loopback host. Default: AWS in `BACKUP_S3_REGION`.',
  },
  BACKUP_S3_REGION: {
    schema: z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'must be the name of a region, such as eu-central-1' }),
    form: 'region',
    default: 'us-east-1',
    description: 'Region of the bucket. Some storages accept any name, or `auto`.',
  },
  BACKUP_S3_PATH_STYLE: {
    schema: flag,
    form: 'true or false',
    description:
      'Addresses the bucket as `host/bucket` instead of `bucket.host`. Default: `true` with `BACKUP_S3_ENDPOINT`, else `false`.',
  },
  BACKUP_S3_ALLOW_HTTP: {
    schema: flag,
    form: 'true or false',
    default: 'false',
    description:
      'Allows plain http to `BACKUP_S3_ENDPOINT` on another host: names and addresses of users are then readable on the network.',
  },
  AWS_ACCESS_KEY_ID: {
    schema: z.string().min(1),
    form: 'text',
    secret: true,
    description: 'Access key for backups to S3-compatible storage.',
  },
  AWS_SECRET_ACCESS_KEY: {
    schema: z.string().min(1),
    form: 'text',
    secret: true,
    description: 'Secret of the access key.',
  },
  AWS_SESSION_TOKEN: {
    schema: z.string().min(1),
    form: 'text',
    secret: true,
    description: 'Session token, if the access key is a temporary one.',
  },
  BOOTSTRAP_ADMIN_TOKEN: {
    schema: z
      .string()
      .min(32, { message: 'must have at least 32 characters' })
      // Other characters cannot be sent in an Authorization header.
      .regex(/^[\x21-\x7e]+$/, { message: 'must be printable ASCII without spaces' }),
    form: 'text',
    secret: true,
    description:
      'Bearer token that the admin API accepts as an owner, for automation. Every use is recorded in the audit log.',
  },
  SETUP_LINK_AT_START: {
    schema: flag,
    form: '`true` or `false`',
    default: 'true',
    description:
      'Prints a setup link at startup while there is no owner. Set to `false` if others can read the log, and run `npm run admin:link` instead.',
  },
  STATUS_PAGE: {
    schema: flag,
    form: '`true` or `false`',
    default: 'false',
    description:
      'Serves `/status`: a public page that shows whether sign-in, mail and directory sync work, without figures or reasons (docs/monitoring.md).',
  },
  DNS_SERVERS: {
    schema: z.string().transform((text, context) => {
      const servers = text.split(',').map((one) => one.trim());
      if (servers.every(isNameServer)) return servers;
      context.addIssue({
        code: 'custom',
        message: 'must be IP addresses, separated by commas, such as 10.0.0.2,[::1]:53',
      });
      return z.NEVER;
    }),
    form: 'IP addresses',
    description:
      "Name servers to query for custom domains, separated by commas (docs/custom-domains.md). Default: the system's.",
  },
  SHUTDOWN_GRACE_SECONDS: {
    schema: whole(1, 600),
    form: 'seconds',
    default: '10',
    description: 'Time allowed for running requests and jobs to finish after SIGTERM.',
  },
  SHUTDOWN_DELAY_SECONDS: {
    schema: whole(0, 60),
    form: 'seconds',
    default: '0',
    description:
      'How long to keep serving after SIGTERM while `/health/ready` already fails: set it to the health check interval of your proxy. Counts towards the grace period.',
  },
  DANGER_ALLOW_PRIVATE_TARGETS: {
    schema: flag,
    form: '`true` or `false`',
    default: 'false',
    alias: 'DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS',
    description:
      'Allows private and loopback addresses, plain http to loopback, and plain TCP, wherever admins of projects name an address that this server calls: back-channel logout, `jwks_uri`, webhooks, log streams. They can then reach services in its network. For tests only.',
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof settings;
type Value<N extends Name> = (typeof settings)[N] extends { secret: true }
  ? Secret<z.output<(typeof settings)[N]['schema']>>
  : z.output<(typeof settings)[N]['schema']>;
/** Parsed settings. Settings without a default may be undefined; secrets are wrapped in {@link Secret}. */
export type Config = {
  readonly [N in Name]: (typeof settings)[N] extends { default: string } ? Value<N> : Value<N> | undefined;
};

/** Invalid settings: one line per fault, without secrets. */
export class ConfigError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads every setting from the environment and, for secrets, from the files named by `NAME_FILE`.
 * Throws {@link ConfigError} with all faults at once.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Config {
  const faults: string[] = [];
  const missing = new Set<Name>();
  const entries = Object.entries<Setting>(settings).map(([name, setting]) => {
    const faultsBefore = faults.length;
    const text = textOf(name, setting, env, readFile, faults) ?? setting.default;
    if (text === undefined) {
      if (faults.length === faultsBefore) missing.add(name as Name);
      return [name, undefined] as const;
    }
    const result = setting.schema.safeParse(text);
    if (result.success) return [name, setting.secret ? new Secret(result.data) : result.data] as const;
    faults.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`);
    return [name, undefined] as const;
  });
  const config = Object.fromEntries(entries) as unknown as Config;
  faults.push(...together(config, missing), ...misspelled(env).refused);
  if (faults.length > 0) throw new ConfigError(faults);
  return env['BASE_URL'] ? config : { ...config, BASE_URL: ownAddress(config) };
}

/** Names in the environment that are close to a setting, or of our kind. */
export function misspelled(env: Readonly<Record<string, string | undefined>>): UnknownNames {
  const known = Object.entries<Setting>(settings).flatMap(([name, { schema, secret, alias }]): KnownName[] => {
    const isSet = Boolean(env[name] || (alias && env[alias]) || (secret && env[`${name}_FILE`]));
    const accepts = (text: string) => schema.safeParse(text).success;
    return [
      { name, isSet, accepts },
      ...(alias ? [{ name: alias, isSet, accepts }] : []),
      ...(secret ? [{ name: `${name}_FILE`, isSet, accepts: () => true }] : []),
    ];
  });
  return unknownNames(env, known);
}

/** Default BASE_URL: with the embedded database there is one process, so it can use that process's port. */
function ownAddress({ BASE_URL, DATABASE_URL, PORT }: Config): string {
  return DATABASE_URL === undefined && PORT !== 0 ? `http://localhost:${PORT}` : BASE_URL;
}

function textOf(
  name: string,
  setting: Setting,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
  faults: string[],
): string | undefined {
  const { alias } = setting;
  const earlier = alias === undefined ? undefined : env[alias] || undefined;
  const text = env[name] || earlier;
  if (earlier !== undefined && text !== earlier) faults.push(`${name} and ${alias} differ: remove ${alias}`);
  const file = setting.secret ? env[`${name}_FILE`] || undefined : undefined;
  if (text !== undefined && file !== undefined) faults.push(`${name} and ${name}_FILE are both set: remove one`);
  if (file === undefined) return text;
  try {
    return readFile(file).trim();
  } catch {
    faults.push(`${name}_FILE cannot be read: ${file}`);
    return undefined;
  }
}

/** Faults in combinations of settings. A setting with a fault of its own is undefined, and not `missing`. */
function together(config: Config, missing: ReadonlySet<Name>): string[] {
  const faults: string[] = [];
  if (config.DATABASE_URL !== undefined && missing.has('MASTER_KEY')) {
    faults.push(
      'MASTER_KEY is required with DATABASE_URL. For an existing database or backup, use its key; for a new one, run `openssl rand -base64 32` and store it safely',
    );
  }
  if (config.MASTER_KEY_SECOND !== undefined && missing.has('MASTER_KEY')) {
    faults.push('MASTER_KEY_SECOND requires MASTER_KEY');
  }
  if (config.SMTP_URL !== undefined && missing.has('MAIL_FROM')) {
    faults.push('MAIL_FROM is required with SMTP_URL, e.g. MAIL_FROM="Example <signin@example.com>"');
  }
  const twilio = ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'] as const;
  const isTwilio = twilio.some((name) => config[name] !== undefined);
  if (isTwilio && twilio.some((name) => missing.has(name)))
    faults.push('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM must be set together');
  if (config.PORT && config.PORT === config.MANAGEMENT_PORT && config.HOST === config.MANAGEMENT_HOST) {
    faults.push('MANAGEMENT_PORT must differ from PORT');
  }
  const storage = config.BACKUP_S3_ENDPOINT && new URL(config.BACKUP_S3_ENDPOINT);
  if (storage && storage.protocol === 'http:' && !isLoopback(storage) && config.BACKUP_S3_ALLOW_HTTP === false) {
    faults.push(
      'BACKUP_S3_ENDPOINT must start with https:// (http only on a loopback host, or with BACKUP_S3_ALLOW_HTTP)',
    );
  }
  if (isTwilio && config.SMS_URL !== undefined) faults.push('SMS_URL and TWILIO_* are both set: remove one');
  return faults;
}

/** The content of `config.md`. */
export function renderConfigMarkdown(): string {
  const rows = Object.entries<Setting>(settings).map(([name, setting]) => {
    const other = setting.alias ?? (setting.secret ? `${name}_FILE` : undefined);
    const file = other === undefined ? '' : `<br>or \`${other}\``;
    const fallback = setting.default === undefined ? '' : `\`${setting.default}\``;
    return `| \`${name}\`${file} | ${setting.form} | ${fallback} | ${setting.description} |`;
  });
  return [
    '# Settings',
    '',
    'Generated from `src/config.ts` by `npm run gen`. Settings are environment variables; secrets can also be read from a',
    'mounted file with the `_FILE` form. An invalid value or a misspelled name stops startup, with one line per fault.',
    '',
    '| setting | format | default | description |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
