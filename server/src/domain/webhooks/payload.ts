import { z } from 'zod';
import { type AuditEvent, instanceId } from '../audit/audit-event.entity.ts';
import { eventTypes } from '../nouns.ts';

const nullableText = z.string().nullable();
const sub = {
  sub: z
    .string()
    .optional()
    .describe('`sub` in tokens, if it is not the id: of a user who came from another system. Only webhooks have it.'),
};

/** The body of a webhook, and an event of a log stream. `npm run gen` writes its JSON Schema to `generated/event.schema.json`. */
const webhookPayload = z
  .strictObject({
    type: z.enum(eventTypes).describe('`noun.verb` in the past tense.'),
    timestamp: z.iso.datetime().describe('Time of the event.'),
    data: z.strictObject({
      id: z.uuid().describe('Id of the event: the header `webhook-id`, the same in all attempts and in the audit log.'),
      projectId: z.uuid().nullable().describe('Null for events of the instance, which only log streams receive.'),
      result: z.enum(['success', 'failure']),
      actor: z
        .strictObject({
          kind: z
            .string()
            .describe(
              'user, admin, admin-token, bootstrap-token, setup-link, portal-link, scim, client, system or anonymous',
            ),
          id: nullableText,
          name: nullableText.describe('Null after the erasure of the user.'),
          ...sub,
        })
        .describe('The actor.'),
      subject: z
        .strictObject({ kind: z.string(), id: nullableText, name: nullableText, ...sub })
        .nullable()
        .describe('The changed resource. Events about the same subject arrive in order.'),
      clientId: z.uuid().nullable().describe('The application.'),
      detail: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe(
          '`before` and `after` of changed fields, reasons; `signInId`: the sign-in to which the event belongs. Never a secret. Null, or without names, after the erasure of the user.',
        ),
      ip: nullableText.describe('Address of the actor.'),
      userAgent: nullableText,
      requestId: nullableText.describe('`X-Request-Id` of the response.'),
    }),
  })
  .describe('An audit event of Latchkey, as sent to webhooks and log streams.');

/** JSON Schema (2020-12) of the body. */
export function webhookSchema(): object {
  return z.toJSONSchema(webhookPayload);
}

type WebhookPayload = z.infer<typeof webhookPayload>;

/**
 * The body for an event in its current state: without the values that an erasure has removed from it.
 *
 * @param subjects `subject` of users by id
 */
export function payloadOf(event: AuditEvent, subjects: ReadonlyMap<string, string> = new Map()): string {
  const subOf = (kind: string, id: string | null | undefined) => {
    const sub = kind === 'user' ? subjects.get(id ?? '') : undefined;
    return sub === undefined ? {} : { sub };
  };
  const payload: WebhookPayload = {
    type: event.type as WebhookPayload['type'],
    timestamp: event.at.toISOString(),
    data: {
      id: event.id,
      projectId: event.projectId === instanceId ? null : event.projectId,
      result: event.result,
      actor: {
        kind: event.actorKind,
        id: event.actorId ?? null,
        name: event.actorName ?? null,
        ...subOf(event.actorKind, event.actorId),
      },
      subject:
        event.subjectKind == null
          ? null
          : {
              kind: event.subjectKind,
              id: event.subjectId ?? null,
              name: event.subjectName ?? null,
              ...subOf(event.subjectKind, event.subjectId),
            },
      clientId: event.clientId ?? null,
      detail: event.detail ?? null,
      ip: event.ip ?? null,
      userAgent: event.userAgent ?? null,
      requestId: event.requestId ?? null,
    },
  };
  return JSON.stringify(payload);
}
