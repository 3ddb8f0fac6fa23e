/**
 * oidc-provider on PostgreSQL, with the table and the operations of the Knex adapter among its examples
 * (`example/adapters/contributed`): one row per session, grant, code and token. The statements are prepared, as ours are.
 */
import pg from 'pg';
import { serve } from './oidc-provider-served.mjs';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

await pool.query(`
  create table if not exists oidc_payloads (
    id text not null,
    type text not null,
    payload jsonb not null,
    grant_id text,
    user_code text,
    uid text,
    expires_at timestamptz,
    consumed_at timestamptz,
    primary key (id, type)
  );
  create index if not exists oidc_payloads_grant_id on oidc_payloads (grant_id);
  create unique index if not exists oidc_payloads_user_code on oidc_payloads (user_code);
  create unique index if not exists oidc_payloads_uid on oidc_payloads (uid)`);

class Postgres {
  constructor(type) {
    this.type = type;
  }

  async upsert(id, payload, expiresIn) {
    const { grantId, userCode, uid } = payload;
    const expiresAt = expiresIn ? new Date(Date.now() + expiresIn * 1000) : null;
    await pool.query({
      name: 'upsert',
      text: `insert into oidc_payloads (id, type, payload, grant_id, user_code, uid, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (id, type) do update set payload = excluded.payload, grant_id = excluded.grant_id,
          user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`,
      values: [id, this.type, JSON.stringify(payload), grantId, userCode, uid, expiresAt],
    });
  }

  find(id) {
    return this.findBy('id', id);
  }

  findByUserCode(userCode) {
    return this.findBy('user_code', userCode);
  }

  findByUid(uid) {
    return this.findBy('uid', uid);
  }

  async findBy(column, value) {
    const { rows } = await pool.query({
      name: `find-by-${column}`,
      text: `select payload, consumed_at from oidc_payloads where type = $1 and ${column} = $2`,
      values: [this.type, value],
    });
    return rows[0] && { ...rows[0].payload, ...(rows[0].consumed_at && { consumed: true }) };
  }

  async consume(id) {
    await pool.query({
      name: 'consume',
      text: 'update oidc_payloads set consumed_at = now() where type = $1 and id = $2',
      values: [this.type, id],
    });
  }

  async destroy(id) {
    await pool.query({
      name: 'destroy',
      text: 'delete from oidc_payloads where type = $1 and id = $2',
      values: [this.type, id],
    });
  }

  async revokeByGrantId(grantId) {
    await pool.query({
      name: 'revoke-by-grant-id',
      text: 'delete from oidc_payloads where type = $1 and grant_id = $2',
      values: [this.type, grantId],
    });
  }
}

await serve(Postgres);
