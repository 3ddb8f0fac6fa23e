import { OnlineMigration } from './online.ts';

/** Columns that every device key has. */
const deviceKey = ['client_id', 'jkt', 'public_jwk', 'alg', 'remembered'];
const passkey = [
  ...['credential_id', 'public_key', 'cose_alg', 'aaguid', 'transports', 'sign_count'],
  ...['backup_eligible', 'backed_up', 'user_verified'],
];
const all = (columns: readonly string[]) => columns.map((column) => `"${column}" is not null`).join(' and ');

/** Device keys and passkeys in one table. The previous release sees the device keys in the view `devices`. */
export class Migration20261122000700Credentials extends OnlineMigration {
  override async up(): Promise<void> {
    const [table] = await this.execute(`select relkind from pg_class where oid = to_regclass('"devices"')`);
    if (table?.['relkind'] === 'r') await this.alter(...(await this.renamings()));
    await this.check('credentials_device_key', `kind <> 'device-key' or ${all(deviceKey)}`);
    await this.check('credentials_passkey', `kind <> 'passkey' or ${all(passkey)}`);
    await this.check('ceremonies_step_up_check', `step_up in ('change_phone_number', 'create_passkey')`);
    await this.index('credentials', 'credentials_project_id_credential_id_unique', 'project_id, credential_id', true);
    await this.index('credentials', 'credentials_credential_id_index', 'credential_id');
    await this.alter(
      `alter table "ceremonies" add column if not exists "passkey_challenge_hash" text null,
        add column if not exists "passkey_purpose" text null`,
      `alter table "authorization_requests" add column if not exists "adds_passkey" boolean not null default false`,
      `alter table "projects" add column if not exists "passkeys" boolean not null default true`,
    );
  }

  private async renamings(): Promise<string[]> {
    const named = await this.execute(
      `select conname as name, true as "isConstraint" from pg_constraint
         where conrelid = '"devices"'::regclass and conname like 'devices\\_%' and contype in ('p', 'u', 'f')
       union all select c.relname, false from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indrelid = '"devices"'::regclass and c.relname like 'devices\\_%'
           and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))`,
    );
    const [server] = await this.execute(`select current_setting('server_version_num')::int >= 150000 as "hasInvoker"`);
    return [
      `alter table "devices" rename to "credentials"`,
      ...named.map(({ name, isConstraint }) => {
        const to = String(name).replace(/^devices_/, 'credentials_');
        return isConstraint
          ? `alter table "credentials" rename constraint "${name}" to "${to}"`
          : `alter index "${name}" rename to "${to}"`;
      }),
      `alter table "credentials" add column "kind" text not null default 'device-key',
        add column "created_by" text null, add column "credential_id" text null, add column "public_key" text null,
        add column "cose_alg" int null, add column "aaguid" text null, add column "transports" text[] null,
        add column "sign_count" bigint null, add column "backup_eligible" boolean null,
        add column "backed_up" boolean null, add column "user_verified" boolean null`,
      ...deviceKey.map((column) => `alter table "credentials" alter column "${column}" drop not null`),
      `create view "devices" ${server?.['hasInvoker'] === true ? 'with (security_invoker = true)' : ''}
        as select * from "credentials" where kind = 'device-key'`,
    ];
  }

  private async check(name: string, condition: string): Promise<void> {
    const table = name.replace(/_.*/, '');
    await this.alter(
      `alter table "${table}" drop constraint if exists "${name}"`,
      `alter table "${table}" add constraint "${name}" check (${condition}) not valid`,
    );
    await this.execute(`alter table "${table}" validate constraint "${name}"`);
  }
}
