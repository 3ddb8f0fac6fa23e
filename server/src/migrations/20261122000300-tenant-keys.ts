import { OnlineMigration } from './online.ts';

/** Parent tables, from which a row gets its project, with the column that refers to them. */
const parents = { users: 'user_id', clients: 'client_id', sessions: 'session_id', groups: 'group_id' } as const;

/** Tables that had no `project_id`, by the parent that has it. */
const withoutProject = {
  users: ['recovery_codes', 'enrolments', 'factor_changes', 'phone_changes', 'known_networks'],
  clients: ['api_keys', 'delegation_keys', 'used_assertions', 'used_delegation_requests', 'authorization_codes'],
  sessions: ['participations'],
  groups: ['group_members'],
} as const;

const keyedById = [
  ...['users', 'clients', 'groups', 'sessions', 'devices', 'authorization_requests', 'ceremonies', 'one_time_codes'],
  ...['authorization_codes', 'enrolments', 'recovery_codes', 'factor_changes', 'phone_changes', 'api_keys'],
  ...['delegation_keys', 'scim_tokens', 'scim_request_records', 'messages', 'logout_deliveries', 'logos'],
  'experience_versions',
];

/** Primary keys without `id`, after the project. */
const otherKeys = {
  used_assertions: ['client_id', 'jti_hash'],
  used_delegation_requests: ['client_id', 'jti_hash'],
  participations: ['session_id', 'client_id'],
  known_networks: ['user_id', 'network'],
  group_members: ['group_id', 'user_id'],
  user_emails: ['user_id', 'value_key'],
};

/** Foreign keys within a project, by table: column and parent. */
const foreignKeys: Record<string, Record<string, string>> = {
  logout_deliveries: { client_id: 'clients' },
  delegation_keys: { client_id: 'clients' },
  authorization_requests: { client_id: 'clients' },
  api_keys: { client_id: 'clients' },
  sessions: { user_id: 'users' },
  participations: { session_id: 'sessions', client_id: 'clients' },
  recovery_codes: { user_id: 'users' },
  phone_changes: { user_id: 'users' },
  known_networks: { user_id: 'users' },
  group_members: { group_id: 'groups', user_id: 'users' },
  factor_changes: { client_id: 'clients', user_id: 'users' },
  enrolments: { user_id: 'users' },
  devices: { client_id: 'clients', user_id: 'users' },
  ceremonies: {
    client_id: 'clients',
    request_id: 'authorization_requests',
    user_id: 'users',
    device_id: 'devices',
    account_id: 'users',
  },
  authorization_codes: { client_id: 'clients', user_id: 'users' },
  user_emails: { user_id: 'users' },
};

/** Hashes of 256 random bits, unique by themselves. */
const hashes = {
  authorization_codes: 'hash',
  sessions: 'secret_hash',
  ceremonies: 'txn_hash',
  authorization_requests: 'flow_hash',
  api_keys: 'hash',
  scim_tokens: 'hash',
  recovery_codes: 'hash',
  factor_changes: 'session_hash',
};

/**
 * Each row of a tenant names its project, and its keys begin with it.
 *
 * For the previous release, which knows neither: triggers fill `project_id`, and indexes of the earlier primary keys are
 * created again as `…_previous`. The next release drops them. Other indexes need not begin with the project.
 */
export class Migration20261122000300TenantKeys extends OnlineMigration {
  override async up(): Promise<void> {
    await this.nameProjects();
    await this.nameProjectsOfAdmins();
    for (const table of keyedById) await this.index(table, `${table}_id_previous`, 'id', true);
    await this.index('participations', 'participations_previous', 'session_id, client_id', true);
    await this.index('known_networks', 'known_networks_previous', 'user_id, network', true);
    for (const [table, columns] of this.primaryKeys())
      await this.index(table, `${table}_key`, columns.join(', '), true);
    await this.replaceForeignKeys();
    for (const [table] of this.primaryKeys()) {
      await this.useIndex(table, `${table}_pkey`, 'primary key', `${table}_key`);
    }
    await this.replaceUniqueKeys();
    // The primary key replaces them.
    for (const table of ['users', 'clients', 'groups', 'messages', 'logout_deliveries', 'scim_request_records']) {
      await this.alter(`drop index if exists "${table}_project_id_id_index"`);
    }
  }

