import type { Client } from '../clients/client.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import type { MfaMethod } from '../mfa/enrolment.entity.ts';
import type { CodePurpose } from '../otp/otp.ts';
import type { User } from '../users/user.entity.ts';

/** The requesting back end; the client's project is loaded. */
export interface BackEnd {
  client: Client;
  actor: Actor;
}

/** Common fields of its audit events. */
export function about({ actor, client }: BackEnd, user: User) {
  return {
    actor,
    projectId: user.project.id,
    clientId: client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
  };
}

export function purposeOf(method: MfaMethod): CodePurpose {
  return method === 'sms' ? 'mfa-sms' : 'mfa-email';
}
