import { OnlineMigration } from './online.ts';

/** Finds roles by the keys that directories send. */
export class Migration20261123013000RoleKeys extends OnlineMigration {
  override async up(): Promise<void> {
    await this.index('client_roles', 'client_roles_project_id_key_index', '"project_id", "key"');
  }
}
