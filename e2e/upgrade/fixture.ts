import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { App, SavedPerson } from '../chaos/support/person.ts';

/** Credentials of a filled database. Used nowhere else. */
export interface Fixture {
  baseUrl: string;
  /** Base64. */
  masterKey: string;
  /** The token of an owner. */
  adminToken: string;
  /** Users who sign in on the application's page. */
  sdk: { app: App; people: SavedPerson[] };
  /** Like `sdk`, with an authenticator app. */
  factors: { app: App; people: SavedPerson[] };
  /** Users with a session of the hosted page. */
  hosted: { app: App; people: SavedPerson[] };
  /** A project whose users come from SCIM. */
  directory: { projectId: string; scimToken: string; userIds: string[] };
}

const pathOf = (release: string, file: string): string => fileURLToPath(new URL(`${release}/${file}`, import.meta.url));

export const backupOf = (release: string): string => pathOf(release, 'backup.jsonl.gz');
export const credentialsOf = (release: string): string => pathOf(release, 'credentials.json');

export function readFixture(release: string): Fixture {
  return JSON.parse(readFileSync(credentialsOf(release), 'utf8')) as Fixture;
}
