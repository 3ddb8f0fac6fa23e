import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from './domain/kernel/secret.ts';

/** Every setting: where it comes from, its unit, its one default, what it means. `config.md` is made of this. */
interface Setting {
  schema: z.ZodType;
  description: string;
  /** The unit or the form of the value. */
  form: string;
  /** Can also come from the file that `NAME_FILE` names; is never printed. */
  secret?: boolean;
  /** As it is written in the environment. */
  default?: string;
}

const port = whole(0, 65_535);
const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');
const masterKey = z
  .string()
  .refine((text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()), { message: 'must be 32 bytes in base64' })
  .transform((text) => new Uint8Array(Buffer.from(text.trim(), 'base64')));
const share = 'must be a number from 0 to 1';
const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const addressWith = (...schemes: string[]) =>
  z.string().refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), {
    message: `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  });

const settings = {
  BASE_URL: {
    schema: z.string().transform(checkedBaseUrl),
    form: 'address',
    default: 'http://localhost:3000',
    description:
      'The address that people and applications reach, and the issuer. https, except on a loopback host. Without `DATABASE_URL` the default has the port of `PORT`.',
  },
  HOST: { schema: z.string().min(1), form: 'address or name', default: '127.0.0.1', description: 'Where to listen.' },
  PORT: { schema: port, form: 'port', default: '3000', description: 'The port of everything but health and metrics.' },
  MANAGEMENT_PORT: {
    schema: port,
    form: 'port',
    default: '9000',
    description: 'The port of `/health/live`, `/health/started`, `/health/ready` and `/metrics`.',
  },
  MANAGEMENT_HOST: {
    schema: z.string().min(1),
    form: 'address or name',
    default: '127.0.0.1',
    description:
      'Where the management port listens. It asks nobody who they are: another address only in a network of your own, for a Prometheus there.',
  },
  DATABASE_URL: {
    schema: addressWith('postgres', 'postgresql'),
    form: 'address',
    secret: true,
    description: 'PostgreSQL 14 or newer. Absent: a PostgreSQL of our own under `DATA_DIR`.',
  },
  DATABASE_POOL_SIZE: {
    schema: whole(2, 1000),
    form: 'connections',
    default: '10',
    description: 'How many connections one process holds at most, beside four for its jobs.',
  },
  DATABASE_PREPARED_STATEMENTS: {
    schema: flag,
    form: 'true or false',
    default: 'true',
    description:
      'Whether statements are prepared, once a connection. Switch it off behind a pooler that hands connections from one transaction to the next and keeps no prepared statements (PgBouncer before 1.21).',
  },
  DATA_DIR: {
    schema: z.string().min(1),
    form: 'folder',
    default: './data',
    description: 'Where the embedded database and what belongs to it are kept.',
  },
  MASTER_KEY: {
    schema: masterKey,
    form: '32 bytes, base64',
    secret: true,
    description:
      'Seals signing keys, TOTP secrets and delegation keys at rest. Required with `DATABASE_URL`; else made in `DATA_DIR`. Without it a backup is useless: keep a copy elsewhere.',
  },
  MASTER_KEY_SECOND: {
    schema: masterKey,
    form: '32 bytes, base64',
    secret: true,
    description:
      'A second master key, which opens what it sealed and never seals: while the master key is being changed (`master-key:rotate`).',
  },
  SMTP_URL: {
    schema: addressWith('smtp', 'smtps'),
    form: 'address',
    secret: true,
    description: 'The mail server, e.g. `smtps://user:password@mail.example.com`.',
  },
  MAIL_FROM: {
    schema: z.string().regex(/^(?:[^\s<>@]+@[^\s<>@]+|[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>)$/u, {
      error: 'must be a mail address, or a name and one: Example <signin@example.com>',
    }),
    form: 'mail address',
    description: 'The sender of mails, e.g. `Example <signin@example.com>`. Required with `SMTP_URL`.',
  },
  SMS_URL: {
    schema: addressWith('http', 'https'),
    form: 'address',
    secret: true,
    description: 'An HTTP gateway for SMS: gets `POST {"to": "+…", "text": "…"}` as JSON.',
  },
  TWILIO_ACCOUNT_SID: { schema: z.string().min(1), form: 'text', description: 'SMS by Twilio: the account.' },
  TWILIO_AUTH_TOKEN: {
    schema: z.string().min(1),
    form: 'text',
    secret: true,
    description: 'SMS by Twilio: its token.',
  },
  TWILIO_FROM: { schema: z.string().min(1), form: 'phone or service', description: 'SMS by Twilio: the sender.' },
  TRUST_PROXY: {
    schema: z
      .string()
      .transform((text) => (text === 'false' ? false : /^\d+$/.test(text) ? Number(text) : text))
      .refine((value) => typeof value !== 'string' || value.split(',').every(isNetwork), {
        message: 'must name the proxies: a number of hops, or their networks (10.0.0.0/8, loopback)',
      }),
    form: 'hops or networks',
    default: 'false',
    description:
      'Whose `X-Forwarded-For` is believed: a number of proxies in front, or their addresses (`10.0.0.0/8`, `loopback`), comma-separated.',
  },
  SIGNIN_CHALLENGES_PER_MINUTE: {
    schema: whole(1, 1_000_000),
    form: 'number',
    default: '1000',
    description:
      'Sign-ins that one address (of IPv6: one /64) may begin in a minute. Each takes one or two: raise it where more than some hundred people a minute come from behind one address.',
  },
  AUTHORIZE_REQUESTS_PER_MINUTE: {
    schema: whole(1, 1_000_000),
    form: 'number',
    default: '300',
    description:
      'Requests to `/authorize` that one address (of IPv6: one /64) may leave waiting for a sign-in in a minute. Those that a session answers do not count.',
  },
  LOG_LEVEL: {
    schema: z.enum(levels, { error: `must be one of ${levels.join(', ')}` }),
    form: 'level',
    default: 'info',
    description: 'How much is logged.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: addressWith('http', 'https'),
    form: 'address',
    description: 'Where traces go, as OTLP over HTTP, e.g. `http://collector:4318`. Absent: none are made.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z.coerce.number({ error: share }).min(0, { error: share }).max(1, { error: share }),
    form: 'share',
    default: '0.1',
    description: 'How many of the requests are traced, from 0 to 1, where their caller has not decided it.',
  },
  AUDIT_RETENTION_DAYS: {
    schema: whole(0, 36_500),
    form: 'days',
    default: '0',
    description:
      'How long events of the audit log are kept; 0: for ever. Each sweep that forgets some is itself an event.',
  },
  BOOTSTRAP_ADMIN_TOKEN: {
    schema: z
      .string()
      .min(32, { message: 'must have at least 32 characters' })
      // What no Authorization header can carry would be a token that never works.
      .regex(/^[\x21-\x7e]+$/, { message: 'must be of printable ASCII, without blanks' }),
    form: 'text',
    secret: true,
    description:
      'A bearer token that the admin API accepts as an owner, for automation. Every use is in the audit log.',
  },
  SETUP_LINK_AT_START: {
    schema: flag,
    form: '`true` or `false`',
    default: 'true',
    description:
      'Prints a set-up link at the start as long as there is no owner. `false` where the log is read by others: `npm run admin:link` makes one.',
  },
  SHUTDOWN_GRACE_SECONDS: {
    schema: whole(1, 600),
    form: 'seconds',
    default: '10',
    description: 'How long requests and jobs under way may take to end when the process is told to stop.',
  },
  SHUTDOWN_DELAY_SECONDS: {
    schema: whole(0, 60),
    form: 'seconds',
    default: '0',
    description:
      'How long to go on serving, already not ready, when told to stop: behind a proxy, as long as it takes to look at `/health/ready`. Part of the grace.',
  },
  DANGER_ALLOW_PRIVATE_LOGOUT_TARGETS: {
    schema: flag,
    form: '`true` or `false`',
    default: 'false',
    description: 'Lets logout tokens go to private and loopback addresses and over plain http. For tests.',
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof settings;
type Value<N extends Name> = (typeof settings)[N] extends { secret: true }
  ? Secret<z.output<(typeof settings)[N]['schema']>>
  : z.output<(typeof settings)[N]['schema']>;
/** As the settings say; those without a default may be absent, and secrets have to be revealed. */
export type Config = {
  readonly [N in Name]: (typeof settings)[N] extends { default: string } ? Value<N> : Value<N> | undefined;
};

/** As `proxy-addr` reads it: an address, with the length or the mask of its network, or the name of some. */
function isNetwork(text: string): boolean {
  const [address = '', range, ...rest] = text.trim().split('/');
  if (rest.length > 0) return false;
  if (range === undefined) return ['loopback', 'linklocal', 'uniquelocal'].includes(address) || isIP(address) !== 0;
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (/^\d+$/.test(range)) return Number(range) > 0 && Number(range) <= bits;
  const mask = range.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return bits === 32 && isIP(range) === 4 && /^1+0*$/.test(mask.join(''));
}

function whole(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

/** Settings that do not hold: one line for each fault, without any secret. */
export class ConfigError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads every setting from the environment and, for secrets, from the files that `NAME_FILE` names.
 * Throws {@link ConfigError} with all faults at once.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Config {
  const faults: string[] = [];
  const entries = Object.entries<Setting>(settings).map(([name, setting]) => {
    const text = textOf(name, setting, env, readFile, faults) ?? setting.default;
    if (text === undefined) return [name, undefined] as const;
    const result = setting.schema.safeParse(text);
    if (result.success) return [name, setting.secret ? new Secret(result.data) : result.data] as const;
    faults.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`);
    return [name, undefined] as const;
  });
  const config = Object.fromEntries(entries) as unknown as Config;
  if (faults.length === 0) faults.push(...together(config));
  if (faults.length > 0) throw new ConfigError(faults);
  return env['BASE_URL'] ? config : { ...config, BASE_URL: ownAddress(config) };
}

/** The embedded database serves one process, so its links lead where that one listens; several share one address. */
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
  const text = env[name] || undefined;
  const file = setting.secret ? env[`${name}_FILE`] || undefined : undefined;
  if (text !== undefined && file !== undefined) faults.push(`${name} and ${name}_FILE are both set: keep one`);
  if (file === undefined) return text;
  try {
    return readFile(file).trim();
  } catch {
    faults.push(`${name}_FILE names a file that cannot be read: ${file}`);
    return undefined;
  }
}

/** What only several settings together can get wrong. */
function together(config: Config): string[] {
  const faults: string[] = [];
  if (config.DATABASE_URL !== undefined && config.MASTER_KEY === undefined) {
    faults.push(
      'MASTER_KEY is required with DATABASE_URL: the one that the database or backup was made under; for a new one `openssl rand -base64 32`, and keep it',
    );
  }
  if (config.MASTER_KEY_SECOND !== undefined && config.MASTER_KEY === undefined) {
    faults.push('MASTER_KEY_SECOND goes with MASTER_KEY, which is not set');
  }
  if (config.SMTP_URL !== undefined && config.MAIL_FROM === undefined) {
    faults.push('MAIL_FROM is required with SMTP_URL, e.g. MAIL_FROM="Example <signin@example.com>"');
  }
  const twilio = [config.TWILIO_ACCOUNT_SID, config.TWILIO_AUTH_TOKEN, config.TWILIO_FROM];
  const given = twilio.filter((value) => value !== undefined).length;
  if (given > 0 && given < 3) faults.push('TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM go together');
  if (config.PORT !== 0 && config.PORT === config.MANAGEMENT_PORT && config.HOST === config.MANAGEMENT_HOST) {
    faults.push('MANAGEMENT_PORT is the same as PORT: each needs one of its own');
  }
  if (given > 0 && config.SMS_URL !== undefined) faults.push('SMS_URL and TWILIO_… are both set: keep one');
  return faults;
}

function checkedBaseUrl(text: string, context: z.RefinementCtx): string {
  const fault = baseUrlFault(text);
  if (fault === null) return text;
  context.addIssue({ code: 'custom', message: fault });
  return z.NEVER;
}

function baseUrlFault(text: string): string | null {
  if (!URL.canParse(text)) return 'must be an address such as https://id.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'http:' && !isLoopback) return 'must begin with https:// (http only on a loopback host)';
  if (url.username || url.password) return 'must not hold a user name or password';
  if (text !== url.origin) return `must be an origin without path, query or trailing slash: ${url.origin}`;
  return null;
}

/** The settings as a page for people. */
export function renderConfigMarkdown(): string {
  const rows = Object.entries<Setting>(settings).map(([name, setting]) => {
    const file = setting.secret ? `<br>or \`${name}_FILE\`` : '';
    const fallback = setting.default === undefined ? '' : `\`${setting.default}\``;
    return `| \`${name}\`${file} | ${setting.form} | ${fallback} | ${setting.description} |`;
  });
  return [
    '# Settings',
    '',
    'Made from `src/config.ts` by `npm run gen`. All come from the environment; those with a `_FILE` can also come from a',
    'file, for secrets that are mounted. A value that does not hold stops the start, with one line for each fault.',
    '',
    '| setting | form | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
