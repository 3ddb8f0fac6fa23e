import { describe, expect, it } from 'vitest';
import { openLog } from './log.ts';

const secret = 'lk_sk_must_not_be_seen';

function logged(write: (log: ReturnType<typeof openLog>) => void): string {
  let text = '';
  write(
    openLog('debug', {
      write: (line) => {
        text += line;
      },
    }),
  );
  return text;
}

describe('the log', () => {
  it.each([
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
    'client_assertion',
    'code_verifier',
    'logout_token',
    'password',
    'secret',
  ])('does not show a value named %s, at any depth', (name) => {
    const text = logged((log) => {
      log.info({ [name]: secret }, 'top');
      log.warn({ headers: { [name]: secret } }, 'one down');
      log.error({ request: { headers: { [name]: secret } } }, 'two down');
    });
    expect(text).not.toContain(secret);
    expect(text.match(/\[secret\]/g)).toHaveLength(3);
  });

  it('shows the message of an error that is a plain object, such as those of the job queue', () => {
    const thrown = { message: `insert into jobs values ('${secret}') - disk full`, queue: 'delivery.codes' };
    const text = logged((log) => log.warn({ err: thrown }, 'job queue error'));
    expect(JSON.parse(text)).toMatchObject({ err: { message: 'disk full' } });
    expect(text).not.toContain(secret);
    expect(logged((log) => log.warn({ err: {} }, 'x'))).not.toContain('[object');
  });

  it('shows message, SQLSTATE and stack of a database error, not the statement and its values', () => {
    const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    const error = Object.assign(
      new Error(`select * from users where email = '${secret}' - canceling statement due to statement timeout`, {
        cause,
      }),
      { code: '57014', parameters: [secret], query: `select '${secret}'` },
    );
    const text = logged((log) => log.error({ err: error }, 'request failed'));
    expect(text).not.toContain(secret);
    const { err } = JSON.parse(text) as { err: Record<string, unknown> };
    expect(err).toMatchObject({ message: 'canceling statement due to statement timeout', errorCode: '57014' });
    expect(err['cause']).toMatchObject({ errorCode: 'ECONNREFUSED' });
  });
});
