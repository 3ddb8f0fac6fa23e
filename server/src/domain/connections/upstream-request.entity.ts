import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';
import { impliedTenant, sameProject } from '../projects/tenant.ts';
import { Connection, type MappedAttribute } from './connection.entity.ts';

/** Lifetime of a request to a provider, and of its answer while it waits for the proof of an account. */
export const upstreamRequestTtlSeconds = 30 * 60;

/** The verified answer of a provider about one person. */
export interface UpstreamPerson {
  issuer: string;
  subject: string;
  /** In the spelling of the provider; null: absent, or not a valid address. */
  email: string | null;
  /** Whether `email_verified` is the boolean `true`, from a provider whose value is trusted. */
  emailVerified: boolean;
  /** Whether the provider says that it has not verified the address. */
  emailDenied?: true;
  profile: Partial<Record<MappedAttribute, string>>;
  /** Values of the claim of the connection's role mappings; absent: not sent, or no mappings. */
  groups?: string[];
  /** `amr` without values that are not of RFC 8176. */
  amr: string[];
  acr: string | null;
  /** `auth_time`, Unix seconds; null: not sent. */
  authTime: number | null;
  /** When the session there ends, Unix seconds; absent: not said. */
  sessionUntil?: number;
}

/** An answer that waits for the proof of an account. */
export interface WaitingPerson extends UpstreamPerson {
  /** Of the connection's settings that verified it. */
  version: number;
}

const schema = defineEntity({
  name: 'UpstreamRequest',
  tableName: 'upstream_requests',
  properties: {
    project: impliedTenant,
    id: key(),
    connection: () => sameProject(Connection, 'connection_id'),
    /** The authorization request of the hosted page; null: a test by an admin. */
    requestId: p.uuid().nullable(),
    /** SHA-256 of `state`. */
    stateHash: p.text().index(),
    /** Nonce, PKCE verifier and the flow's handle as JSON, sealed for this row. */
    sealedSecrets: p.blob(),
    /** SHA-256 of the handle for the browser that delivered an answer without cookies (SAML). */
    answerHash: p.text().nullable(),
    /** What the answer is worth, as JSON, sealed for this row, until the browser continues. */
    sealedAnswer: p.blob().nullable(),
    /** The verified answer of a person who must prove an account before the identity is stored. */
    result: p.json<WaitingPerson>().nullable(),
    /** When the identity of `result` was stored. */
    linkedAt: instant().nullable(),
    createdAt: instant(),
    expiresAt: instant().index(),
    /** When the callback consumed it. Single use. */
    usedAt: instant().nullable(),
  },
  indexes: [{ name: 'upstream_requests_project_id_connection_id_index', properties: ['connection'] }],
});

/** A request to an upstream provider. */
export class UpstreamRequest extends schema.class {}
schema.setClass(UpstreamRequest);
