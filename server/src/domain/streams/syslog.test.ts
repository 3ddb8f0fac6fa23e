import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../audit/audit-event.entity.ts';
import { framed, syslogMessage } from './syslog.ts';

const event = {
  ...{ id: 'e1', projectId: 'p1', at: new Date('2026-11-24T10:00:00.123Z') },
  ...{ type: 'device-authorization.code-refused', result: 'failure', actorKind: 'anonymous' },
} as unknown as AuditEvent;
const messageOf = (values: object) => syslogMessage(Object.assign({ ...event }, values), '{"a":1}', 'id.example.com');

describe('a syslog message (RFC 5424)', () => {
  it('has priority, time, host, app and MSGID of at most 32 characters, structured data and the event', () => {
    expect(messageOf({})).toBe(
      '<108>1 2026-11-24T10:00:00.123Z id.example.com latchkey - device-authorization.code-refuse ' +
        '[latchkey@32473 id="e1" project="p1" type="device-authorization.code-refused" result="failure" actorKind="anonymous"] {"a":1}',
    );
  });

  it('escapes quotes, backslashes and brackets in values, and no value begins a line', () => {
    expect(messageOf({ subjectName: 'a"b\\c]d\r\n<34>1 e\u2028f' })).toContain(
      'subjectName="a\\"b\\\\c\\]d  <34>1 e f"]',
    );
  });

  it('is preceded by its length in bytes (RFC 6587)', () => {
    expect(framed(['größe', 'b']).toString()).toBe('7 größe1 b');
  });
});
