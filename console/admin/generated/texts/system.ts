// Written by npm run gen from the .graphql files beside the pages. Do not edit.
import type * as of from '../types.ts';

export const System = "query System{system{level checks{name level summary advice}processes{id host pid version nodeVersion startedAt seenAt signMicroseconds clockSkewMs}database{version sizeBytes connections maxConnections migrationsApplied}mail{kind lastSentAt}sms{kind lastSentAt}jobs{name waiting deferred active failed}backup{takenAt bytes}}}" as of.Operation<of.SystemQuery, of.SystemQueryVariables>;
export const SystemLevel = "query SystemLevel{system{...Health}}fragment Health on SystemStatus{level checks{name level summary}}" as of.Operation<of.SystemLevelQuery, of.SystemLevelQueryVariables>;
