import type { AuditEvent } from '../audit/audit-event.entity.ts';

/** Facility 13, log audit (RFC 5424 section 6.2.1). */
const facility = 13;
const [warning, informational] = [4, 6];
const maxMsgId = 32;
/** 32473 is the enterprise number for examples (RFC 5612): Latchkey has no number. */
const dataId = 'latchkey@32473';

/**
 * An event as a message of RFC 5424: facility log audit, severity informational or, for failures, warning; the type as
 * MSGID; ids and names as structured data; the event as JSON.
 *
 * @param host the instance's
 */
export function syslogMessage(event: AuditEvent, json: string, host: string): string {
  const priority = facility * 8 + (event.result === 'failure' ? warning : informational);
  const header = `<${priority}>1 ${event.at.toISOString()} ${host || '-'} latchkey - ${event.type.slice(0, maxMsgId)}`;
  const data = Object.entries({
    id: event.id,
    project: event.projectId,
    type: event.type,
    result: event.result,
    actorKind: event.actorKind,
    actorId: event.actorId,
    actorName: event.actorName,
    subjectKind: event.subjectKind,
    subjectId: event.subjectId,
    subjectName: event.subjectName,
    client: event.clientId,
    ip: event.ip,
    requestId: event.requestId,
  }).flatMap(([name, value]) => (value == null || value === '' ? [] : [` ${name}="${escaped(value)}"`]));
  return `${header} [${dataId}${data.join('')}] ${json}`;
}

/** A value of structured data (RFC 5424 section 6.3.3). Control characters become spaces: no value can begin a line. */
function escaped(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').replace(/["\\\]]/g, '\\$&');
}

/** Octet counting (RFC 6587 section 3.4.1, RFC 5425 section 4.3): the length in bytes, a space, the message. */
export function framed(messages: readonly string[]): Buffer {
  return Buffer.concat(
    messages.flatMap((text) => {
      const message = Buffer.from(text);
      return [Buffer.from(`${message.length} `), message];
    }),
  );
}
