import type { Client } from '../src/domain/clients/client.entity.ts';
import { projectIssuerUrl } from '../src/domain/projects/issuer.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { TestApp } from './build-app.ts';
import { RelyingParty } from './relying-party.ts';

/** A relying party at the issuer of its project. */
export function partyAt(app: TestApp, project: Project, client: Client): RelyingParty {
  return new RelyingParty(app, client, projectIssuerUrl(app.url, project.slug));
}
