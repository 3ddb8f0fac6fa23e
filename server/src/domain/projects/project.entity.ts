import { defineEntity, p } from '@mikro-orm/core';
import { instant, key } from '../kernel/columns.ts';

export const signUpModes = ['open', 'provisioned_only'] as const;
export const mfaPolicies = ['off', 'optional', 'required'] as const;
/** Use of passkeys at sign-in; in a project of the previous release see {@link passkeyPolicyOf}. */
export const passkeyPolicies = ['off', 'allowed', 'preferred', 'required'] as const;
export type PasskeyPolicy = (typeof passkeyPolicies)[number];
/** Kinds of second factors. */
export const mfaMethods = ['email', 'sms', 'totp'] as const;
export type MfaMethod = (typeof mfaMethods)[number];

const schema = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    id: key(),
    name: p.text(),
    /** Path of its issuer, `/p/{slug}`; never changes, since applications and their users' accounts depend on `iss`. */
    slug: p
      .text()
      .unique()
      .defaultRaw(`'p-' || replace(gen_random_uuid()::text, '-', '')`)
      .ignoreSchemaChanges('default'),
    /** `console` is the project of the admins, `demo` the sample; both are created at the first start. */
    builtIn: p.text().$type<'console' | 'demo'>().nullable().unique(),
    scimEnabled: p.boolean().default(true),
    /** The directory's values take precedence, and the phone of a provisioned user is locked (service.md 3.1). */
    scimAuthoritative: p.boolean().default(true),
    /** One-time codes are also in the responses. */
    testMode: p.boolean().default(false),
    signUp: p.enum(signUpModes).default('open'),
    mfaPolicy: p.enum(mfaPolicies).default('off'),
    /** Second factors that users can set up; existing enrolments of others stay valid. */
    offeredFactors: p
      .array<MfaMethod>((text) => text as MfaMethod)
      .columnType('text[]')
      .default(['totp', 'sms', 'email']),
    /** Whether users can create passkeys and sign in with them. The previous release reads and writes only this. */
    passkeys: p.boolean().default(true),
    passkeyPolicy: p.enum(passkeyPolicies).default('allowed'),
    /** Models of passkeys that users may create; empty: all, or all of the roots. */
    passkeyAaguids: p.array().columnType('text[]').default([]),
    /** CA certificates in PEM that prove a model; empty: none is proved. */
    passkeyRoots: p.array().columnType('text[]').default([]),
    /** Time for which a device may skip the second factor after `remember_me`; 0: never. */
    rememberMfaSeconds: p.integer().default(0),
    /** Time for which a remembered device is trusted after its last use. */
    deviceTrustSeconds: p.integer().default(30 * 24 * 3600),
    /** Whether email as a second factor meets `required`. */
    emailFactor: p.boolean().default(true),
    /** Absolute lifetime of a device's trust, in days since its registration. */
    deviceTrustDays: p.integer().default(180),
    /**
     * Whether applications get a logout token when the directory deactivates or deletes a user: true, at every issuer;
     * null, except at the base issuer, as in new projects; false, as in projects from before this setting.
     */
    notifyOnDeactivation: p.boolean().nullable().default(false),
    /** ISO 3166-1 alpha-2 codes of the countries that SMS may be sent to; empty: every country. */
    smsCountries: p.array().columnType('text[]').default([]),
    /** SMS that the project may send in a day. */
    smsPerDay: p.integer().default(1000),
    /** Addresses and ranges (CIDR) that many users share: more codes may be requested from them (decisions/0345). */
    sharedNetworks: p.array().columnType('text[]').default([]),
    idleTimeoutSeconds: p.integer().default(30 * 60),
    maxSessionSeconds: p.integer().default(8 * 3600),
    idTokenTtlSeconds: p.integer().default(60),
    accessTokenTtlSeconds: p.integer().default(300),
    refreshTokenTtlSeconds: p.integer().default(30 * 24 * 3600),
    refreshTokenIdleSeconds: p.integer().default(7 * 24 * 3600),
    /** Counted by the previous release; the next one drops it. */
    erasures: p.integer().default(0),
    version: p.integer().default(1),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** A tenant with its users, clients, directory and policies. Every lookup is scoped to one. */
export class Project extends schema.class {}
schema.setClass(Project);

/** The current policy: the previous release changes only `passkeys`. */
export function passkeyPolicyOf({
  passkeys,
  passkeyPolicy,
}: Pick<Project, 'passkeys' | 'passkeyPolicy'>): PasskeyPolicy {
  if (!passkeys) return 'off';
  return passkeyPolicy === 'off' ? 'allowed' : passkeyPolicy;
}
