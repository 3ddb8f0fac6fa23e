import type { EntityManager } from '@mikro-orm/postgresql';
import { Client } from '../../domain/clients/client.entity.ts';
import { Project } from '../../domain/projects/project.entity.ts';

/** The application that sample messages name: the project's first, else the project. */
export async function sampleAppOf(em: EntityManager, projectId: string): Promise<string> {
  const client = await em.findOne(Client, { project: projectId }, { orderBy: { id: 'asc' } });
  return client?.name ?? (await em.findOneOrFail(Project, projectId)).name;
}
