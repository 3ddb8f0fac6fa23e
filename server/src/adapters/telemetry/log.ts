import { type DestinationStream, type Logger, pino } from 'pino';

/** The log interface of endpoints and jobs. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>;

/** Fields with these names are redacted. */
const secretNames = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'device-proof',
  'code',
  'otp',
  'token',
  'access_token',
  'id_token',
  'id_token_hint',
  'client_assertion',
  'code_verifier',
  'logout_token',
  'password',
  'secret',
  'nonce',
  'txn',
];

/** JSON lines; secrets are redacted by name at the top and up to two levels down. */
export function openLog(level: string, destination?: DestinationStream): Logger {
  const paths = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);
  const options = {
    level,
    base: undefined,
    redact: { paths, censor: '[secret]' },
    serializers: { err: describeError },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
  };
  return destination ? pino(options, destination) : pino(options);
}

/** pg-boss reports errors as plain objects. */
function wordsOf(thrown: unknown): string {
  const { message } = (thrown ?? {}) as { message?: unknown };
  return typeof message === 'string'
    ? withoutStatement(message)
    : typeof thrown === 'object'
      ? 'unknown'
      : String(thrown);
}

/** The ORM puts the statement with its values before the database's message. */
function withoutStatement(message: string): string {
  const isStatement = /^(insert|update|delete|select|with|begin|commit)\b/i.test(message);
  return isStatement ? (message.split(' - ').at(-1) ?? '') : message;
}

/** An error without the SQL, parameters or bodies that drivers attach. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: wordsOf(error) };
  const { code } = error as { code?: unknown };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    type: error.name,
    message: withoutStatement(error.message),
    // An SQLSTATE or a system error. Not as `code`, which is redacted.
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    at: frames.slice(0, 8).map((line) => line.trim().slice(3)),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
