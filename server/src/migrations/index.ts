import { Migration20261121000000Initial } from './20261121000000-initial.ts';
import { Migration20261121000100Scim } from './20261121000100-scim.ts';
import { Migration20261121000101Erasure } from './20261121000101-erasure.ts';
import { Migration20261121000102UserCounts } from './20261121000102-user-counts.ts';
import { Migration20261121000200Signin } from './20261121000200-signin.ts';
import { Migration20261121000300Admin } from './20261121000300-admin.ts';
import { Migration20261121000400Delegation } from './20261121000400-delegation.ts';
import { Migration20261121001000People } from './20261121001000-people.ts';
import { Migration20261121001100Experience } from './20261121001100-experience.ts';
import { Migration20261121001101Factors } from './20261121001101-factors.ts';
import { Migration20261121001102Messages } from './20261121001102-messages.ts';
import { Migration20261121001200Events } from './20261121001200-events.ts';
import { Migration20261121001201LogoutDeliveries } from './20261121001201-logout-deliveries.ts';
import { Migration20261121001202Processes } from './20261121001202-processes.ts';
import { Migration20261121001203Activity } from './20261121001203-activity.ts';
import { Migration20261121001300Phone } from './20261121001300-phone.ts';
import { Migration20261121001500Operations } from './20261121001500-operations.ts';
import { Migration20261121001600Erasures } from './20261121001600-erasures.ts';
import { Migration20261121001700DeviceKeys } from './20261121001700-device-keys.ts';
import { Migration20261122000100Evidence } from './20261122000100-evidence.ts';
import { Migration20261122000200Moments } from './20261122000200-moments.ts';
import { Migration20261122000300TenantKeys } from './20261122000300-tenant-keys.ts';

/** In the order in which they run. A migration that has been released is never edited. */
export const migrations = [
  { name: '20261121000000-initial', class: Migration20261121000000Initial },
  { name: '20261121000100-scim', class: Migration20261121000100Scim },
  { name: '20261121000101-erasure', class: Migration20261121000101Erasure },
  { name: '20261121000102-user-counts', class: Migration20261121000102UserCounts },
  { name: '20261121000200-signin', class: Migration20261121000200Signin },
  { name: '20261121000300-admin', class: Migration20261121000300Admin },
  { name: '20261121000400-delegation', class: Migration20261121000400Delegation },
  { name: '20261121001000-people', class: Migration20261121001000People },
  { name: '20261121001100-experience', class: Migration20261121001100Experience },
  { name: '20261121001101-factors', class: Migration20261121001101Factors },
  { name: '20261121001102-messages', class: Migration20261121001102Messages },
  { name: '20261121001200-events', class: Migration20261121001200Events },
  { name: '20261121001201-logout-deliveries', class: Migration20261121001201LogoutDeliveries },
  { name: '20261121001202-processes', class: Migration20261121001202Processes },
  { name: '20261121001203-activity', class: Migration20261121001203Activity },
  { name: '20261121001300-phone', class: Migration20261121001300Phone },
  { name: '20261121001500-operations', class: Migration20261121001500Operations },
  { name: '20261121001600-erasures', class: Migration20261121001600Erasures },
  { name: '20261121001700-device-keys', class: Migration20261121001700DeviceKeys },
  { name: '20261122000100-evidence', class: Migration20261122000100Evidence },
  { name: '20261122000200-moments', class: Migration20261122000200Moments },
  { name: '20261122000300-tenant-keys', class: Migration20261122000300TenantKeys },
];
