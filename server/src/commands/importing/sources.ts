import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../domain/kernel/problem.ts';
import { auth0Application, auth0Person } from './auth0.ts';
import { csvRows } from './csv-rows.ts';
import { type JsonValue, jsonValues } from './json-values.ts';
import { keycloakApplication, keycloakPerson } from './keycloak.ts';
import { clerkPerson, cognitoPerson, csvPerson, logtoPerson, oktaPerson } from './other-systems.ts';
import { type Application, type Data, dataOf, type FormerRecord, type Person, textOf } from './person.ts';

/** A former system: how its records are read. */
interface Source {
  person(data: Data): Person;
  application?(data: Data): Application | null;
  /** Members of a root object whose objects are people; absent: objects in root arrays and JSON lines are. */
  people?: readonly string[];
}

export const sources: Readonly<Record<string, Source>> = {
  keycloak: { person: keycloakPerson, application: keycloakApplication, people: ['users'] },
  auth0: { person: auth0Person, application: auth0Application },
  clerk: { person: clerkPerson },
  logto: { person: logtoPerson },
  cognito: { person: cognitoPerson, people: ['Users'] },
  okta: { person: oktaPerson },
  csv: { person: csvPerson },
};

/** The files at a path: itself, or the JSON and CSV files of a folder, by name. */
async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new OperatorError(`${path} does not exist.`);
  if (!found.isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => /\.(json|jsonl|ndjson|csv)$/.test(name)).sort();
  if (names.length === 0) throw new OperatorError(`${path} has no JSON and no CSV files.`);
  return names.map((name) => join(path, name));
}

/** The people of the files. @param columns names of {@link Source} columns by those of a CSV file */
export async function* peopleOf(
  system: string,
  path: string,
  columns: ReadonlyMap<string, string>,
): AsyncGenerator<FormerRecord> {
  const { person, people } = sources[system] as Source;
  for (const file of await filesAt(path)) {
    if (file.endsWith('.csv')) {
      for await (const { cells, line } of csvRows(file)) {
        const named = Object.entries(cells).map(([name, value]) => [columns.get(name) ?? name, value]);
        yield { file, line, person: person(Object.fromEntries(named)) };
      }
      continue;
    }
    for await (const value of valuesOf(file, people !== undefined)) {
      if (people && value.member !== null && !people.includes(value.member)) continue;
      const data = parsed(value);
      yield data
        ? { file, line: value.line, person: person(data) }
        : { file, line: value.line, id: '', skipped: 'not JSON' };
    }
  }
}

/** The applications of a Keycloak realm, or of a file with clients of the Management API of Auth0. */
export async function applicationsOf(system: string, path: string): Promise<Application[]> {
  const { application } = sources[system] as Source;
  if (!application) return [];
  const found: Application[] = [];
  const roles = new Map<string, string[]>();
  for (const file of await filesAt(path)) {
    for await (const value of jsonValues(file)) {
      const { member } = value;
      if (system === 'keycloak' && member === 'roles') {
        const ofClients = Object.entries(dataOf(parsed(value)?.['client']));
        for (const [client, list] of ofClients) {
          roles.set(
            client,
            (list as Data[]).flatMap(({ name }) => textOf(name) ?? []),
          );
        }
      }
      if (system === 'keycloak' ? member !== 'clients' : member !== null && member !== 'clients') continue;
      const read = parsed(value);
      const one = read && application(read);
      if (one) found.push(one);
    }
  }
  return found.map((one) => ({ ...one, roles: roles.get(one.id) ?? [] }));
}

/** Root objects in lines are people unless the system has them in a member: then so are the objects of root arrays. */
async function* valuesOf(file: string, hasMembers: boolean): AsyncGenerator<JsonValue> {
  if (hasMembers || (await beginsWithArray(file))) yield* jsonValues(file);
  else yield* jsonValues(file, true);
}

async function beginsWithArray(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(1024) });
    return buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .startsWith('[');
  } finally {
    await handle.close();
  }
}

function parsed({ text }: JsonValue): Data | null {
  try {
    return dataOf(JSON.parse(text));
  } catch {
    return null;
  }
}
