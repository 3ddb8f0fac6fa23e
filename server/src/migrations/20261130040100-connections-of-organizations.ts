import { OnlineMigration } from './online.ts';

/** Connections of organizations (decisions/0397). The previous release creates none, and offers none: it reads those of projects. */
export class Migration20261130040100ConnectionsOfOrganizations extends OnlineMigration {
  override async up(): Promise<void> {
    await this.index('connections', 'connections_project_id_organization_id_index', '"project_id", "organization_id"');
    await this.foreignKey('connections', ['project_id', 'organization_id'], 'organizations', ['project_id', 'id']);
  }
}