  private async nameProjects(): Promise<void> {
    for (const [parent, column] of Object.entries(parents)) {
      const fill = `project_from_${parent}`;
      await this.alter(`create or replace function "${fill}"() returns trigger language plpgsql as
        $body$ begin select project_id into new.project_id from ${parent} where id = new.${column}; return new; end $body$`);
      for (const table of withoutProject[parent as keyof typeof parents]) {
        await this.alter(
          `alter table "${table}" add column if not exists "project_id" uuid`,
          `create or replace trigger "${table}_project" before insert or update on "${table}" for each row
            when (new.project_id is null) execute function "${fill}"()`,
        );
        await this.backfill(table, {
          set: 'project_id = p.project_id',
          from: `"${parent}" p`,
          where: `t.project_id is null and p.id = t.${column}`,
        });
        // Uses of deleted clients: no foreign key deleted them.
        if (table.startsWith('used_')) await this.execute(`delete from "${table}" where project_id is null`);
        await this.notNull(table, 'project_id');
      }
    }
  }

  /** The user of a membership belongs to the console's project; `project_id` is that of the role. */
  private async nameProjectsOfAdmins(): Promise<void> {
    await this.alter(
      `create or replace function "user_project_from_users"() returns trigger language plpgsql as
        $body$ begin select project_id into new.user_project_id from users where id = new.user_id; return new; end $body$`,
      `alter table "memberships" add column if not exists "user_project_id" uuid`,
      `create or replace trigger "memberships_user_project" before insert or update on "memberships" for each row
        when (new.user_project_id is null) execute function "user_project_from_users"()`,
    );
    await this.backfill('memberships', {
      set: 'user_project_id = p.project_id',
      from: '"users" p',
      where: 't.user_project_id is null and p.id = t.user_id',
    });
    await this.notNull('memberships', 'user_project_id');
  }

  private primaryKeys(): [string, string[]][] {
    const byId = keyedById.map((table): [string, string[]] => [table, ['project_id', 'id']]);
    const others = Object.entries(otherKeys).map(([table, rest]): [string, string[]] => [
      table,
      ['project_id', ...rest],
    ]);
    return [...byId, ...others];
  }

  /** Adds each new key before it drops the earlier one. */
  private async replaceForeignKeys(): Promise<void> {
    for (const [table, keys] of Object.entries(foreignKeys)) {
      for (const [column, parent] of Object.entries(keys)) {
        await this.foreignKey(table, ['project_id', column], parent, ['project_id', 'id']);
        await this.alter(`alter table "${table}" drop constraint if exists "${table}_${column}_foreign"`);
      }
      // The foreign keys above imply it.
      await this.alter(`alter table "${table}" drop constraint if exists "${table}_project_id_foreign"`);
    }
    await this.foreignKey('memberships', ['user_project_id', 'user_id'], 'users', ['project_id', 'id']);
    await this.alter(
      'alter table "memberships" drop constraint if exists "memberships_user_id_foreign"',
      // Without `on update cascade`.
      'alter table "experience_drafts" drop constraint "experience_drafts_project_id_foreign"',
      `alter table "experience_drafts" add constraint "experience_drafts_project_id_foreign"
        foreign key ("project_id") references "projects" ("id") on delete cascade`,
    );
  }

  private async replaceUniqueKeys(): Promise<void> {
    for (const [table, column] of Object.entries(hashes)) {
      await this.index(table, `${table}_${column}_index`, column);
      await this.alter(`alter table "${table}" drop constraint if exists "${table}_${column}_unique"`);
    }
    const replaced = [
      ['clients', 'built_in', 'project_id_built_in', 'built_in'],
      ['phone_changes', 'bound_to', 'project_id_bound_to', 'bound_to'],
      ['devices', 'client_id_user_id_jkt', 'project_id_client_id_user_id_jkt', 'client_id, user_id, jkt'],
      [
        'delegation_keys',
        'client_id_party_encryption_kid',
        'project_id_client_id_pair',
        'client_id, party, encryption_kid',
      ],
    ] as const;
    for (const [table, before, after, columns] of replaced) {
      await this.index(table, `${table}_${after}_new`, `project_id, ${columns}`, true);
      await this.useIndex(table, `${table}_${after}_unique`, 'unique', `${table}_${after}_new`);
      await this.alter(`alter table "${table}" drop constraint if exists "${table}_${before}_unique"`);
    }
    const name = 'memberships_user_project_id_user_id_project_id_unique';
    await this.index('memberships', 'memberships_new', 'user_project_id, user_id, project_id', true);
    await this.useIndex('memberships', name, 'unique', 'memberships_new');
    await this.alter('alter table "memberships" drop constraint if exists "memberships_user_id_project_id_unique"');
  }
}
