import type { EntityManager } from '@mikro-orm/postgresql';
import { Client } from '../../domain/clients/client.entity.ts';
import { system } from '../../domain/kernel/actor.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import { query, sql } from '../../domain/kernel/sql.ts';
import type { Services } from '../../services.ts';
import type { Application } from './person.ts';

/** The outcome for one application. */
interface Taken {
  application: Application;
  client: Client;
  isNew: boolean;
  /** Parts that were not taken, each with its reason. */
  left: string[];
}

/**
 * Adds the applications that the project lacks, by name, with their roles. Secrets are not imported: the project issues
 * new ones.
 */
export async function addApplication(services: Services, projectId: string, application: Application): Promise<Taken> {
  const { clients, db } = services;
  const left: string[] = [];
  const known = await db.reader().findOne(Client, { project: projectId, name: application.name });
  if (known) return { application, client: known, isNew: false, left };
  const kept = (field: 'redirectUris' | 'postLogoutRedirectUris') =>
    application[field].filter((uri) => {
      const reason = reasonAgainst(() => clients.check({ [field]: [uri] }));
      if (reason !== null) left.push(`${uri}: ${reason}`);
      return reason === null;
    });
  const { client } = await clients.create(
    {
      projectId,
      name: application.name,
      redirectUris: kept('redirectUris'),
      postLogoutRedirectUris: kept('postLogoutRedirectUris'),
      tokenEndpointAuthMethod: application.isConfidential ? 'client_secret_basic' : 'none',
      grantTypes: [
        ...(application.hasRefreshTokens ? (['refresh_token'] as const) : []),
        ...(application.isMachine && application.isConfidential ? (['client_credentials'] as const) : []),
      ],
      secretKey: false,
    },
    system,
  );
  return { application, client, isNew: true, left };
}

/** The ids of an application's roles by key; adds those that it lacks. */
export async function rolesOf(services: Services, { application, client, left }: Taken): Promise<Map<string, string>> {
  const ids = await roleIds(services.db.reader(), client);
  for (const key of application.roles) {
    if (ids.has(key)) continue;
    try {
      ids.set(key, (await services.roles.create(client, { key, name: key }, system)).id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      left.push(`role ${key}: ${reasonOf(error)}`);
    }
  }
  return ids;
}

async function roleIds(em: EntityManager, { id, project }: Client): Promise<Map<string, string>> {
  const statement = sql<{ id: string; key: string }>`select id, key from client_roles
    where project_id = ${project.id}::uuid and client_id = ${id}::uuid`;
  return new Map((await query(em, statement)).map((role) => [role.key, role.id]));
}

function reasonAgainst(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return reasonOf(error);
  }
}

/** A refusal in words. */
export function reasonOf({ problem }: Refusal): string {
  if (problem.code === 'invalid') return `${problem.field} ${problem.reason}`;
  return problem.code === 'taken' ? `${problem.field} is taken` : problem.code;
}
